internal import Glibc

/// What this process has used so far (`getrusage(2)`).
enum ProcessUsage {
    /// User and system seconds of all threads.
    static var cpuSeconds: Double {
        let usage = self.usage
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The largest resident set so far.
    static var peakRSSBytes: Int64 { Int64(usage.ru_maxrss) * 1024 }

    private static var usage: rusage {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
