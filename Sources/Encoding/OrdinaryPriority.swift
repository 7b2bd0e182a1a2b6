internal import Glibc

/// Keeps threads from a real-time priority that a library takes unasked.
///
/// SVT-AV1 gives the thread that opens it, and those that it starts, SCHED_FIFO at the highest priority when the user may do that (root). Such
/// threads leave nothing for any other program: a display would stand still for as long as a film is encoded.
enum OrdinaryPriority {
    /// Calls `body`, then gives the calling thread its priority back, and takes the real-time one from threads that were started meanwhile.
    static func kept<Result>(_ body: () -> Result) -> Result {
        var policy: Int32 = 0, parameters = sched_param()
        let isKnown = unsafe pthread_getschedparam(pthread_self(), &policy, &parameters) == 0
        let before = Set(threads)
        let result = body()
        if isKnown { unsafe pthread_setschedparam(pthread_self(), policy, &parameters) }
        for thread in threads where !before.contains(thread) && sched_getscheduler(thread) == SCHED_FIFO {
            var ordinary = sched_param()
            unsafe sched_setscheduler(thread, SCHED_OTHER, &ordinary)
        }
        return result
    }

    /// The numbers of this process's threads.
    static var threads: [pid_t] {
        guard let folder = unsafe opendir("/proc/self/task") else { return [] }
        defer { unsafe closedir(folder) }
        var numbers: [pid_t] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if let number = pid_t(name) { numbers.append(number) }
        }
        return numbers
    }
}
