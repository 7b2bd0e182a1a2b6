import AudioSink
import CAV
import Encoding
import Glibc
import Media
import SampleQueue
import TestSupport
import Testing

@Suite("sound compression session")
struct SoundCompressionTests {
    static let rate: Int32 = 48_000

    /// Two tones, one for each channel, half as loud as possible.
    static func tones(_ count: Int) -> [Float] {
        (0..<count).flatMap { index -> [Float] in
            let time = Double(index) / Double(rate) * 2 * Double.pi
            return [Float(0.5 * sin(440 * time)), Float(0.5 * sin(1000 * time))]
        }
    }

    /// Encodes sound in pieces of random length.
    static func encoded(_ sound: [Float], _ codec: String, start: MediaTime = .zero) throws -> (AudioFormat, [SampleBuffer]) {
        let session = try SoundCompressionSession(
            format: AudioFormat(codecName: codec, sampleRate: rate, channelCount: 2, channelLayout: "stereo"))
        var dice = Dice(seed: 12), samples: [SampleBuffer] = [], first = 0
        while first < sound.count {
            let count = min(2 * Int(dice.next() % 3000), sound.count - first)
            try session.encode(Array(sound[first..<first + count]), time: first == 0 ? start : nil) { samples.append($0) }
            first += count
        }
        try session.completeFrames { samples.append($0) }
        return (session.format, samples)
    }

    /// The first channel of what this project's own decoder makes of it, by the place that its time gives each piece.
    static func decoded(_ format: AudioFormat, _ samples: [SampleBuffer], count: Int) throws -> [Float] {
        let decoder = try AudioDecoder(format: format)
        var sound = [Float](repeating: 0, count: count)
        func receive(_ frame: UnsafePointer<AVFrame>) -> Bool {
            let first = unsafe Int((Double(frame.pointee.pts) * Double(rate) / 1e9).rounded())
            let form = unsafe AVSampleFormat(rawValue: frame.pointee.format)
            let isPlanar = av_sample_fmt_is_planar(form) != 0
            for index in unsafe 0..<Int(frame.pointee.nb_samples) where first + index >= 0 && first + index < count {
                let place = isPlanar ? index : 2 * index
                let memory = unsafe UnsafeRawPointer(frame.pointee.extended_data[0]!)
                sound[first + index] =
                    switch form {
                    case AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_FLTP: unsafe memory.load(fromByteOffset: 4 * place, as: Float.self)
                    case AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P:
                        unsafe Float(Double(memory.load(fromByteOffset: 4 * place, as: Int32.self)) / 2_147_483_648)
                    default: unsafe Float(memory.load(fromByteOffset: 2 * place, as: Int16.self)) / 32_768
                    }
            }
            return true
        }
        for sample in samples {
            guard case .compressed(let block, _) = sample.content else { continue }
            unsafe decoder.decode(block.packet, presentationTime: sample.presentationTime) { unsafe receive($0) }
        }
        unsafe decoder.drain { unsafe receive($0) }
        #expect(decoder.damagedPackets == 0)
        return sound
    }

    @Test(
        "what is encoded is heard again, at its time",
        arguments: [("aac", 15.0), ("opus", 15), ("flac", 120), ("pcm_s16le", 85), ("pcm_f32le", .infinity)])
    func roundTrip(codec: String, leastRatio: Double) throws {
        let count = 48_123, tones = Self.tones(count)
        let (format, samples) = try Self.encoded(tones, codec)
        for (one, next) in zip(samples, samples.dropFirst()) { #expect(one.presentationTime < next.presentationTime) }
        let sound = try Self.decoded(format, samples, count: count)
        // Beginnings and ends of coded sound are blurred.
        var signal = 0.0, noise = 0.0
        for index in 4000..<count - 4000 {
            let wanted = Double(tones[2 * index])
            signal += wanted * wanted
            noise += (Double(sound[index]) - wanted) * (Double(sound[index]) - wanted)
        }
        let ratio = noise == 0 ? .infinity : 10 * log10(signal / noise)
        #expect(ratio >= leastRatio, "\(ratio) dB")
    }

    @Test("samples begin where the sound begins", arguments: ["pcm_s16le", "flac", "aac"])
    func start(codec: String) throws {
        let start = MediaTime(value: 7, timescale: 2)
        let (format, samples) = try Self.encoded(Self.tones(10_000), codec, start: start)
        let delay = MediaTime(value: Int64(format.encoderDelay), timescale: Self.rate)
        #expect(samples.first?.presentationTime == start - delay)
        let end = try #require(samples.last)
        #expect(end.presentationTime + end.duration >= start + MediaTime(value: 10_000, timescale: Self.rate))
    }

    @Test("a codec that cannot be encoded is refused with a list of those that can")
    func errors() throws {
        do throws(EncodingError) {
            _ = try SoundCompressionSession(format: AudioFormat(codecName: "no-such", sampleRate: 48_000, channelCount: 2))
            Issue.record("an unknown codec was taken")
        } catch {
            #expect(error.code == .noEncoder)
            #expect(error.description.hasPrefix("this FFmpeg has no encoder for the sound codec no-such; it encodes aac, "), "\(error)")
        }
        do throws(EncodingError) {
            _ = try SoundCompressionSession(format: AudioFormat(codecName: "flac", sampleRate: 48_000, channelCount: 2), encoder: "aac")
            Issue.record("another codec's encoder was taken")
        } catch {
            #expect(error.description == "this FFmpeg has no sound encoder aac for the sound codec flac; it has flac")
        }
    }

    @Test("a rate and channels that the encoder lacks are converted, said and counted")
    func conversion() throws {
        let wanted = AudioFormat(codecName: "opus", sampleRate: 44_100, channelCount: 2)
        let session = try SoundCompressionSession(format: wanted)
        var samples: [SampleBuffer] = []
        try session.encode(Self.tones(44_100)) { samples.append($0) }
        try session.completeFrames { samples.append($0) }
        let report = try #require(session.conversion)
        #expect(report.from == "44100 Hz, 2 channels" && report.to == "48000 Hz, 2 channels")
        #expect(report.why == "the encoder libopus does not take 44100 Hz, 2 channels")
        #expect(session.format.sampleRate == 48_000 && abs(report.frameCount - 48_000) <= 1, "\(report)")
        let last = try #require(samples.last)
        #expect(abs((last.presentationTime + last.duration).seconds - 1) < 0.000_05)
        // MP3 has two channels at most.
        let many = AudioFormat(codecName: "mp3", sampleRate: 48_000, channelCount: 8)
        if !SoundEncoders.names(for: "mp3").isEmpty { #expect(try SoundCompressionSession(format: many).format.channelCount == 2) }
    }

    @Test("a gap is silence, what overlaps is left out, and all stays in its place")
    func gaps() throws {
        let format = AudioFormat(codecName: "pcm_f32le", sampleRate: Self.rate, channelCount: 2)
        let session = try SoundCompressionSession(format: format), tones = Self.tones(1000)
        var samples: [SampleBuffer] = []
        try session.encode(tones) { samples.append($0) }
        try session.encode(tones, time: MediaTime(value: 900, timescale: Self.rate)) { samples.append($0) }
        try session.encode(tones, time: MediaTime(value: 100_000, timescale: Self.rate)) { samples.append($0) }
        try session.completeFrames { samples.append($0) }
        let sound = try Self.decoded(session.format, samples, count: 101_000), left = stride(from: 0, to: 2000, by: 2).map { tones[$0] }
        #expect(Array(sound[..<1000]) == left && Array(sound[1000..<1900]) == Array(left[100...]))
        #expect(sound[1900..<100_000].allSatisfy { $0 == 0 } && Array(sound[100_000...]) == left)
    }

    @Test("an invalidated session takes nothing, a completed one nothing more")
    func life() throws {
        let session = try SoundCompressionSession(format: AudioFormat(codecName: "flac", sampleRate: 48_000, channelCount: 2))
        var count = 0
        try session.encode(Self.tones(6000)) { _ in count += 1 }
        try session.completeFrames { _ in count += 1 }
        #expect(count > 0)
        do throws(EncodingError) { try session.encode([0, 0]) { _ in } } catch { #expect(error.code == .encoder) }
        session.invalidate()
        do throws(EncodingError) {
            try session.encode([0, 0]) { _ in }
            Issue.record("an invalidated session took sound")
        } catch {
            #expect(error.code == .invalidated)
        }
    }
}
