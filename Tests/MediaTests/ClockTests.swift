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

@Suite struct SystemClockTests {
    @Test func `scheduled calls come when due, cancelled ones never`() {
        let log = Log<Int>(), clock = MonotonicClock.shared, start = clock.now()
        let cancelled = clock.schedule(at: start + .milliseconds(5)) { log.add(-1) }
        _ = clock.schedule(at: start + .milliseconds(20)) { log.add(clock.now() >= start + .milliseconds(20) ? 3 : -3) }
        _ = clock.schedule(at: start + .milliseconds(10)) { log.add(clock.now() >= start + .milliseconds(10) ? 2 : -2) }
        _ = clock.schedule(at: start) { log.add(1) }
        cancelled.cancel()
        #expect(log.wait(for: 3) == [1, 2, 3])
    }

    @Test func `atomic time is told in monotonic time and back`() {
        let clock = TAIClock.shared
        _ = clock.relation
        let before = MonotonicClock.shared.now(), tai = clock.now(), after = MonotonicClock.shared.now()
        let told = clock.relation.toReference(tai)
        #expect(told > before - .microseconds(100) && told < after + .microseconds(100))
        let log = Log<Bool>(), due = tai + .milliseconds(10)
        _ = clock.schedule(at: due) { log.add(clock.now() > due - .microseconds(50)) }
        #expect(log.wait(for: 1) == [true])
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
