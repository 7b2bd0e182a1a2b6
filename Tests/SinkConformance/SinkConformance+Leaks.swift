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

    /// How many entries a folder has.
    private static func entries(_ path: String) -> Int {
        guard let folder = unsafe opendir(path) else { return 0 }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        return count
    }
}
