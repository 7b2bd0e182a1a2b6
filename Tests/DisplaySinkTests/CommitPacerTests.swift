import DisplaySink
import Media
import TestSupport
import Testing

private let origin = HostTime(nanoseconds: 5_000_000_000)

private func milliseconds(_ number: Double) -> HostTime { origin + HostSpan(nanoseconds: Int64((number * 1e6).rounded())) }

@Suite struct CommitPacerTests {
    /// A display that refreshes every `period` milliseconds, once at `origin`.
    private static func pacer(period: Double = 16) -> CommitPacer {
        let span = HostSpan(nanoseconds: Int64(period * 1e6))
        var pacer = CommitPacer(clock: RefreshClock(nominalPeriod: span))
        pacer.clock.add(RefreshClock.Feedback(time: origin, refresh: span))
        return pacer
    }

    /// The same, where a commit must be made 4.5 ms before its refresh.
    private static func pacerWithLead() -> CommitPacer {
        var pacer = pacer()
        for time in [milliseconds(16), milliseconds(32)] {
            pacer.clock.add(RefreshClock.Feedback(time: time, refresh: .milliseconds(16), committed: time - .milliseconds(20)))
        }
        return pacer
    }

    @Test(
        "the next commit waits until the last one's refresh has passed",
        arguments: [
            // Period, when the commit was made, for which refresh, when the next may be made.
            (16, 5, 16, 17), (16, 15.9, 16, 17),
            // Made too late for its refresh: it lights up at another, at its own time at the earliest.
            (16, 18, 16, 19),
            // The margin is an eighth of a short period.
            (4, 1, 4, 4.5), (2, 1, 2, 2.25),
        ] as [(Double, Double, Double, Double)])
    func earliest(period: Double, committed: Double, refresh: Double, next: Double) {
        var pacer = Self.pacer(period: period)
        #expect(pacer.earliestCommit < milliseconds(committed), "nothing holds the first commit back")
        pacer.didCommit(
            for: DisplayInterval(deadline: milliseconds(refresh), nextDeadline: milliseconds(refresh + period)), at: milliseconds(committed))
        #expect(pacer.earliestCommit == milliseconds(next))
    }

    @Test(
        "a frame is chosen for a refresh later than the last commit's",
        arguments: [(5, 32), (16, 32), (17, 32), (31, 32), (33, 48)] as [(Double, Double)])
    func interval(now: Double, deadline: Double) {
        var pacer = Self.pacer()
        #expect(pacer.interval(at: milliseconds(5)).deadline == milliseconds(16))
        pacer.didCommit(for: pacer.interval(at: milliseconds(5)), at: milliseconds(5))
        #expect(pacer.interval(at: milliseconds(now)).deadline == milliseconds(deadline))
    }

    @Test(
        "the presenter wakes just after the refresh before a frame's own",
        arguments: [
            // When the frame is due, now, when to ask.
            (40, 20, 33), (48, 20, 33), (48.5, 20, 49), (100, 20, 97),
            // Too late for the frame's refresh: after the next one, when the answer can differ.
            (40, 34, 48.1), (40, 33, 48.1),
        ] as [(Double, Double, Double)])
    func wake(due: Double, now: Double, wake: Double) {
        let pacer = Self.pacer()
        let interval = pacer.interval(at: milliseconds(now))
        #expect(pacer.wakeTime(forFrameDueAt: milliseconds(due), now: milliseconds(now), interval: interval) == milliseconds(wake))
    }

    @Test func `a display that needs commits early is asked early`() {
        var pacer = Self.pacerWithLead()
        #expect(pacer.clock.lead == .microseconds(4_500))
        let interval = pacer.interval(at: milliseconds(50))
        #expect(interval.deadline == milliseconds(64))
        pacer.didCommit(for: interval, at: milliseconds(50))
        #expect(pacer.earliestCommit == milliseconds(60.5))
        #expect(pacer.interval(at: milliseconds(50)).deadline == milliseconds(80))
        let wake = pacer.wakeTime(forFrameDueAt: milliseconds(128), now: milliseconds(100), interval: pacer.interval(at: milliseconds(100)))
        #expect(wake == milliseconds(113))
    }

    @Test func `without a period a frame is asked for at its time, less the lead`() {
        let pacer = CommitPacer(clock: .variable)
        let interval = pacer.interval(at: milliseconds(10))
        #expect(interval.period == nil)
        #expect(pacer.wakeTime(forFrameDueAt: milliseconds(40), now: milliseconds(10), interval: interval) == milliseconds(40))
        #expect(pacer.wakeTime(forFrameDueAt: milliseconds(10), now: milliseconds(10), interval: interval) == milliseconds(11))
    }

    @Test("no refresh gets two commits, whenever the presenter wakes", arguments: [1, 2, 3] as [UInt64])
    func distinct(seed: UInt64) {
        var dice = Dice(seed: seed), pacer = seed == 3 ? Self.pacerWithLead() : Self.pacer()
        var now = milliseconds(100), last = HostTime.distantPast
        for _ in 0..<1000 {
            now = now + HostSpan(nanoseconds: .random(in: 0...40_000_000, using: &dice))
            if pacer.earliestCommit > now { now = pacer.earliestCommit }
            let interval = pacer.interval(at: now)
            #expect(interval.deadline > last && interval.deadline >= now)
            pacer.didCommit(for: interval, at: now)
            last = interval.deadline
        }
    }
}
