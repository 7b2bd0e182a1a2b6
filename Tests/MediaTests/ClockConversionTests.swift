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
        let elapsed = (MonotonicClock.shared.now() - begin).seconds
        // A second after both by the machine's clock.
        let later = begin + .seconds(elapsed + 1), time = timebase.time(at: later)
        // Whatever part of it passed on either clock, both are within half a thousandth.
        #expect(abs(time.seconds / (elapsed + 1) - 1) <= 0.0006, "\(time.seconds)")
    }

    private static func timebase(_ clock: any HostClock, _ rate: Double, at time: MediaTime) -> Timebase {
        let timebase = Timebase(clock: clock)
        timebase.setRate(rate, time: time, atHostTime: HostTime(nanoseconds: 0))
        return timebase
    }

    private static func seconds(_ seconds: Int64) -> MediaTime { MediaTime(value: seconds, timescale: 1) }

    /// Two rates, both starting at host time 0 from 10 s and 100 s, and a time on the first with the time on the second at that moment.
    @Test(
        arguments: [
            (1.0, 1.0, 15, 105), (2.0, 1.0, 30, 110), (1.0, 0.5, 30, 110), (-1.0, 1.0, 4, 106), (1.0, -2.0, 11, 98), (1.0, 0.0, 50, 100),
            (1.0, 1.0, 5, 95),
        ] as [(Double, Double, Int64, Int64)])
    func `a time is carried from timebase to timebase`(one: Double, other: Double, time: Int64, expected: Int64) {
        let clock = ManualClock()
        let first = Self.timebase(clock, one, at: Self.seconds(10)), second = Self.timebase(clock, other, at: Self.seconds(100))
        for _ in 0..<2 {
            #expect(first.convert(Self.seconds(time), to: second) == Self.seconds(expected))
            if other != 0 { #expect(second.convert(Self.seconds(expected), to: first) == Self.seconds(time)) }
            #expect(first.relativeRate(to: second) == (other == 0 ? nil : one / other))
            // It does not depend on when it is asked.
            clock.advance(by: .seconds(7))
        }
    }

    @Test func `a timebase's own time is itself; a stopped one tells no moment; a child shares its parent's moments`() {
        let clock = ManualClock(), parent = Self.timebase(clock, 2, at: .zero), stopped = Timebase(clock: clock), child = Timebase(source: parent)
        child.setRate(0.5)
        let odd = MediaTime(value: 1001, timescale: 24000)
        #expect(parent.convert(odd, to: parent).timescale == 24000 && stopped.convert(odd, to: stopped) == odd)
        #expect(!stopped.convert(odd, to: parent).isValid && stopped.relativeRate(to: parent) == 0 && parent.relativeRate(to: stopped) == nil)
        #expect(parent.convert(Self.seconds(8), to: child) == Self.seconds(4) && child.convert(Self.seconds(4), to: parent) == Self.seconds(8))
        #expect(!parent.convert(.invalid, to: child).isValid && !parent.convert(.indefinite, to: child).isValid)
        #expect(
            parent.convert(.positiveInfinity, to: child) == .positiveInfinity && parent.convert(.negativeInfinity, to: child) == .negativeInfinity)
        #expect(parent.convert(.positiveInfinity, to: stopped) == .zero)
    }

    @Test func `clocks that drift apart are taken into account`() {
        let slow = Self.timebase(Self.clock(0, 0, 1.0005), 1, at: .zero), fast = Self.timebase(Self.clock(0, 0, 0.9995), 1, at: .zero)
        let there = slow.convert(Self.seconds(1000), to: fast)
        // 1000 s of the slow clock are 1000.5 s of the machine's and 1001.0005 s of the fast one.
        let exact: Double = 1000 * 1.0005 / 0.9995
        #expect(abs(there.seconds - exact) < 1e-6, "\(there.seconds)")
    }
}
