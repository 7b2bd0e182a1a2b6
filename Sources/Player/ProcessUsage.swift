internal import Glibc
internal import Media

/// What this process has used so far (`getrusage(2)`) and when it began (`/proc/self/stat`).
enum ProcessUsage {
    /// User and system seconds of all threads.
    static var cpuSeconds: Double {
        let usage = self.usage
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The largest resident set so far.
    static var peakRSSBytes: Int64 { Int64(usage.ru_maxrss) * 1024 }

    /// When the kernel started this process, on CLOCK_MONOTONIC, to a hundredth of a second (the unit of `starttime`).
    ///
    /// `starttime` counts from boot including suspends, so the distance from now is measured on CLOCK_BOOTTIME.
    static func startTime(now: HostTime) -> HostTime? {
        guard let stat = readSmallFile("/proc/self/stat"), let close = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        // Field 22; the name in parentheses is field 2 and may hold anything.
        let fields = stat[(close + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 19, let ticks = Int64(String(decoding: fields[19], as: UTF8.self)) else { return nil }
        var boot = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &boot)
        let sinceBoot = Int64(boot.tv_sec) * 1_000_000_000 + Int64(boot.tv_nsec)
        let started = ticks * (1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
        return now - HostSpan(nanoseconds: sinceBoot - started)
    }

    private static var usage: rusage {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    private static func readSmallFile(_ path: String) -> [UInt8]? {
        let fd = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { return nil }
        let file = OwnedFD(adopting: fd)
        return unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(unsafe read(file.rawValue, buffer.baseAddress, buffer.count), 0)
        }
    }
}
