import Media
import Player
import Testing

@Suite struct LiveLatencyStateTests {
    private static let second: Int64 = 1_000_000_000

    private static func host(_ seconds: Double) -> HostTime { HostTime(nanoseconds: Int64((seconds * 1e9).rounded())) }
    private static func media(_ seconds: Double) -> MediaTime { MediaTime(nanoseconds: Int64((seconds * 1e9).rounded())) }

    /// A sender of 25 samples a second has run for 10 s: its edge is at 10 s when CLOCK_MONOTONIC reads 110.
    private static func steady(target: Double) -> LiveLatencyState {
        var state = LiveLatencyState(target: target)
        for number in 1...250 { state.arrived(Int64(number) * 40_000_000, at: host(100 + Double(number) * 0.04)) }
        return state
    }

    @Test(arguments: [
        // Latency wanted, latency, what is done.
        (0.5, 0.5, LiveLatencyState.Action.play(1)), (0.5, 0.53, .play(1)), (0.5, 0.47, .play(1)), (0.5, 0.58, .play(1.02)), (0.5, 0.9, .play(1.05)),
        (0.5, 1.4, .play(1.05)), (0.5, 0.42, .play(0.98)), (0.5, 0.1, .play(0.95)), (0.5, -1, .play(0.95)), (2, 2.3, .play(1.05)),
        (0.5, 1.6, .jump(to: MediaTime(nanoseconds: 9_500_000_000))), (2, 9, .jump(to: MediaTime(nanoseconds: 8_000_000_000))),
    ]) func `what is above the target is caught up, what is far above is left out`(target: Double, latency: Double, action: LiveLatencyState.Action) {
        var state = Self.steady(target: target)
        let found = state.decide(position: Self.media(10 - latency), at: Self.host(110))
        guard case .jump(let wanted) = action, case .jump(let goal) = found else {
            #expect(found == action)
            return
        }
        #expect(abs((goal - wanted).seconds) < 0.001)
    }

    @Test func `catching up ends at the target, and not at the edge of what is left alone`() {
        var state = Self.steady(target: 0.5)
        let actions = [9.38, 9.48, 9.5, 9.48].map { state.decide(position: Self.media($0), at: Self.host(110)) }
        #expect(actions == [.play(1.03), .play(1.01), .play(1), .play(1)])
    }

    @Test func `what has not come cannot be caught up with, nor jumped to`() {
        var state = Self.steady(target: 0.5)
        // The sender has been silent for 5 s.
        let actions = [9.95, 9.2].map { state.decide(position: Self.media($0), at: Self.host(115)) }
        #expect(actions == [.play(1), .play(1.05)])
    }

    @Test(arguments: [(0.3, 0.31, true), (0.3, 0.2, false), (2, 0.51, true), (2, 0.4, false), (0.3, -1, false)])
    func `a film that ran dry goes on once its latency has come, or half a second`(target: Double, ahead: Double, isFed: Bool) {
        #expect(Self.steady(target: target).isFed(Self.media(10 - ahead)) == isFed)
        #expect(!LiveLatencyState(target: target).isFed(.zero))
    }

    @Test func `what the demuxer holds back is in the latency, and a film that ran dry does not wait for it`() {
        var state = LiveLatencyState(target: 0.3)
        for number in 1...250 {
            let at = 100 + Double(number) * 0.04
            state.arrived(Int64(number) * 40_000_000, at: Self.host(at), handedOutAt: Self.host(at + 0.08))
        }
        #expect(abs((state.latency(of: Self.media(9.7), at: Self.host(110)) ?? 0) - 0.3) < 0.001)
        #expect(state.isFed(Self.media(9.77)) && !state.isFed(Self.media(9.8)))
        #expect(state.heldLatency(at: Self.host(110)) == 0.3)
    }

    @Test func `no less is held than the demuxer holds back`() {
        var state = LiveLatencyState(target: 0.05)
        for number in 1...250 {
            let at = 100 + Double(number) * 0.04
            state.arrived(Int64(number) * 40_000_000, at: Self.host(at), handedOutAt: Self.host(at + 0.08))
        }
        #expect(abs(state.heldLatency(at: Self.host(110)) - 0.18) < 0.001)
        #expect(!state.isFed(Self.media(9.96)))
    }

    @Test func `after a jump the film has time to get there`() {
        var state = Self.steady(target: 0.5)
        guard case .jump = state.decide(position: Self.media(1), at: Self.host(110)) else {
            Issue.record("9 s behind is far behind")
            return
        }
        let action = state.decide(position: Self.media(1), at: Self.host(110.1))
        #expect(action == .play(1.05))
    }

    @Test func `a sample that comes sooner than expected shows at once where the sender is`() {
        var state = Self.steady(target: 0.5)
        // Everything so far had waited for 3 s on its way.
        state.arrived(13 * Self.second, at: Self.host(110))
        #expect(abs((state.latency(of: Self.media(10), at: Self.host(110)) ?? 0) - 3) < 0.001)
    }

    @Test func `an outage that is made up for moves neither the edge nor the target`() {
        var state = Self.steady(target: 0.5)
        for number in 251...350 { state.arrived(Int64(number) * 40_000_000, at: Self.host(max(114, 100 + Double(number) * 0.04))) }
        #expect(abs((state.latency(of: Self.media(14), at: Self.host(114.1)) ?? 0) - 0.1) < 0.02)
        #expect(state.heldLatency(at: Self.host(114.1)) == 0.5)
    }

    @Test func `a sender that goes on later where it stopped is believed after a while`() {
        var state = Self.steady(target: 0.5)
        for number in 251...400 { state.arrived(Int64(number) * 40_000_000, at: Self.host(105 + Double(number) * 0.04)) }
        #expect(abs((state.latency(of: Self.media(16), at: Self.host(121)) ?? 0)) < 0.05)
    }

    @Test func `samples that come in parts of four seconds need a latency of four seconds`() {
        var state = LiveLatencyState(target: 1, window: .seconds(10))
        for part in 0..<10 {
            for number in 1...100 {
                let media = Int64(part) * 4 * Self.second + Int64(number) * 40_000_000
                state.arrived(media, at: Self.host(100 + Double(part + 1) * 4 + Double(number) * 0.001))
            }
        }
        #expect((3.9...4.2).contains(state.heldLatency(at: Self.host(141))), "\(state.heldLatency(at: Self.host(141)))")
        #expect(abs((state.latency(of: Self.media(36), at: Self.host(140.1)) ?? 0) - 4) < 0.1)
    }

    @Test func `nothing is decided before anything has come`() {
        var state = LiveLatencyState(target: 0.5)
        let action = state.decide(position: .zero, at: Self.host(1))
        #expect(action == .play(1))
        #expect(state.latency(of: .zero, at: Self.host(1)) == nil && state.livePosition(at: Self.host(1)) == nil)
    }
}
