internal import Glibc
internal import Media
internal import PlaySupport
internal import Player

/// Tells systemd that the film is on the screen and that it moves, as `sd_notify(3)` does.
///
/// With `NOTIFY_SOCKET` in the environment it reports the first frame, or of a film without frames the first sound (`READY=1`); with
/// `WATCHDOG_USEC` it reports regularly from the main loop while frames move (`MotionWatch`), so that systemd restarts a player that hangs, or whose
/// film stands still. Without them it does nothing.
///
/// Thread-safety: one thread.
struct ServiceManager {
    private let path: String?
    /// Time between two reports: half of the manager's patience.
    private let interval: HostSpan?
    private var nextSign = HostTime.distantPast
    private var isReady = false
    private var watch: MotionWatch?

    init() {
        path = Self.variable("NOTIFY_SOCKET")
        let wait = Self.variable("WATCHDOG_USEC").flatMap { Int64($0) }
        let isMeant = Self.variable("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
        interval = isMeant ? wait.flatMap { $0 > 1 ? .microseconds($0 / 2) : nil } : nil
        watch = interval.map { MotionWatch(patience: $0) }
    }

    /// Sends what is due. Called at least ten times a second.
    ///
    /// - Parameter player: Plays the film; nil while none is open.
    mutating func tick(_ now: HostTime, _ player: Player?) {
        guard path != nil else { return }
        if !isReady, let player, Self.isSeenOrHeard(player) {
            isReady = true
            send("READY=1")
        }
        if let interval, watch?.isMoving(player?.motion, at: now) == true, now >= nextSign {
            nextSign = now + interval
            send("WATCHDOG=1")
        }
    }

    private static func isSeenOrHeard(_ player: Player) -> Bool {
        guard let film = player.film, film.videoTrack == nil else { return player.statistics.framesPresented > 0 }
        return player.state == .playing
    }

    /// Reports that the player is ending.
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
