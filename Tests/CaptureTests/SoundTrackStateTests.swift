import Capture
import Media
import Recording
import TestSupport
import Testing

@Suite("The sound of a recording") struct SoundTrackStateTests {
    private static let zero = HostTime(nanoseconds: 7_000_000_000)

    private static func state(rate: Int = 48_000, trackRate: Int = 48_000) -> SoundTrackState {
        SoundTrackState(rate: rate, trackRate: trackRate, beginning: zero)
    }

    @Test(
        "begins with the film, to the sample",
        arguments: [
            (0, SoundTrackState.Plan(correction: 0)), (30, .init(silence: 1440, correction: 0)), (-5, .init(skipped: 240, correction: 0)),
            (-20, .init(skipped: 960, correction: 0)), (-900, .init(skipped: 960, correction: 0)), (2000, .init(silence: 96_000, correction: 0)),
        ] as [(Int64, SoundTrackState.Plan)])
    func beginning(milliseconds: Int64, expected: SoundTrackState.Plan) {
        var state = Self.state()
        let plan = state.receive(number: 500, count: 960, time: Self.zero + .milliseconds(milliseconds), place: 0)
        #expect(plan == expected)
    }

    @Test("begins to the sample also after blocks from before the film")
    func early() {
        var state = Self.state()
        var plans: [SoundTrackState.Plan] = []
        for block in 0..<4 {
            let time = Self.zero + .milliseconds(-45 + Int64(block) * 20)
            plans.append(state.receive(number: UInt64(block) * 960, count: 960, time: time, place: block < 3 ? 0 : 720))
        }
        #expect(plans == [.init(skipped: 960, correction: 0), .init(skipped: 960, correction: 0), .init(skipped: 240, correction: 0), .init()])
    }

    @Test(
        "has silence where something is missing, and what came by drift is not touched at once",
        arguments: [
            // (number of the block, its time after 1 s in ms, what is done)
            (48_000, 1000, SoundTrackState.Plan()), (48_000, 1003, .init()), (48_000, 1039, .init()), (48_000, 997, .init()),
            (52_800, 1100, .init(silence: 4800, correction: 0)), (48_096, 1002, .init(silence: 96, correction: 0)),
            // A clock that was off by more, with nothing missing by the numbers.
            (48_000, 1041, .init(silence: 1968, correction: 0)), (48_000, 950, .init(skipped: 960, correction: 0)),
        ] as [(UInt64, Int64, SoundTrackState.Plan)])
    func gaps(number: UInt64, milliseconds: Int64, expected: SoundTrackState.Plan) {
        var state = Self.state()
        _ = state.receive(number: 47_040, count: 960, time: Self.zero + .milliseconds(980), place: 47_040)
        let plan = state.receive(number: number, count: 960, time: Self.zero + .milliseconds(milliseconds), place: 48_000)
        #expect(plan == expected)
    }

    @Test(
        "is made longer or shorter once a second, by so little that nobody hears it",
        arguments: [(3, 144), (-3, -144), (0, 0), (20, 240), (-39, -240)] as [(Int64, Int)])
    func corrections(milliseconds: Int64, expected: Int) {
        var state = Self.state()
        _ = state.receive(number: 0, count: 960, time: Self.zero, place: 0)
        var corrections: [Int?] = []
        for block in 1...50 {
            let time = Self.zero + .milliseconds(Int64(block) * 20 + milliseconds)
            corrections.append(state.receive(number: UInt64(block) * 960, count: 960, time: time, place: Int64(block) * 960).correction)
        }
        #expect(corrections == Array(repeating: nil, count: 49) + [expected])
    }

    @Test("of another rate than the microphone's is counted in its own")
    func rates() {
        var state = Self.state(rate: 44_100, trackRate: 48_000)
        let plan = state.receive(number: 0, count: 441, time: Self.zero + .milliseconds(100), place: 0)
        #expect(plan == SoundTrackState.Plan(silence: 4410, correction: 0))
        // 100 ms of silence and 10 ms of sound.
        let next = state.receive(number: 441, count: 441, time: Self.zero + .milliseconds(110), place: 5280)
        #expect(next == SoundTrackState.Plan())
    }

    @Test(
        "stays with the film for hours, whatever the crystal does and whatever gets lost", .unsanitized,
        arguments: [0, 120e-6, 300e-6, -300e-6] as [Double])
    func hours(drift: Double) {
        var stamps = SoundStampState(rate: 48_000), track = Self.state(), dice = Dice(seed: 9)
        var frames = 0, place = 0.0, correction = 0.0, worst = 0.0, silence = 0
        for block in 0..<540_000 {
            // Once an hour a third of a second is lost.
            if block % 180_000 == 90_000 {
                frames += 16_000
                stamps.interrupt()
            }
            let captured = Double(frames) / 48_000 / (1 + drift)
            let stamp = Self.zero + .seconds(captured + 0.020 + Double.random(in: -0.001...0.001, using: &dice))
            _ = stamps.measure(MicrophonePosition(available: 960, delay: 960, stamp: stamp, arrival: stamp + .milliseconds(2)))
            let (number, time) = stamps.take(960)
            let plan = track.receive(number: number, count: 960, time: time, place: Int64(place.rounded()))
            if let new = plan.correction { correction = Double(new) / 48_000 }
            place += Double(plan.silence)
            if block > 0 { silence += plan.silence }
            worst = max(worst, abs(place / 48_000 - captured))
            place += Double(960 - plan.skipped) * (1 + correction)
            frames += 960
        }
        #expect(worst < 0.004, "seconds between sound and film: \(worst)")
        #expect(abs(silence - 3 * 16_000) < 3 * 200, "\(silence)")
    }
}
