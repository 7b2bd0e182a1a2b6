internal import Glibc
public import Media

/// When this program began, from which `play` counts its start-up.
public enum ProcessStart {
    /// The environment variable with the moment of `exec` in seconds of CLOCK_REALTIME, as bash's `EPOCHREALTIME` has it. A script that builds the
    /// program and then becomes it sets this, because the kernel counts the process from the script's beginning.
    static let variable = "PLAYER_EXEC_TIME"

    /// The moment on CLOCK_MONOTONIC, to a hundredth of a second; nil where `/proc` does not say.
    public static func time() -> HostTime? {
        let now = MonotonicClock.shared.now()
        return latest(began(now: now), handedOver(now: now), now: now)
    }

    /// The later of the two, so that a variable inherited from an earlier program does not count; never after `now`.
    static func latest(_ began: HostTime?, _ handedOver: HostTime?, now: HostTime) -> HostTime? {
        guard let handedOver, handedOver <= now else { return began }
        return began.map { max($0, handedOver) } ?? handedOver
    }

    private static func handedOver(now: HostTime) -> HostTime? {
        guard let seconds = unsafe getenv(variable).flatMap({ unsafe String(validatingCString: $0) }).flatMap(Double.init) else { return nil }
        return now - .seconds(read(CLOCK_REALTIME).seconds - seconds)
    }

    /// When the kernel began this process: field 22 (`starttime`) of `/proc/self/stat`, in clock ticks since boot, suspended time included.
    private static func began(now: HostTime) -> HostTime? {
        guard let stat = readSmallFile("/proc/self/stat"), let close = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        // Field 2 is the name in parentheses, which may hold anything.
        let fields = stat[(close + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 19, let ticks = Int64(String(decoding: fields[19], as: UTF8.self)) else { return nil }
        let began = ticks * (1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
        let age: HostSpan = read(CLOCK_BOOTTIME) - HostSpan.nanoseconds(began)
        return now - age
    }

    private static func read(_ clock: clockid_t) -> HostSpan {
        .nanoseconds(systemTime(clock).nanoseconds)
    }

    private static func readSmallFile(_ path: String) -> [UInt8]? {
        let fd = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { return nil }
        let file = OwnedFD(adopting: fd)
        return unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(unsafe Glibc.read(file.rawValue, buffer.baseAddress, buffer.count), 0)
        }
    }
}
