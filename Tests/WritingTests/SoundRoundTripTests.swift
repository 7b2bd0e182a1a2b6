import Encoding
import Glibc
import Media
import Reading
import SampleQueue
import TestSupport
import Testing
import Writing

/// Sound that is encoded, written and read again lies where it lay, to the frame of sound.
@Suite struct SoundRoundTripTests {
    static let rate: Int32 = 48_000

    /// A tone that rises from 200 to 3000 Hz: it resembles itself at no other place.
    static func sweep(_ count: Int, channels: Int, rate: Int32 = rate) -> [Float] {
        let length = Double(count) / Double(rate)
        return (0..<count).flatMap { index -> [Float] in
            let time = Double(index) / Double(rate), turns = 200 * time + 1400 * time * time / length
            let value = Float(0.5 * sin(2 * Double.pi * turns))
            return [Float](repeating: value, count: channels)
        }
    }

    /// Gives the frames of silence that the encoder puts in front.
    static func write(_ sound: [Float], _ wanted: AudioFormat, source: AudioFormat? = nil, to path: String) throws -> Int {
        let session = try SoundCompressionSession(format: wanted, source: source)
        let writer = try AssetWriter(path: path)
        var samples: [SampleBuffer] = []
        try session.encode(sound) { samples.append($0) }
        try session.completeFrames { samples.append($0) }
        let input = try writer.addInput(TrackDescription(format: .audio(session.format), timeBase: Ratio(1, session.format.sampleRate)))
        try writer.start()
        for sample in samples { try input.append(sample) }
        try writer.finish()
        return Int(session.format.encoderDelay)
    }

    /// The first channel, from media time 0 on.
    static func read(_ path: String, rate: Int32? = nil) throws -> (samples: [Float], first: Int64) {
        let output = try AudioTrackOutput(url: path, sampleRate: rate)
        var all: [Float] = [], first: Int64?
        while let buffer = try output.nextBuffer() {
            first = first ?? buffer.position
            all += stride(from: 0, to: buffer.samples.count, by: buffer.channelCount).map { buffer.samples[$0] }
        }
        #expect(output.damagedPacketCount == 0)
        return (all, first ?? -1)
    }

    /// The shift, of -40 to 40 frames of sound, by which `sound` is most like `wanted`, and the ratio of signal to noise there.
    static func place(_ sound: [Float], _ wanted: [Float]) -> (shift: Int, ratio: Double) {
        var best = (shift: 0, ratio: -Double.infinity)
        for shift in -40...40 {
            var signal = 0.0, noise = 0.0
            for index in stride(from: 4000, to: min(wanted.count, sound.count) - 4000, by: 3) {
                let value = Double(wanted[index]), difference = Double(sound[index + shift]) - value
                signal += value * value
                noise += difference * difference
            }
            let ratio = noise == 0 ? .infinity : 10 * log10(signal / noise)
            if ratio > best.ratio { best = (shift, ratio) }
        }
        return best
    }

    /// Containers that cannot say that a codec's first sound is silence of its encoder have all tracks moved, so that it lies at 0.
    struct Case: Sendable, CustomTestStringConvertible {
        var codec: String
        var ending: String
        /// In decibels.
        var leastRatio: Double
        var isMoved = false
        /// A film's time is counted from its first sample, also where that begins with silence that is cut off, as Opus in Matroska does. By
        /// FFmpeg 9 it is counted from what is heard; the 6.5 ms before it are 7 there.
        var beginsAfterDelay = false
        func firsts(_ delay: Int) -> [Int64] { beginsAfterDelay ? [Int64(delay), Int64(delay - 7 * Int(SoundRoundTripTests.rate) / 1000)] : [0] }
        var testDescription: String { "\(codec) in \(ending)" }
    }

    static let cases = [
        Case(codec: "aac", ending: "mp4", leastRatio: 15), Case(codec: "aac", ending: "mov", leastRatio: 15),
        Case(codec: "aac", ending: "mkv", leastRatio: 15, isMoved: true), Case(codec: "opus", ending: "mp4", leastRatio: 15),
        Case(codec: "opus", ending: "mkv", leastRatio: 15, beginsAfterDelay: true),
        Case(codec: "opus", ending: "webm", leastRatio: 15, beginsAfterDelay: true),
        Case(codec: "flac", ending: "mkv", leastRatio: 100), Case(codec: "flac", ending: "mp4", leastRatio: 100),
        Case(codec: "pcm_s16le", ending: "mov", leastRatio: 80), Case(codec: "pcm_f32le", ending: "mkv", leastRatio: .infinity),
        Case(codec: "mp3", ending: "mkv", leastRatio: 15, isMoved: true), Case(codec: "mp3", ending: "mp4", leastRatio: 15),
    ]

    @Test(arguments: cases)
    func `what is read begins, ends and lies where the sound did`(_ one: Case) throws {
        guard !SoundEncoders.names(for: one.codec).isEmpty else { return }
        let scratch = Scratch(), count = 50_123, path = scratch.path("sound.\(one.ending)")
        let sound = Self.sweep(count, channels: 2)
        let delay = try Self.write(sound, AudioFormat(codecName: one.codec, sampleRate: Self.rate, channelCount: 2), to: path)
        let (samples, first) = try Self.read(path), lead = one.isMoved ? delay : 0
        let wanted = stride(from: 0, to: sound.count, by: 2).map { sound[$0] }
        let (shift, ratio) = Self.place(Array(samples.dropFirst(lead)), wanted)
        #expect(one.firsts(delay).contains(first) && samples.count == count + lead, "\(first), \(samples.count)")
        #expect(shift == 0 && ratio >= one.leastRatio, "\(shift), \(ratio) dB")
    }
}
