internal import CLinux
internal import DisplaySink
internal import Glibc
internal import KeyboardInput
internal import Media

/// The virtual console that the player was started on: its keyboard, and switches to and from it.
///
/// - If standard input is a terminal, its keys are read at once and without echo.
/// - The kernel announces a switch to another console (Ctrl-Alt-F2) and waits until the player releases the monitor. It does not wait for a process
///   that has died, so the console works after the player is killed.
/// - The console stays in text mode: the kernel does not draw over a framebuffer of another program, and nothing has to be restored.
///
/// Thread-safety: belongs to one thread; one per process at a time. The corresponding ioctls are those of `ioctl_vt(2)`.
@safe
final class Console {
    private var before = termios()
    private let hasKeys: Bool
    private let hasConsole: Bool
    private let events: OwnedFD?
    private let sender: OwnedFD?

    /// - Parameter isSwitched: The player itself answers the kernel about console switches. False under a seat manager, which does that.
    init(isSwitched: Bool) {
        var settings = termios()
        if isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &settings) == 0 {
            before = settings
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
            hasKeys = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0
        } else {
            hasKeys = false
        }
        var ends: [Int32] = [-1, -1]
        if isSwitched, clinux_vt_is_console(STDIN_FILENO) != 0, unsafe pipe(&ends) == 0 {
            events = OwnedFD(adopting: ends[0])
            sender = OwnedFD(adopting: ends[1])
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
            clinux_signals_to_pipe(SIGUSR1, SIGUSR2, ends[1])
            hasConsole = clinux_vt_take(STDIN_FILENO, SIGUSR1, SIGUSR2) == 0
        } else {
            events = nil
            sender = nil
            hasConsole = false
        }
    }

    deinit {
        if hasConsole {
            clinux_vt_give_back(STDIN_FILENO)
            clinux_signals_to_pipe(SIGUSR1, SIGUSR2, -1)
        }
        if hasKeys { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &before) }
    }

    // MARK: Switching

    /// Readable when the kernel has announced a switch; -1 without a console.
    var switchFD: Int32 {
        switch events {
        case .some(let fd): fd.rawValue
        case .none: -1
        }
    }

    /// The last announcement that has come: the console is switched away from (answer with `yield`) or back to (answer with `accept`).
    func switched() -> SeatState.Event? {
        guard hasConsole else { return nil }
        var last: SeatState.Event?, byte: UInt8 = 0
        while unsafe read(switchFD, &byte, 1) == 1 { last = Int32(byte) == SIGUSR1 ? .disabled : .enabled }
        return last
    }

    /// Allows the switch to the other console.
    func yield() { clinux_vt_answer(STDIN_FILENO, 1) }

    /// Acknowledges the switch back to this console.
    func accept() { clinux_vt_answer(STDIN_FILENO, 0) }

    // MARK: Keys

    /// Readable when keys were pressed; -1 without a terminal.
    var keyFD: Int32 { hasKeys ? STDIN_FILENO : -1 }

    /// The keys that were pressed.
    func keys() -> [PlayerKey] {
        guard hasKeys else { return [] }
        var ready = [PollDescriptor(fd: STDIN_FILENO, interest: .readable)]
        guard (try? pollDescriptors(&ready, until: .distantPast)) == 1 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 ? TerminalKeys.keys(bytes.prefix(count)) : []
    }
}
