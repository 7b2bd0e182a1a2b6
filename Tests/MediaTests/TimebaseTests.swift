import Testing

@testable import Media

/// A log that callbacks on any thread may write to.
final class Log<Element: Sendable>: Sendable {
    private let entries = Monitor<[Element]>([])
    func add(_ entry: Element) { entries.change { $0.append(entry) } }
    var all: [Element] { entries.withLock { $0 } }
    /// Waits for as many entries; at most a minute, which only a defect exhausts.
    func wait(for count: Int) -> [Element] {
        _ = entries.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0.count >= count ? true : nil }
        return all
    }
}

private func ms(_ n: Int64) -> MediaTime { MediaTime(value: n, timescale: 1000) }

@Suite struct TimebaseTests {
    let clock = ManualClock(HostTime(nanoseconds: 1_000_000_000))

    @Test func `a new timebase stands at zero`() {
        let timebase = Timebase(clock: clock)
        clock.advance(by: .seconds(3))
        #expect(timebase.time == .zero && timebase.rate == 0)
        #expect(timebase.mapping.hostTime(of: .zero) == nil)
    }

    @Test func `it stands exactly where it was put`() {
        let timebase = Timebase(clock: clock)
        let odd = MediaTime(value: 1001, timescale: 24000)
        timebase.setTime(odd)
        #expect(timebase.time == odd && timebase.time.timescale == 24000)
        timebase.setRate(1)
        timebase.setRate(0)
        #expect(abs((timebase.time - odd).seconds) <= 1e-9)
    }

    @Test func `it runs at its rate`() {
        let timebase = Timebase(clock: clock)
        timebase.setTime(ms(500))
        for (rate, expected) in [(1.0, 1500), (2.0, 3500), (0.5, 4000), (-1.0, 3000), (0.0, 3000)] as [(Double, Int64)] {
            timebase.setRate(rate)
            clock.advance(by: .seconds(1))
            #expect(timebase.time == ms(expected), "at rate \(rate)")
        }
    }

    @Test func `rate and time are set together, also for a moment ahead`() {
        let timebase = Timebase(clock: clock)
        timebase.setRate(1, time: ms(10_000), atHostTime: clock.now() + .milliseconds(200))
        #expect(timebase.time == ms(9_800))
        clock.advance(by: .milliseconds(300))
        #expect(timebase.time == ms(10_100))
        #expect(timebase.time(at: clock.now() + .seconds(1)) == ms(11_100))
        #expect(timebase.mapping.hostTime(of: ms(11_100)) == clock.now() + .seconds(1))
    }

    @Test func `a timebase over a timebase multiplies rates and follows jumps`() {
        let parent = Timebase(clock: clock), child = Timebase(source: parent)
        let log = Log<TimebaseChange>()
        child.observe { log.add($0) }
        child.setRate(2)
        clock.advance(by: .seconds(1))
        #expect(child.time == .zero)
        parent.setRate(0.5)
        clock.advance(by: .seconds(1))
        #expect(child.time == ms(1000) && child.effectiveRate == 1)
        parent.setTime(ms(10_000))
        #expect(child.time == ms(20_000))
        #expect(child.mapping.hostTime(of: ms(21_000)) == clock.now() + .seconds(1))
        #expect(log.all == [.rate(old: 0, new: 2), .source, .jump(to: ms(20_000))])
    }

    @Test func `replacing the source does not move time`() {
        let other = ManualClock(HostTime(nanoseconds: 77)), timebase = Timebase(clock: clock)
        timebase.setRate(1)
        clock.advance(by: .seconds(2))
        timebase.setSource(other)
        #expect(timebase.time == ms(2000))
        clock.advance(by: .seconds(5))
        #expect(timebase.time == ms(2000))
        other.advance(by: .seconds(1))
        #expect(timebase.time == ms(3000) && timebase.clock === other)

        let parent = Timebase(clock: clock)
        parent.setTime(ms(50_000))
        timebase.setSource(parent)
        #expect(timebase.time == ms(3000) && timebase.sourceTimebase === parent)
        parent.setRate(1)
        clock.advance(by: .seconds(1))
        #expect(timebase.time == ms(4000))
        timebase.setSource(other)
        parent.setTime(.zero)
        #expect(timebase.time == ms(4000) && timebase.sourceTimebase == nil)
    }

    @Test func `observers hear of every change until they cancel`() {
        let timebase = Timebase(clock: clock), log = Log<TimebaseChange>()
        let observation = timebase.observe { log.add($0) }
        timebase.setRate(1)
        timebase.setRate(1)
        timebase.setTime(ms(5))
        timebase.setRate(0, time: ms(7), atHostTime: clock.now())
        timebase.setSource(ManualClock())
        observation.cancel()
        timebase.setRate(3)
        #expect(log.all == [.rate(old: 0, new: 1), .jump(to: ms(5)), .rate(old: 1, new: 0), .jump(to: ms(7)), .source])
    }
}

@Suite struct TimebaseTimerTests {
    let clock = ManualClock()

    @Test func `a timer fires at its media time however the rate changes`() {
        let timebase = Timebase(clock: clock), log = Log<MediaTime>()
        timebase.addTimer(at: ms(1000)) { log.add(timebase.time) }
        clock.advance(by: .seconds(5))
        #expect(log.all.isEmpty, "stopped")
        timebase.setRate(1)
        clock.advance(by: .milliseconds(400))
        timebase.setRate(0)
        clock.advance(by: .seconds(5))
        timebase.setRate(0.25)
        clock.advance(by: .milliseconds(2399))
        #expect(log.all.isEmpty)
        clock.advance(by: .seconds(5))
        #expect(log.all == [ms(1000)])
        #expect(clock.pendingCount == 0)
    }

    @Test func `a jump past a timer fires it, a jump back delays it`() {
        let timebase = Timebase(clock: clock), log = Log<Int>()
        timebase.setRate(1)
        timebase.addTimer(at: ms(1000)) { log.add(1) }
        timebase.addTimer(at: ms(2000)) { log.add(2) }
        clock.advance(by: .milliseconds(900))
        timebase.setTime(.zero)
        clock.advance(by: .milliseconds(900))
        #expect(log.all.isEmpty)
        timebase.setTime(ms(3000))
        #expect(log.all == [1, 2])
    }

    @Test func `backwards a timer fires on the way down`() {
        let timebase = Timebase(clock: clock), log = Log<MediaTime>()
        timebase.setTime(ms(5000))
        timebase.addTimer(at: ms(3000)) { log.add(timebase.time) }
        timebase.setRate(-2)
        clock.advance(by: .milliseconds(999))
        #expect(log.all.isEmpty)
        clock.advance(by: .milliseconds(1))
        #expect(log.all == [ms(3000)])
    }

    @Test func `timers may be cancelled, moved and added from timers`() {
        let timebase = Timebase(clock: clock), log = Log<Int>()
        let second = timebase.addTimer(at: ms(20)) { log.add(2) }
        let third = timebase.addTimer(at: ms(30)) { log.add(3) }
        timebase.addTimer(at: ms(10)) {
            log.add(1)
            second.cancel()
            third.setFireTime(ms(15))
            timebase.addTimer(at: ms(5)) { log.add(4) }
        }
        timebase.setRate(1)
        clock.advance(by: .milliseconds(12))
        #expect(log.all == [1, 4])
        clock.advance(by: .milliseconds(100))
        #expect(log.all == [1, 4, 3])
        third.setFireTime(ms(200))
        clock.advance(by: .milliseconds(100))
        #expect(log.all == [1, 4, 3, 3])
    }

    @Test func `a change of the parent's rate moves the child's timers`() {
        let parent = Timebase(clock: clock), child = Timebase(source: parent), log = Log<HostTime>()
        let clock = clock
        child.setRate(1)
        child.addTimer(at: ms(1000)) { log.add(clock.now()) }
        parent.setRate(1)
        clock.advance(by: .milliseconds(500))
        parent.setRate(2)
        clock.advance(by: .seconds(10))
        #expect(log.all == [HostTime(nanoseconds: 750_000_000)])
    }

    @Test(arguments: [1.0, 0.5, 2.0, 1.1, 0.333, -1.7, 23.976])
    func `a timer never fires before its time, and at most a step of the clock after`(rate: Double) {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let timebase = Timebase(clock: clock), log = Log<MediaTime>()
            let distance = Int64.random(in: 1...10_000_000_000, using: &generator)
            let start = MediaTime(nanoseconds: .random(in: -1_000_000_000_000...1_000_000_000_000, using: &generator))
            let target = rate > 0 ? start + MediaTime(nanoseconds: distance) : start - MediaTime(nanoseconds: distance)
            timebase.setTime(start)
            timebase.addTimer(at: target) { log.add(timebase.time) }
            timebase.setRate(rate)
            clock.advance(by: .seconds(100))
            let fired = log.all
            #expect(fired.count == 1)
            let late = (fired[0] - target).seconds * (rate > 0 ? 1 : -1)
            #expect(late >= -1e-9 && late <= 1e-9 * (rate.magnitude + 1), "\(late) s")
        }
    }

    @Test func `on the system's clock a timer fires from the library's thread`() {
        let timebase = Timebase(), log = Log<Double>()
        timebase.addTimer(at: ms(20)) { log.add(timebase.time.seconds) }
        timebase.addTimer(at: ms(-1)) { log.add(-1) }
        timebase.setRate(1)
        let fired = log.wait(for: 2)
        #expect(fired.count == 2 && fired[0] == -1 && fired[1] >= 0.02)
    }
}
