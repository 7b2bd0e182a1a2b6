import TestSupport
import Testing

@testable import Media

@Suite struct ManualClockTests {
    @Test func `calls come in order, with the clock at their times, nested ones included`() {
        let clock = ManualClock(), log = Log<Int64>()
        for time in [30, 10, 20, 10] as [Int64] {
            _ = clock.schedule(at: HostTime(nanoseconds: time)) {
                log.add(clock.now().nanoseconds)
                if time == 20 { _ = clock.schedule(at: HostTime(nanoseconds: 25)) { log.add(clock.now().nanoseconds) } }
            }
        }
        let cancelled = clock.schedule(at: HostTime(nanoseconds: 15)) { log.add(-1) }
        cancelled.cancel()
        clock.advance(by: .nanoseconds(27))
        #expect(log.all == [10, 10, 20, 25] && clock.now().nanoseconds == 27 && clock.pendingCount == 1)
        _ = clock.schedule(at: HostTime(nanoseconds: 27)) { log.add(99) }
        #expect(log.all.last == 99)
        clock.set(to: HostTime(nanoseconds: 30))
        #expect(log.all.last == 30 && clock.pendingCount == 0)
        clock.set(to: HostTime(nanoseconds: 5))
        #expect(clock.now().nanoseconds == 5)
    }
}

@Suite struct TimerQueueTests {
    private func at(_ nanoseconds: Int64) -> HostTime { HostTime(nanoseconds: nanoseconds) }

    @Test func `calls come by deadline, equal ones as they were added, never early, cancelled ones never`() {
        var queue = TimerQueue<Int>()
        #expect(queue.nextDeadline == nil && queue.takeDue(at: .distantFuture) == nil)
        let deadlines: [Int64] = [30, 10, 20, 10, 15]
        let ids = deadlines.map { queue.add(Int($0), at: at($0)) }
        #expect(Set(ids).count == 5 && queue.nextDeadline == at(10))
        queue.cancel(ids[4])
        #expect(queue.takeDue(at: at(9)) == nil)
        var taken: [UInt64] = []
        while let (id, deadline) = queue.takeDue(at: at(29)) {
            #expect(deadline <= 29)
            taken.append(id)
        }
        #expect(taken == [ids[1], ids[3], ids[2]] && queue.nextDeadline == at(30))
        // One that has been taken out can no longer be cancelled.
        queue.cancel(ids[1])
        #expect(queue.count == 1)
    }

    @Test func `a call that was found early waits again under its number`() {
        var queue = TimerQueue<String>()
        let id = queue.add("early", at: at(10))
        #expect(queue.takeDue(at: at(10))?.id == id)
        queue.putBack(id, "early", at: at(12))
        #expect(queue.takeDue(at: at(11)) == nil && queue.nextDeadline == at(12))
        queue.cancel(id)
        #expect(queue.count == 0)
    }
}

@Suite struct SystemClockTests {
    @Test func `each scheduled call comes once and never early`() {
        let log = Log<Int>(), clock = MonotonicClock.shared, start = clock.now()
        for (number, milliseconds) in [20, 10, 0].enumerated() {
            let due = start + .milliseconds(Int64(milliseconds))
            _ = clock.schedule(at: due) { log.add(clock.now() >= due ? number : -1) }
        }
        // So far ahead that it cannot come before it is cancelled, however busy the machine is.
        clock.schedule(at: start + .seconds(3600)) { log.add(-2) }.cancel()
        #expect(log.wait(for: 3).sorted() == [0, 1, 2])
    }
}

@Suite struct ClockDriftEstimatorTests {
    /// A clock `ppm` fast, read every `interval` seconds with uniform jitter of ± `jitter` seconds.
    private func run(
        ppm: Double, jitter: Double, interval: Double = 0.02, seconds: Double,
        visit: (ClockDriftEstimator, _ reference: HostTime, _ truth: HostTime) -> Void
    ) {
        var generator = Dice(seed: 42), estimator = ClockDriftEstimator(jitter: .seconds(max(jitter, 1e-6)))
        for step in 0..<Int(seconds / interval) {
            let t = Double(step) * interval
            let reference = HostTime(nanoseconds: 5_000_000_000 + Int64(t * 1e9))
            let truth = HostTime(nanoseconds: 70_000_000_000 + Int64(t * (1 + ppm * 1e-6) * 1e9))
            estimator.add(local: truth + .seconds(.random(in: -jitter...jitter, using: &generator)), reference: reference)
            visit(estimator, reference, truth)
        }
    }

    @Test(arguments: [-150.0, -30, 0, 30, 150], [0.0, 0.0005, 0.005])
    func `drift is found through jitter`(ppm: Double, jitter: Double) {
        var worst = 0.0, final: ClockDriftEstimator?
        run(ppm: ppm, jitter: jitter, seconds: 60) { estimator, reference, truth in
            final = estimator
            // 5 s to settle.
            if reference.nanoseconds > 10_000_000_000 {
                worst = max(worst, (estimator.relation.fromReference(reference) - truth).seconds.magnitude)
            }
        }
        #expect(worst <= jitter / 2 + 50e-6, "off by \(worst * 1e6) µs")
        #expect((final!.measuredDrift * 1e6 - ppm).magnitude < 5 + jitter * 4000, "\(final!.measuredDrift * 1e6) ppm for \(ppm)")
    }

    @Test func `time made from it never steps nor goes backwards`() {
        var previous: (ClockDriftEstimator, HostTime)?
        run(ppm: 80, jitter: 0.01, seconds: 20) { estimator, reference, _ in
            if let (before, at) = previous {
                let step = estimator.relation.fromReference(reference) - before.relation.fromReference(reference)
                #expect(step.nanoseconds.magnitude <= 2)
                #expect(estimator.relation.fromReference(reference) > estimator.relation.fromReference(at))
            }
            #expect((estimator.relation.rate - 1).magnitude < 0.006)
            previous = (estimator, reference)
        }
    }

    @Test func `single outliers are set aside, a clock that was set is followed`() {
        var estimator = ClockDriftEstimator(jitter: .microseconds(100))
        var local = HostTime(nanoseconds: 0), reference = HostTime(nanoseconds: 0)
        func tick(by span: HostSpan = .milliseconds(20)) { local = local + span; reference = reference + span }
        for _ in 0..<100 { tick(); estimator.add(local: local, reference: reference) }
        tick()
        estimator.add(local: local + .seconds(3), reference: reference)
        #expect((estimator.relation.fromReference(reference) - local).seconds.magnitude < 1e-4)
        local = local + .seconds(3)
        for _ in 0..<8 { tick(); estimator.add(local: local, reference: reference) }
        #expect((estimator.relation.fromReference(reference) - local).seconds.magnitude < 1e-6)
        estimator.reset()
        #expect(estimator.relation == .identity && estimator.count == 0)
    }
}
