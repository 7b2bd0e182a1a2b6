import DisplaySink
import Media
import TestSupport
import Testing

private let origin = HostTime(nanoseconds: 5_000_000_000)

/// A display that refreshes every `period` nanoseconds and tells of some of its refreshes.
private struct Display {
    var period: Double
    var told: HostSpan?
    var counts = false

    func time(_ refresh: Int) -> HostTime { origin + HostSpan(nanoseconds: Int64((Double(refresh) * period).rounded())) }

    func feedback(_ refresh: Int, jitter: Double = 0, committed: HostTime? = nil) -> RefreshClock.Feedback {
        RefreshClock.Feedback(
            time: time(refresh) + HostSpan(nanoseconds: Int64(jitter)), refresh: told, sequence: counts ? UInt64(refresh + 100) : 0,
            committed: committed)
    }
}

/// How far the clock's idea of the refreshes after refresh `number` is off, nanoseconds.
private func error(_ clock: RefreshClock, _ display: Display, after number: Int) -> Double {
    let asked = display.time(number) + HostSpan(nanoseconds: Int64(display.period / 2))
    return Double((clock.interval(at: asked).deadline - display.time(number + 1)).nanoseconds)
}

@Suite("RefreshClock")
struct RefreshClockTests {
    private let sixty = Display(period: 1e9 / 60, told: .nanoseconds(16_666_667))

    @Test("before any feedback a frame lights up as soon as it is handed over")
    func nothingKnown() {
        let clock = RefreshClock()
        let now = origin
        #expect(clock.period == nil)
        #expect(clock.interval(at: now) == DisplayInterval(deadline: now, nextDeadline: now, period: nil))
        let told = RefreshClock(nominalPeriod: .milliseconds(20)).interval(at: now)
        #expect(told == DisplayInterval(deadline: now, nextDeadline: now + .milliseconds(20), period: .milliseconds(20)))
    }

    @Test("one feedback gives the phase, and the display's word the period")
    func first() {
        var clock = RefreshClock()
        clock.add(sixty.feedback(0))
        #expect(abs(error(clock, sixty, after: 0)) < 2)
        #expect(clock.interval(at: sixty.time(10) + .nanoseconds(1_000)).nextDeadline > sixty.time(12) - .nanoseconds(20))
        // At a refresh's own time that refresh is still meant.
        #expect(clock.refresh(atOrAfter: origin) == origin)
    }

    @Test("jittered times are smoothed, a display that runs off its word is followed", arguments: [0.0, 300, -300])
    func smoothing(partsPerMillion: Double) {
        let display = Display(period: 1e9 / 60 * (1 + partsPerMillion / 1e6), told: .nanoseconds(16_666_667))
        var clock = RefreshClock()
        var dice = Dice(seed: 1)
        var worst = 0.0
        for refresh in 0..<2000 {
            clock.add(display.feedback(refresh, jitter: .random(in: -500_000...500_000, using: &dice)))
            if refresh > 1000 { worst = max(worst, abs(error(clock, display, after: refresh))) }
        }
        #expect(worst < 250_000, "half a millisecond of jitter, \(worst) ns left")
        let period = Double(clock.period!.nanoseconds)
        #expect(abs(period / display.period - 1) < 1e-3)
    }

    @Test("feedback for few of the refreshes is enough")
    func sparse() {
        var clock = RefreshClock()
        var refresh = 0
        for step in 0..<300 {
            refresh += step % 2 == 0 ? 2 : 3
            clock.add(sixty.feedback(refresh))
        }
        #expect(abs(error(clock, sixty, after: refresh)) < 1_000)
        #expect(abs(error(clock, sixty, after: refresh + 600)) < 20_000, "ten seconds later")
    }

    @Test("a single mistaken time changes nothing")
    func outlier() {
        var clock = RefreshClock()
        for refresh in 0..<50 { clock.add(sixty.feedback(refresh)) }
        let before = clock
        clock.add(sixty.feedback(50, jitter: 7_000_000))
        #expect(clock.interval(at: sixty.time(60)) == before.interval(at: sixty.time(60)))
        for refresh in 51..<60 { clock.add(sixty.feedback(refresh)) }
        #expect(abs(error(clock, sixty, after: 60)) < 1_000)
    }

    @Test("a phase that has changed is believed at the third time")
    func newPhase() {
        var clock = RefreshClock()
        for refresh in 0..<50 { clock.add(sixty.feedback(refresh)) }
        for refresh in 50..<53 { clock.add(sixty.feedback(refresh, jitter: 8_000_000)) }
        #expect(abs(error(clock, sixty, after: 53) - 8_000_000) < 1_000)
        #expect(!clock.isVariable)
    }

    @Test("a new mode is believed at once")
    func newMode() {
        var clock = RefreshClock()
        for refresh in 0..<50 { clock.add(sixty.feedback(refresh)) }
        let fifty = Display(period: 2e7, told: .milliseconds(20))
        clock.add(fifty.feedback(50))
        #expect(clock.period == .milliseconds(20))
        #expect(abs(error(clock, fifty, after: 50)) < 2)
    }

    @Test("a display that says no period but counts refreshes is measured")
    func counted() {
        let display = Display(period: 1e9 / 75, told: nil, counts: true)
        var clock = RefreshClock()
        for refresh in [0, 3, 5, 8, 10, 13, 15, 18] { clock.add(display.feedback(refresh)) }
        #expect(abs(Double(clock.period!.nanoseconds) - display.period) < 2)
        #expect(abs(error(clock, display, after: 18)) < 20)
    }

    @Test("times that fit no period show a variable display, which has none; a steady one gets it back")
    func variable() {
        var clock = RefreshClock()
        var dice = Dice(seed: 1)
        var time = origin
        for _ in 0..<60 {
            time = time + HostSpan(nanoseconds: .random(in: 7_000_000...25_000_000, using: &dice))
            clock.add(RefreshClock.Feedback(time: time, refresh: .nanoseconds(16_666_667)))
        }
        #expect(clock.isVariable)
        #expect(clock.interval(at: time).period == nil)
        #expect(clock.interval(at: time).deadline == time + clock.lead)
        for _ in 0..<60 {
            time = time + .nanoseconds(16_666_667)
            clock.add(RefreshClock.Feedback(time: time, refresh: .nanoseconds(16_666_667)))
        }
        #expect(!clock.isVariable)
        #expect(clock.period != nil)
    }

    @Test("frames that come a refresh later than predicted lengthen the lead; one accident does not")
    func lead() {
        var clock = RefreshClock()
        func commit(_ refresh: Int, before: HostSpan) { clock.add(sixty.feedback(refresh, committed: sixty.time(refresh) - before)) }
        for refresh in 0..<10 { commit(refresh, before: .milliseconds(10)) }
        #expect(clock.lead == .zero)
        // Handed over 23 ms before it lit up: 6.3 ms before a refresh were not enough.
        commit(10, before: .milliseconds(23))
        #expect(clock.lead == .zero)
        for refresh in 11..<100 { commit(refresh, before: .milliseconds(10)) }
        commit(100, before: .milliseconds(23))
        #expect(clock.lead == .zero)
        commit(103, before: .milliseconds(23))
        #expect(abs(clock.lead.seconds - 0.0068) < 0.0001)
        let late = sixty.time(110) - .milliseconds(5)
        #expect(clock.interval(at: late).deadline > sixty.time(110) + .milliseconds(10))
        let early = sixty.time(110) - .milliseconds(8)
        #expect(abs((clock.interval(at: early).deadline - sixty.time(110)).seconds) < 0.0001)
        #expect(clock.commitDeadline(for: sixty.time(110)) == sixty.time(110) - clock.lead)
    }

    @Test("feedback out of order or twice does no harm")
    func order() {
        var clock = RefreshClock()
        for refresh in 0..<20 { clock.add(sixty.feedback(refresh)) }
        let before = clock.interval(at: sixty.time(30))
        clock.add(sixty.feedback(19))
        clock.add(sixty.feedback(12))
        #expect(abs((clock.interval(at: sixty.time(30)).deadline - before.deadline).nanoseconds) < 10)
    }
}
