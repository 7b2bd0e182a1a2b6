internal import Dispatch
internal import DisplaySink
internal import Glibc
internal import KeyboardInput
internal import Media

/// Keys pressed in the terminal that the program was started in: they mean what they mean in its window.
///
/// The terminal gives each key at once and does not show it, until `stop`. While the program is in the background the terminal belongs to
/// somebody else and is left alone; brought back, it takes it again.
///
/// Thread-safety: all of it. A thread of its own sleeps in `poll`.
final class TerminalKeyboard: @unchecked Sendable {
    private let found: termios
    private let bell: EventFD
    private let state = Monitor((isStopping: false, hasTaken: false))
    private let continued: any DispatchSourceSignal
    private let thread = Monitor<LoopThread?>(nil)

    /// How often a program in the background looks whether it still is.
    private static let glance = HostSpan.milliseconds(500)

    /// Nil where standard input is no terminal.
    init?(onKey: @escaping @Sendable (PlayerKey) -> Void) {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &settings) == 0, let bell = try? EventFD() else { return nil }
        found = settings
        self.bell = bell
        // A stopped program gets it when it may go on.
        continued = DispatchSource.makeSignalSource(signal: SIGCONT, queue: .global())
        continued.setEventHandler { bell.signal() }
        continued.resume()
        let thread = LoopThread(name: "keyboard") { [self] in run(onKey) }
        self.thread.withLock { $0 = thread }
    }

    /// Gives the terminal back as it was found. Idempotent.
    func stop() {
        state.withLock { $0.isStopping = true }
        bell.signal()
        continued.cancel()
        thread.withLock { $0.take() }?.join()
        restore()
    }

    /// The terminal as it was found, now; for who cannot wait.
    func restore() {
        let hasTaken = state.withLock { state in
            defer { state.hasTaken = false }
            return state.hasTaken
        }
        var settings = found
        if hasTaken, Self.isOurs { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
    }

    private func run(_ onKey: (PlayerKey) -> Void) {
        while true {
            let isOurs = Self.isOurs
            if isOurs { take() }
            var sources = [
                PollDescriptor(fd: bell.rawValue, interest: .readable), PollDescriptor(fd: isOurs ? STDIN_FILENO : -1, interest: .readable),
            ]
            // Nobody tells a running program that it was brought to the foreground.
            let deadline = isOurs ? nil : MonotonicClock.shared.now() + Self.glance
            guard (try? pollDescriptors(&sources, until: deadline)) != nil else { return }
            bell.drain()
            if state.withLock({ $0.isStopping }) { return }
            if sources[1].ready.isEmpty || !Self.isOurs { continue }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
            // The terminal is gone.
            if count <= 0 { return }
            for key in TerminalKeys.keys(bytes.prefix(count)) { onKey(key) }
        }
    }

    /// Each key at once, and not shown; Ctrl-C and Ctrl-Z keep their meaning.
    private func take() {
        var settings = found
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        state.withLock { state in
            if !state.isStopping { state.hasTaken = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0 }
        }
    }

    /// Whether the terminal listens to this program: it stands in the foreground, or the terminal knows no jobs.
    private static var isOurs: Bool {
        let group = tcgetpgrp(STDIN_FILENO)
        return group < 0 || group == getpgrp()
    }
}
