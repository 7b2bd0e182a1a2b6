import Media
import Testing

@testable import PlaySupport

@Suite struct ProcessStartTests {
    /// Seconds of the process's beginning, of the variable, and what counts at second 100.
    @Test(
        arguments: [(10, nil, 10), (10, 90, 90), (10, 5, 10), (10, 101, 10), (nil, 90, 90), (nil, nil, nil), (nil, 101, nil)] as [(Int?, Int?, Int?)])
    func `the later moment counts, unless it lies ahead`(_ began: Int?, _ handedOver: Int?, _ expected: Int?) {
        func time(_ seconds: Int?) -> HostTime? { seconds.map { HostTime(nanoseconds: Int64($0) * 1_000_000_000) } }
        #expect(ProcessStart.latest(time(began), time(handedOver), now: HostTime(nanoseconds: 100_000_000_000)) == time(expected))
    }

    @Test func `this process has begun, and not in the future`() throws {
        let start = try #require(ProcessStart.time())
        #expect(start <= MonotonicClock.shared.now())
    }
}
