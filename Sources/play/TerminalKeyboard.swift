internal import Dispatch
internal import DisplaySink
internal import Glibc
internal import KeyboardInput
internal import Media

/// Reads keys from the terminal that the program was started in: standard input, or `/dev/tty` where that is the film. They have the same meaning as
/// in the window.
///
/// Until `stop`, the terminal delivers each key at once and does not echo it. While the program is in the background, another program uses the
/// terminal, whose settings stay unchanged; in the foreground the program sets them again.
///
/// Thread-safety: all of it. A thread of its own sleeps in `poll`.
final class TerminalKeyboard: @unchecked Sendable {
    private let terminal: OwnedFD
    private let found: termios
    private let bell: EventFD
    private let state = Monitor((isStopping: false, hasTaken: false))
    private let continued: any DispatchSourceSignal
    private let thread = Monitor<LoopThread?>(nil)

    /// How often a program in the background checks whether it is in the foreground.
    private static let glance = HostSpan.milliseconds(500)

    /// Nil when standard input is not a terminal; with the film in it, when it is one, or the program was started without any.
    init?(besidesFilm isFilm: Bool, onKey: @escaping @Sendable (PlayerKey) -> Void) {
        guard (isatty(STDIN_FILENO) == 1) != isFilm else { return nil }
        let number = isFilm ? unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
        guard number >= 0 else { return nil }
        terminal = OwnedFD(adopting: number)
        var settings = termios()
        guard unsafe tcgetattr(number, &settings) == 0, let bell = try? EventFD() else { return nil }
        found = settings
        self.bell = bell
        // SIGCONT comes when a stopped program continues.
        continued = DispatchSource.makeSignalSource(signal: SIGCONT, queue: .global())
        continued.setEventHandler { bell.signal() }
        continued.resume()
        let thread = LoopThread(name: "keyboard") { [self] in run(onKey) }
        self.thread.withLock { $0 = thread }
    }

    /// Stops reading and restores the terminal's settings. Idempotent.
    func stop() {
        state.withLock { $0.isStopping = true }
        bell.signal()
        continued.cancel()
        thread.withLock { $0.take() }?.join()
        restore()
    }

    /// Restores the terminal's settings at once, for a caller that cannot wait for the thread.
    func restore() {
        let hasTaken = state.withLock { state in
            defer { state.hasTaken = false }
            return state.hasTaken
        }
        var settings = found
        if hasTaken, isOurs { unsafe tcsetattr(terminal.rawValue, TCSANOW, &settings) }
        Ending.keep(terminal: nil)
    }

    private func run(_ onKey: (PlayerKey) -> Void) {
        while true {
            let isOurs = self.isOurs
            if isOurs { take() }
            var sources = [
                PollDescriptor(fd: bell.rawValue, interest: .readable), PollDescriptor(fd: isOurs ? terminal.rawValue : -1, interest: .readable),
            ]
            // A running program is not notified when it is brought to the foreground.
            let deadline = isOurs ? nil : MonotonicClock.shared.now() + Self.glance
            guard (try? pollDescriptors(&sources, until: deadline)) != nil else { return }
            bell.drain()
            if state.withLock({ $0.isStopping }) { return }
            if sources[1].ready.isEmpty || !self.isOurs { continue }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = unsafe read(terminal.rawValue, &bytes, bytes.count)
            // The terminal is gone.
            if count <= 0 { return }
            for key in TerminalKeys.keys(bytes.prefix(count)) { onKey(key) }
        }
    }

    /// Makes the terminal deliver each key at once and without echo; Ctrl-C and Ctrl-Z keep their meaning.
    private func take() {
        var settings = found
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        state.withLock { state in
            if state.isStopping { return }
            Ending.keep(terminal: found, at: terminal.rawValue)
            state.hasTaken = unsafe tcsetattr(terminal.rawValue, TCSANOW, &settings) == 0
        }
    }

    /// Whether the program may use the terminal: it is in the foreground, or the terminal has no job control.
    private var isOurs: Bool {
        let group = tcgetpgrp(terminal.rawValue)
        return group < 0 || group == getpgrp()
    }
}
