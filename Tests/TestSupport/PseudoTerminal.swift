internal import Glibc
internal import Testing

/// A terminal whose other end is a test's.
public final class PseudoTerminal {
    /// The device that a program gets as its terminal.
    public let path: String
    private let master: Int32

    public init() throws {
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // TIOCSPTLCK and TIOCGPTN, as ioctl_tty(2) has them.
        var isLocked: Int32 = 0, number: Int32 = 0
        let isUnlocked = unsafe ioctl(master, 0x4004_5431, &isLocked) == 0, isNumbered = unsafe ioctl(master, 0x8004_5430, &number) == 0
        path = "/dev/pts/\(number)"
        try #require(isUnlocked && isNumbered)
    }

    deinit { close(master) }

    public func type(_ keys: String) { _ = unsafe write(master, keys, keys.utf8.count) }

    /// Whether typed characters are shown, and given only line by line.
    public var isAsFound: Bool {
        var settings = termios()
        guard unsafe tcgetattr(master, &settings) == 0 else { return false }
        return settings.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON)
    }
}
