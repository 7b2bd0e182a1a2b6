import Media
import Testing

/// A clock that was measured to run at its own rate beside the machine's.
private final class MeasuredClock: HostClock {
    let name = "measured"
    let relation: ClockRelation

    init(_ relation: ClockRelation) { self.relation = relation }

    func now() -> HostTime { relation.fromReference(MonotonicClock.shared.now()) }

    func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ClockTimer {
        MonotonicClock.shared.schedule(at: relation.toReference(time), body)
    }
}

@Suite struct ClockConversionTests {
    private static func clock(_ anchor: Int64, _ reference: Int64, _ rate: Double) -> MeasuredClock {
        MeasuredClock(
            ClockRelation(anchor: HostTime(nanoseconds: anchor), referenceAnchor: HostTime(nanoseconds: reference), rate: rate))
    }

    /// Two clocks and a reading of either at the same moment.
    @Test(
        arguments: [
            // The same clock in all but name.
            ((0, 0, 1.0), (0, 0, 1.0), 5_000_000_000, 5_000_000_000),
            // Set differently, equally fast.
            ((0, 1_000, 1.0), (500, 0, 1.0), 2_000, 3_500),
            // 100 ppm slow beside one that is 100 ppm fast: after 10 s on the first, 10.001 s have passed, and 10.002 on the other.
            ((0, 0, 1.0001), (0, 0, 0.9999), 10_000_000_000, 10_002_000_200),
            // Both anchors count.
            ((1_000_000_000, 7_000_000_000, 2.0), (0, 7_000_000_000, 0.5), 2_000_000_000, 4_000_000_000),
        ] as [((Int64, Int64, Double), (Int64, Int64, Double), Int64, Int64)])
    func `a time is carried from clock to clock by what was measured of both`(
        one: (Int64, Int64, Double), other: (Int64, Int64, Double), reading: Int64, expected: Int64
    ) {
        let one = Self.clock(one.0, one.1, one.2), other = Self.clock(other.0, other.1, other.2)
        let there = one.convert(HostTime(nanoseconds: reading), to: other)
        #expect(abs((there - HostTime(nanoseconds: expected)).nanoseconds) <= 1)
        #expect(abs((other.convert(there, to: one) - HostTime(nanoseconds: reading)).nanoseconds) <= 2)
    }

    @Test func `a clock's own time is itself`() {
        let clock = Self.clock(3, 1_000_000_007, 1.000_3)
        #expect(clock.convert(HostTime(nanoseconds: 123_456_789), to: clock) == HostTime(nanoseconds: 123_456_789))
    }

    @Test func `a timebase goes over from one drifting clock to another without a jump`() {
        let slow = Self.clock(0, 0, 1.0005), fast = Self.clock(1_000_000_000, 0, 0.9995), timebase = Timebase(clock: slow)
        let begin = MonotonicClock.shared.now()
        timebase.setRate(1, time: .zero, atHostTime: slow.relation.fromReference(begin))
        timebase.setSource(fast)
        // A second later by the machine's clock.
        let later = begin + .seconds(1), time = timebase.time(at: later)
        // Whatever part of it was spent on either clock, both are within half a thousandth.
        #expect(abs(time.seconds - 1) <= 0.0006, "\(time.seconds)")
    }
}
