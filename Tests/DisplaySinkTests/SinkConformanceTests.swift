import DisplaySink
import Media
import SinkConformance
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

    @Test("headless with a log", arguments: SinkConformance.Check.allCases)
    func recording(_ check: SinkConformance.Check) throws {
        try SinkConformance { HeadlessSink(refreshRate: Ratio(120, 1), probe: PresentationLog()) }.check(check)
    }

    @Test("checksums", arguments: SinkConformance.Check.allCases)
    func checksums(_ check: SinkConformance.Check) throws {
        try SinkConformance { try FrameMD5Sink(path: "/dev/null") }.check(check)
    }

    @Test("sinks that come and go leave neither descriptors nor threads behind")
    func leaks() async {
        await #expect(processExitsWith: .success) {
            try SinkConformance { HeadlessSink(refreshRate: Ratio(1000, 1)) }.checkLeaks()
            try SinkConformance { HeadlessSink(isUntimed: true) }.checkLeaks()
            try SinkConformance { HeadlessSink(refreshRate: Ratio(1000, 1), probe: PresentationLog()) }.checkLeaks()
            try SinkConformance { try FrameMD5Sink(path: "/dev/null") }.checkLeaks()
        }
    }
}
