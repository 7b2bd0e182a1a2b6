import Foundation
import Media
import TestSupport
import Testing

@testable import Encoding

@Suite("Sound whose clock runs otherwise than its rate says") struct SoundConversionTests {
    /// Ten seconds with a beep of 1000 Hz at each full second.
    private static func beeps(_ rate: Int) -> [Float] {
        let step = 2 * Double.pi * 1000 / Double(rate)
        return (0..<10 * rate).map { index -> Float in
            guard index >= rate, index % rate < rate / 10 else { return 0 }
            return Float(0.5 * sin(Double(index) * step))
        }
    }

    /// Converts pieces of 20 ms, with a correction each second, as a recording does.
    private static func convert(_ sound: [Float], from rate: Int, correction: Int) throws -> [Float] {
        func format(_ rate: Int) -> AudioFormat { AudioFormat(codecName: "pcm_f32le", sampleRate: Int32(rate), channelCount: 1) }
        let conversion = try SoundConversion(from: format(rate), to: format(48_000), isCorrectable: true), piece = rate / 50
        var result: [Float] = []
        for (number, first) in stride(from: 0, to: sound.count, by: piece).enumerated() {
            if correction != 0, number % 50 == 1 { conversion.correct(by: correction, over: 48_000) }
            try conversion.convert(sound[first..<first + piece], into: &result)
            let due = Double(first + piece) * 48_000 / Double(rate), place = Double(result.count) + Double(conversion.heldFrameCount)
            #expect(abs(place - due) <= Double(abs(correction) * (number / 50 + 1)) + 4, "what it holds is counted")
        }
        try conversion.convert(nil, into: &result)
        return result
    }

    @Test(
        "is made longer or shorter by what is asked, evenly and without a break",
        arguments: [(48_000, 5), (48_000, -240), (44_100, 240), (44_100, 0)])
    func corrections(rate: Int, correction: Int) throws {
        let result = try Self.convert(Self.beeps(rate), from: rate, correction: correction)
        #expect(abs(result.count - 480_000 - 10 * correction) <= 40, "\(result.count)")
        let beeps = BeepDetector().beeps(in: result.map(Double.init))
        try #require(beeps.count == 9, "\(beeps)")
        for (number, beep) in beeps.enumerated() {
            let expected = Double(number + 1) * (1 + Double(correction) / 48_000)
            #expect(abs(beep.time - expected) < 0.001 && abs(beep.length - 0.1) < 0.004 && abs(beep.level - 0.5) < 0.01, "\(beep)")
        }
    }

    @Test("stays what it is while nothing is corrected")
    func unchanged() throws {
        let sound = Self.beeps(48_000), result = try Self.convert(sound, from: 48_000, correction: 0)
        #expect(abs(result.count - sound.count) <= 1)
        #expect(zip(sound, result).allSatisfy { abs($0 - $1) < 0.02 })
    }
}
