import DisplaySink
import Glibc
import Media
import SinkConformance
import SurfacePool
import Testing

@Suite("Sinks without a display server do what every sink must")
struct SinkConformanceTests {
    @Test("headless in real time", arguments: SinkConformance.Check.allCases)
    func headless(_ check: SinkConformance.Check) throws {
        try SinkConformance { HeadlessSink() }.check(check)
    }

    @Test("headless without a clock", arguments: SinkConformance.Check.allCases)
    func untimed(_ check: SinkConformance.Check) throws {
        try SinkConformance { HeadlessSink(isUntimed: true) }.check(check)
    }

    @Test("recording", arguments: SinkConformance.Check.allCases)
    func recording(_ check: SinkConformance.Check) throws {
        try SinkConformance { RecordingSink(refreshRate: Ratio(120, 1)) }.check(check)
    }

    @Test("checksums", arguments: SinkConformance.Check.allCases)
    func checksums(_ check: SinkConformance.Check) throws {
        try SinkConformance { try FrameMD5Sink(path: "/dev/null") }.check(check)
    }

    @Test("a hundred sinks leave neither descriptors nor threads behind")
    func leaks() async {
        await #expect(processExitsWith: .success) {
            let conformance = SinkConformance { HeadlessSink(refreshRate: Ratio(1000, 1)) }
            let untimed = SinkConformance { try FrameMD5Sink(path: "/dev/null") }
            try conformance.check(.startAndStop)
            try untimed.check(.startAndStop)
            let before = (entries("/proc/self/fd"), entries("/proc/self/task"))
            for _ in 0..<50 {
                try conformance.check(.startAndStop)
                try untimed.check(.startAndStop)
            }
            let after = (entries("/proc/self/fd"), entries("/proc/self/task"))
            #expect(after.0 <= before.0 && after.1 <= before.1, "\(before) became \(after)")
        }
    }
}

/// How many entries a folder has.
private func entries(_ path: String) -> Int {
    guard let folder = unsafe opendir(path) else { return -1 }
    defer { unsafe closedir(folder) }
    var count = 0
    while unsafe readdir(folder) != nil { count += 1 }
    return count
}
