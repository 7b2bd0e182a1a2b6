internal import Glibc
internal import Media

/// Tells systemd that the film is on the screen, and that the player is alive.
///
/// Where `NOTIFY_SOCKET` names a socket, a start counts as done with the first picture (`READY=1`), and, with `WATCHDOG_USEC`, a program
/// whose main loop stands still is started anew. Without them nothing happens. The corresponding C function is `sd_notify(3)`.
///
/// Thread-safety: one thread.
struct ServiceManager {
    private let path: String?
    /// Between signs of life: half of what the manager waits.
    private let interval: HostSpan?
    private var nextSign = HostTime.distantPast
    private var isReady = false

    init() {
        path = Self.variable("NOTIFY_SOCKET")
        let wait = Self.variable("WATCHDOG_USEC").flatMap { Int64($0) }
        let isMeant = Self.variable("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
        interval = isMeant ? wait.flatMap { $0 > 1 ? .microseconds($0 / 2) : nil } : nil
    }

    /// To be called often; says what is due.
    ///
    /// - Parameter isShowing: Whether a picture has been shown; asked until it has.
    mutating func tick(_ now: HostTime, isShowing: @autoclosure () -> Bool) {
        guard path != nil else { return }
        if !isReady, isShowing() {
            isReady = true
            send("READY=1")
        }
        if let interval, now >= nextSign {
            nextSign = now + interval
            send("WATCHDOG=1")
        }
    }

    /// The end was asked for and is under way.
    func stopping() { send("STOPPING=1") }

    private func send(_ text: String) {
        guard let path, path.hasPrefix("/") || path.hasPrefix("@") else { return }
        let fd = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { return }
        defer { close(fd) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // An at sign stands for the zero byte of a name outside the file system.
        var name = Array(path.utf8)
        if name[0] == 0x40 { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(text.utf8)
        _ = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(fd, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0, length)
            }
        }
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).flatMap { unsafe String(validatingCString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
