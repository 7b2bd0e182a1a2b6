import Capture
import Media
import TestSupport
import Testing

@Suite("The times of a microphone's sound") struct SoundStampStateTests {
    private static func at(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: milliseconds * 1_000_000) }

    @Test(
        "come from the driver's stamp and its delay, or where the stamp is of no use from the moment of asking",
        arguments: [
            // 480 frames of 48000 a second are 10 ms.
            (480, 480, 5000, 5001, 4990),
            // The hardware holds 10 ms more.
            (480, 960, 5000, 5001, 4980),
            // A driver that tells no delay.
            (480, 0, 5000, 5001, 4990),
            // Of the future, of another clock, none.
            (480, 480, 5002, 5001, 4991),
            (480, 480, 3000, 5001, 4991),
            (480, 480, 0, 5001, 4991),
        ] as [(Int, Int, Int64, Int64, Int64)])
    func first(available: Int, delay: Int, stamp: Int64, arrival: Int64, expected: Int64) {
        let position = MicrophonePosition(available: available, delay: delay, stamp: Self.at(stamp), arrival: Self.at(arrival))
        #expect(position.firstTime(rate: 48_000) == Self.at(expected))
    }

    @Test("go on evenly where stamps jitter, and follow the device's crystal for hours", arguments: [0, 80e-6, -150e-6] as [Double])
    func drift(drift: Double) {
        var state = SoundStampState(rate: 48_000), dice = Dice(seed: 4), frames = 0, worst = 0.0, last = HostTime.distantPast
        // Two hours of 20 ms blocks, with stamps that come up to 4 ms late.
        for block in 0..<360_000 {
            let captured = 100 + Double(frames) / 48_000 / (1 + drift)
            let stamp = HostTime(nanoseconds: Int64((captured + 0.020 + Double.random(in: 0...0.004, using: &dice)) * 1e9))
            let missing = state.measure(MicrophonePosition(available: 960, delay: 960, stamp: stamp, arrival: stamp))
            let (number, time) = state.take(960)
            guard missing == 0, number == UInt64(frames), time > last else { return #expect(Bool(false), "block \(block)") }
            last = time
            frames += 960
            // On average they are 2 ms late.
            if block > 1500 { worst = max(worst, abs(Double(time.nanoseconds) / 1e9 - captured - 0.002)) }
        }
        #expect(worst < 0.001, "\(worst)")
        #expect(abs(state.drift - drift) < 5e-6, "\(state.drift)")
    }

    @Test(
        "say after an interruption how much is missing",
        arguments: [
            // Read up to 1000 ms; the next frame is of 1000 ms and a half second, of 0 ms, of no time.
            (500, 24_000), (0, 0), (1, 48), (-3, 0),
        ] as [(Int64, Int)])
    func interruption(gap: Int64, expected: Int) {
        var state = SoundStampState(rate: 48_000)
        for block in 0..<50 {
            let stamp = Self.at(Int64(block) * 20 + 20)
            let none = state.measure(MicrophonePosition(available: 960, delay: 960, stamp: stamp, arrival: stamp))
            #expect(none == 0)
            _ = state.take(960)
        }
        state.interrupt()
        let stamp = Self.at(1000 + gap + 20)
        let missing = state.measure(MicrophonePosition(available: 960, delay: 960, stamp: stamp, arrival: stamp))
        #expect(missing == expected)
        let (number, time) = state.take(960)
        #expect(number == 48_000 + UInt64(expected) && time == Self.at(1000 + gap))
        // It was one interruption.
        let after = state.measure(MicrophonePosition(available: 960, delay: 960, stamp: stamp + .milliseconds(20), arrival: stamp + .seconds(1)))
        #expect(after == 0)
    }

    @Test("have nothing missing before the first of them")
    func beginning() {
        var state = SoundStampState(rate: 44_100)
        state.interrupt()
        let missing = state.measure(MicrophonePosition(available: 441, delay: 441, stamp: Self.at(90_000), arrival: Self.at(90_000)))
        let first = state.take(441)
        #expect(missing == 0 && first.number == 0 && first.time == Self.at(89_990))
    }
}
