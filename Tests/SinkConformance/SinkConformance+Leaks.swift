internal import Glibc

extension SinkConformance {
    /// Throws when sinks that come and go leave descriptors or threads behind.
    ///
    /// It counts those of the whole process, so nothing else may run meanwhile: call it in an exit test, `processExitsWith: .success`.
    public func checkLeaks(rounds: Int = 6) throws {
        func round() throws {
            try check(.startAndStop)
            try check(.stopsInTheMiddle)
        }
        // The first round makes what the process keeps.
        try round()
        let before = (Self.entries("/proc/self/fd"), Self.entries("/proc/self/task"))
        for _ in 0..<rounds { try round() }
        let after = (Self.entries("/proc/self/fd"), Self.entries("/proc/self/task"))
        if after.0 > before.0 { throw Violations(description: "\(before.0) descriptors became \(after.0)") }
        if after.1 > before.1 { throw Violations(description: "\(before.1) threads became \(after.1)") }
    }

    /// How many entries a folder has. Those do not count that Dispatch opens for itself and in /proc.
    private static func entries(_ path: String) -> Int {
        guard let folder = unsafe opendir(path) else { return 0 }
        defer { unsafe closedir(folder) }
        var count = 0
        while let entry = unsafe readdir(folder) {
            var target = [CChar](repeating: 0, count: 64)
            let length = unsafe readlinkat(dirfd(folder), &entry.pointee.d_name.0, &target, target.count - 1)
            let name = String(decoding: target.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if !["anon_inode:[eventpoll]", "anon_inode:[eventfd]", "anon_inode:[timerfd]"].contains(name), !name.hasPrefix("/proc/") { count += 1 }
        }
        return count
    }
}
