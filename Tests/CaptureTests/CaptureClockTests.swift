import Capture
import Media
import TestSupport
import Testing

/// An hour of clocks that differ, without waiting for it.
@Suite("The clocks of a session") struct CaptureClockTests {
    private static let beginning = HostTime(nanoseconds: 5_000_000_000), hour = 3600.0

    private static func at(_ seconds: Double) -> HostTime { beginning + .seconds(seconds) }

    /// When the camera with a rate of 30 stamps a frame whose clock is fast by `drift`.
    private static func frameTime(_ number: Int, _ drift: Double) -> Double { Double(number) / 30 / (1 + drift) }

    @Test(
        "are told: how fast a camera makes frames, whatever is lost and however its stamps jitter", arguments: [0, 40e-6, -300e-6, 1e-3] as [Double])
    func measured(drift: Double) throws {
        var state = FrameClockState(), dice = Dice(seed: 3)
        state.add(0, at: Self.at(0), rate: Ratio(30, 1), isAnew: false)
        #expect(state.drift == nil)
        for number in 1..<108_000 where number % 100 != 7 {
            let time = Self.frameTime(number, drift) + Double.random(in: 0...0.004, using: &dice)
            state.add(UInt64(number), at: Self.at(time), rate: Ratio(30, 1), isAnew: false)
            // Known within 20 millionths after two minutes.
            if number > 3600, abs(try #require(state.drift) - drift) > 20e-6 { return #expect(Bool(false), "\(number): \(state.drift ?? 0)") }
        }
        #expect(abs(try #require(state.drift) - drift) < 3e-6)
        // Another rate, or a camera that has returned, begins anew.
        state.add(108_000, at: Self.at(3700), rate: Ratio(15, 1), isAnew: false)
        #expect(state.drift == nil)
        state.add(108_060, at: Self.at(3704), rate: Ratio(15, 1), isAnew: false)
        #expect(state.drift != nil)
        state.add(108_061, at: Self.at(3705), rate: Ratio(15, 1), isAnew: true)
        #expect(state.drift == nil)
    }

    @Test("of cameras that do not stamp by the master clock are converted to it", arguments: [0, 200e-6, -200e-6] as [Double])
    func converted(drift: Double) {
        var state = CaptureTimeState(), dice = Dice(seed: 6), last = HostTime.distantPast, worst = 0.0
        for number in 0..<108_000 {
            let captured = Double(number) / 30
            let stamp = Int64((900 + captured * (1 + drift)) * 1e9)
            let arrival = Self.at(captured + 0.010 + Double.random(in: 0...0.004, using: &dice))
            let time = state.time(stamp: stamp, isMonotonic: false, arrival: arrival)
            guard time > last, time <= arrival else { return #expect(Bool(false), "\(number)") }
            last = time
            if number > 3000 { worst = max(worst, abs((time - Self.beginning).seconds - captured - 0.012)) }
        }
        // What a frame needs to arrive, 10 to 14 ms, cannot be known; that it is always the same can.
        #expect(worst < 0.0025, "\(worst)")
    }

    @Test("run forward where a driver repeats a stamp or goes back, and are never of the future")
    func forward() {
        var state = CaptureTimeState()
        func time(_ stamp: Double, _ arrival: Double, isMonotonic: Bool = true) -> Double {
            let time = state.time(stamp: Self.at(stamp).nanoseconds, isMonotonic: isMonotonic, arrival: Self.at(arrival))
            return ((time - Self.beginning).seconds * 1e6).rounded() / 1e6
        }
        #expect(time(1, 1.01) == 1 && time(1, 1.05) == 1.05, "a stamp that comes again")
        #expect(time(1.04, 1.09) == 1.09, "before the arrival that stood for the last one")
        #expect(time(1.10, 1.11) == 1.10 && time(0.9, 1.12) == 1.12, "a stamp that goes back")
        #expect(time(1.2, 1.21) == 1.2)
        var following = CaptureTimeState(after: Self.at(1.25))
        #expect(following.time(stamp: Self.at(1.22).nanoseconds, isMonotonic: true, arrival: Self.at(1.3)) == Self.at(1.3))
    }

    @Test("of camera and display may differ: for an hour the delay is bounded, and no more is repeated or left out than they differ by")
    func display() {
        for (camera, display) in [(300e-6, -300e-6), (-300e-6, 300e-6), (300e-6, 300e-6), (0, 0)] as [(Double, Double)] {
            // The camera at the display's own rate is the hardest case: every frame that is too many must go, every one that is missing is repeated.
            var state = DeliveryState<Int>(discardsLate: true), next = 0, repeats = 0, shown = 0, longest = 0.0, early = 0.0, late = 0.0
            for refresh in 1...108_000 {
                let now = Double(refresh) / 30 / (1 + display)
                while Self.frameTime(next, camera) <= now {
                    _ = state.add(next, number: UInt64(next), time: Self.at(Self.frameTime(next, camera)))
                    next += 1
                }
                var isNew = false
                while let item = state.pull() {
                    guard case .frame(_, _, let time) = item else { continue }
                    isNew = true
                    let delay = now - (time - Self.beginning).seconds
                    longest = max(longest, delay)
                    if refresh < 54_000 { early = max(early, delay) } else { late = max(late, delay) }
                }
                if isNew { shown += 1 } else { repeats += 1 }
            }
            let frames = Double(next), refreshes = 108_000.0, dropped = state.statistics.dropped[.late] ?? 0
            // 216 in an hour of 600 millionths.
            #expect(abs(Double(dropped) - max(frames - refreshes, 0)) <= 2, "\(camera), \(display): \(dropped) left out")
            #expect(abs(Double(repeats) - max(refreshes - frames, 0)) <= 2, "\(camera), \(display): \(repeats) repeated")
            #expect(shown + dropped + state.statistics.waiting == next)
            #expect(longest < 1.01 / 30 && abs(early - late) < 0.034, "\(camera), \(display): \(longest)")
        }
    }
}
