import TestSupport
import Testing

@testable import AudioSink

/// Decoded samples in the form and the order that a device takes.
@Suite struct SampleTests {
    @Test func `16-bit samples pass unchanged, what is too loud is clipped`() {
        for value in stride(from: Int(Int16.min), through: Int(Int16.max), by: 1) {
            if DeviceSamples.int16(Float(value) / 32768) != Int16(value) { Issue.record("\(value)") }
        }
        #expect(DeviceSamples.int16(2) == .max && DeviceSamples.int16(-2) == .min && DeviceSamples.int16(.nan) == 0)
        #expect(DeviceSamples.int32(2) == .max && DeviceSamples.int32(-2) == .min && DeviceSamples.int32(0.5) == 1 << 30)
    }

    @Test func `frames are put into the device's order`() {
        let configuration = DeviceConfiguration(
            rate: 48000, channelCount: 6, sampleFormat: .int16, channelOrder: [0, 1, 4, 5, 2, 3], bufferFrames: 1, periodFrames: 1)
        var samples = DeviceSamples(configuration: configuration, maximumFrames: 2)
        let frame: [Float] = [1, 2, 3, 4, 5, 6].map { $0 / 32768 }
        let out = unsafe (frame + frame).withUnsafeBufferPointer { unsafe samples.convert($0) { unsafe Array($0.bindMemory(to: Int16.self)) } }
        #expect(out == [1, 2, 5, 6, 3, 4, 1, 2, 5, 6, 3, 4])
    }

    @Test func `speaker orders`() {
        #expect(ChannelOrder.permutation(from: ChannelOrder.native(6)!, to: ChannelOrder.customary(6)) == [0, 1, 4, 5, 2, 3])
        #expect(ChannelOrder.permutation(from: ChannelOrder.native(8)!, to: ChannelOrder.customary(8)) == [0, 1, 4, 5, 2, 3, 6, 7])
        #expect(ChannelOrder.permutation(from: ChannelOrder.native(4)!, to: ChannelOrder.customary(4)) == [0, 1, 2, 3])
        #expect(ChannelOrder.permutation(from: ChannelOrder.native(6)!, to: [.frontLeft, .frontRight, .other, .lfe, .center, .rearLeft]) == nil)
        for count in 1...8 { #expect(ChannelOrder.native(count)?.count == count && ChannelOrder.layoutName(count) != nil) }
    }

    /// Sound of two channels, the second at half the first's level, through the limiter in pieces of some frames.
    private static func limited(_ sound: [Float], piece: Int, knowsNext: Bool, factor: Float = 1) -> [Float] {
        var limiter = PeakLimiter(rate: 48_000, channelCount: 2), result: [Float] = []
        let all = sound.flatMap { [$0, $0 / 2] }
        for first in stride(from: 0, to: sound.count, by: piece) {
            let end = min(first + piece, sound.count), next = knowsNext ? all[(2 * end)...].prefix(2 * limiter.reach) : []
            var part = all[(2 * first)..<(2 * end)].map { $0 * factor }
            unsafe part.withUnsafeMutableBufferPointer { part in
                unsafe Array(next).withUnsafeBufferPointer { unsafe limiter.apply(to: part, following: $0, factor: factor) }
            }
            result += part
        }
        return result
    }

    @Test(arguments: ["2048 true", "2048 false", "7 true", "7 false", "1 true", "1 false"])
    func `amplified sound never exceeds full scale, and keeps its shape where what follows is known`(row: String) {
        let words = row.split(separator: " "), piece = Int(words[0])!, knowsNext = words[1] == "true"
        var dice = Dice(seed: 11)
        let noise = (0..<10_000).map { _ in Float.random(in: -1...1, using: &dice) }
        #expect(Self.limited(noise, piece: piece, knowsNext: knowsNext, factor: 2.2).allSatisfy { $0.magnitude <= 1 })
        // A quiet tone, and a jump to a level of 2 in its middle.
        let step = (0..<9600).map { Float($0 == 4800 ? 2 : 0.5) }
        let heard = Self.limited(step, piece: piece, knowsNext: knowsNext), left = stride(from: 0, to: heard.count, by: 2).map { heard[$0] }
        #expect(left[4800] == 1 && heard[2 * 4800 + 1] == 0.5, "both channels by the same factor")
        #expect(left[..<4700].allSatisfy { $0 == 0.5 }, "as it was, before")
        let changes = zip(left, left.dropFirst()).map { ($0 - $1).magnitude }
        if knowsNext { #expect(changes[..<4798].allSatisfy { $0 < 0.006 }, "no click before the peak") }
        #expect(zip(left[4801...], left[4802...]).allSatisfy { $0 <= $1 }, "rising again")
        #expect(left[9599] > 0.27 && left[9599] < 0.5)
    }

    @Test func `the limiter leaves alone what is not too loud`() {
        let tone = (0..<2000).map { Float($0 % 100) / 99 }
        #expect(Self.limited(tone, piece: 512, knowsNext: true) == tone.flatMap { [$0, $0 / 2] })
    }

    @Test func `gain walks in a straight line and leaves full volume alone`() {
        var ramp = GainRamp(rate: 1000, gain: 1), samples: [Float] = Array(repeating: 1, count: 40)
        func apply() { unsafe samples.withUnsafeMutableBufferPointer { unsafe ramp.apply(to: $0, channelCount: 2) } }
        apply()
        #expect(samples.allSatisfy { $0 == 1 })
        ramp.set(0)
        apply()
        #expect(abs(samples[0] - 0.9) < 1e-6 && samples[0] == samples[1] && abs(samples[10] - 0.4) < 1e-6 && samples[18] == 0 && samples[39] == 0)
        samples = Array(repeating: 1, count: 40)
        ramp.set(0.5)
        apply()
        #expect(abs(samples[0] - 0.05) < 1e-6 && samples[39] == 0.5)
        samples = Array(repeating: 1, count: 40)
        ramp.set(1)
        ramp.fadeIn()
        apply()
        #expect(abs(samples[0] - 0.1) < 1e-6 && samples[38] == 1)
    }
}
