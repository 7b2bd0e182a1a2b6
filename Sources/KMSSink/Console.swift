internal import CLinux
internal import DisplaySink
internal import Glibc
internal import KeyboardInput
internal import Media

/// The virtual console that the player was started on: its keyboard, and its place among the others.
///
/// - Keys come from the terminal on standard input, where there is one, without echo and at once.
/// - A switch to another console (Ctrl-Alt-F2) is announced by the kernel, which waits until the monitor is given up; whoever dies meanwhile
///   is not waited for, so a killed player leaves a console that works.
/// - Text mode is left on: the kernel does not draw its console over another program's pictures, and needs no one to put it back.
///
/// Thread-safety: belongs to one thread, and there is one in a process at a time. The corresponding ioctls are those of `console_ioctl(4)`.
@safe
final class Console {
    private var before = termios()
    private let hasKeys: Bool
    private let hasConsole: Bool
    private let news: OwnedFD?
    private let teller: OwnedFD?

    /// - Parameter isSwitched: The player answers for switches between consoles; else a seat's manager does.
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
            news = OwnedFD(adopting: ends[0])
            teller = OwnedFD(adopting: ends[1])
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
            clinux_signals_to_pipe(SIGUSR1, SIGUSR2, ends[1])
            hasConsole = clinux_vt_take(STDIN_FILENO, SIGUSR1, SIGUSR2) == 0
        } else {
            news = nil
            teller = nil
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
        switch news {
        case .some(let fd): fd.rawValue
        case .none: -1
        }
    }

    /// The last of the announcements that have come: another console wants the monitor (to be answered by `yield`), or it is ours again
    /// (`accept`).
    func switched() -> SeatState.News? {
        guard hasConsole else { return nil }
        var last: SeatState.News?, byte: UInt8 = 0
        while unsafe read(switchFD, &byte, 1) == 1 { last = Int32(byte) == SIGUSR1 ? .away : .back }
        return last
    }

    /// Lets the other console have the monitor.
    func yield() { clinux_vt_answer(STDIN_FILENO, 1) }

    /// Takes the monitor back.
    func accept() { clinux_vt_answer(STDIN_FILENO, 0) }

    // MARK: Keys

    /// Readable when keys were pressed; -1 without a terminal.
    var keyFD: Int32 { hasKeys ? STDIN_FILENO : -1 }

    /// What was pressed.
    func keys() -> [PlayerKey] {
        guard hasKeys else { return [] }
        var ready = [PollDescriptor(fd: STDIN_FILENO, interest: .readable)]
        guard (try? pollDescriptors(&ready, until: .distantPast)) == 1 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 ? TerminalKeys.keys(bytes.prefix(count)) : []
    }
}
