import Demuxing
import Encoding
import Glibc
import Media
import PixelConversion
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// A film whose scenes differ in how hard they are to encode, drawn anew for each pass.
private final class Scenes {
    let session: CompressionSession
    private let pool: SurfacePool
    static let size = PixelSize(width: 96, height: 64)
    /// Frames of a scene, 25 a second.
    static let length = 30
    /// The strength of the noise in each scene.
    let noise: [UInt64]
    /// Of every pass: the frames that were given.
    private(set) var given: [[Int]] = []
    /// By frame, the sample of the last pass that made one.
    private(set) var samples: [Int: SampleBuffer] = [:]
    private(set) var answerCounts: [Int] = []
    private(set) var ranges: [[MediaTimeRange]] = [[.all]]

    init(_ codec: VideoCodec, _ options: EncoderOptions, noise: [UInt64]) throws {
        self.noise = noise
        session = try CompressionSession(format: VideoFormat(codec: codec, codedSize: Self.size, frameRate: Ratio(25, 1)), options: options)
        pool = session.makeSourcePool()
    }

    struct NoSurface: Error {}

    var count: Int { noise.count * Self.length }

    static func time(_ number: Int) -> MediaTime { MediaTime(value: Int64(number), timescale: 25) }

    private func frame(_ number: Int) throws -> VideoFrame {
        guard let writer = try pool.acquire() else { throw NoSurface() }
        let strength = noise[number / Self.length]
        var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1
        unsafe writer.withUnsafeMutableBytes { bytes in
            for index in 0..<bytes.count {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                unsafe bytes[index] = UInt8(truncatingIfNeeded: 60 + UInt64(index % 96) + (strength > 0 ? state % strength : 0))
            }
        }
        return VideoFrame(
            use: writer.finish(), visible: PixelRect(x: 0, y: 0, width: Self.size.width, height: Self.size.height),
            presentationTime: Self.time(number), duration: MediaTime(value: 1, timescale: 25), sequence: UInt64(number))
    }

    /// Makes all passes that are asked for.
    func encode() throws {
        var next = ranges[0]
        while !next.isEmpty {
            try session.beginPass()
            var numbers: [Int] = [], answers = 0
            func take(_ answer: consuming EncodeOutput) {
                answers += 1
                guard case .sample(let sample, let receipt) = answer else { return }
                samples[Int((receipt.presentationTime.seconds * 25).rounded())] = sample
            }
            for number in 0..<count where next.contains(where: { $0.contains(Self.time(number)) }) {
                numbers.append(number)
                try session.encode(try frame(number)) { take($0) }
            }
            next = try session.endPass { take($0) }
            given.append(numbers)
            answerCounts.append(answers)
            ranges.append(next)
        }
    }

    var rate: Double { Double(samples.values.reduce(0) { $0 + $1.byteCount }) * 8 * 25 / Double(count) }
}

@Suite struct MultiPassTests {
    private static func options(_ name: String, _ passes: MultiPassOptions, _ change: (inout EncodingProperties) -> Void = { _ in }) -> EncoderOptions
    {
        var options = EncoderOptions.fast(name, change)
        options.passes = passes
        return options
    }

    /// Encoders with statistics of their own; the two slowest with `--full`.
    private static let twoPass = [
        (VideoCodec.h264, "libx264"), (.hevc, "libx265"), (.vp9, "libvpx-vp9"), (.av1, "libaom-av1"), (.av1, "librav1e"),
        (VideoCodec(name: "mpeg4"), "mpeg4"),
    ].filter { codec, name in
        Encoders.names(for: codec).contains(name) && !(TestExtent.isSanitized && name == "libx265")
            && (TestExtent.isFull || !["libaom-av1", "librav1e"].contains(name))
    }

    @Test(arguments: twoPass)
    func `the first pass makes statistics, the others the film at its rate`(codec: VideoCodec, name: String) throws {
        let options = Self.options(name, MultiPassOptions(maximumPassCount: 8)) { $0.averageBitRate = 200_000 }
        let scenes = try Scenes(codec, options, noise: [0, 40, 10, 80])
        try scenes.encode()
        #expect(scenes.given.count >= 2 && scenes.given.allSatisfy { $0.count == scenes.count } && scenes.answerCounts == scenes.given.map(\.count))
        #expect(scenes.ranges.dropLast().allSatisfy { $0 == [.all] } && scenes.samples.count == scenes.count)
        #expect(abs(scenes.rate / 200_000 - 1) < 0.01, "\(scenes.rate) bits a second after \(scenes.given.count) passes")
    }

    /// Encoders of which ranges are encoded again.
    private static let searched = [(VideoCodec.h264, "libx264"), (.hevc, "libx265"), (.av1, "libsvtav1"), (VideoCodec(name: "mjpeg"), "mjpeg")]
        .filter { codec, name in Encoders.names(for: codec).contains(name) && !(TestExtent.isSanitized && ["libx265", "libsvtav1"].contains(name)) }

    @Test(arguments: searched)
    func `ranges that miss a quality are encoded again, and only those`(codec: VideoCodec, name: String) throws {
        let passes = MultiPassOptions(target: .quality(QualityTarget(.psnr, 38, tolerance: 1)), maximumPassCount: 8)
        let options = Self.options(name, passes) { if name != "mjpeg" { $0.keyFrameInterval = Scenes.length } }
        let scenes = try Scenes(codec, options, noise: [20, 60, 20, 60, 20])
        try scenes.encode()
        #expect(scenes.given.count > 1 && scenes.given[0].count == scenes.count && scenes.samples.count == scenes.count)
        for (numbers, ranges) in zip(scenes.given, scenes.ranges).dropFirst() {
            let wanted = (0..<scenes.count).filter { number in ranges.contains { $0.contains(Scenes.time(number)) } }
            #expect(numbers == wanted && ranges != [.all])
        }
        #expect(scenes.answerCounts == scenes.given.map(\.count), "one answer for each frame")
        let again = scenes.given.dropFirst().map(\.count)
        // The first guess suits some scenes of these encoders.
        if ["libx264", "mjpeg"].contains(name) { #expect(again.contains { $0 < scenes.count }, "\(again)") }
    }

    @Test(
        .enabled(if: Encoders.names(for: .av1).contains("libsvtav1"), "FFmpeg has no libsvtav1"),
        .enabled(if: !TestExtent.isSanitized, "a sanitizer sees nothing in libsvtav1, which takes long under it"))
    func `an encoder without statistics comes to its rate by ranges`() throws {
        let options = Self.options("libsvtav1", MultiPassOptions(maximumPassCount: 10)) {
            $0.averageBitRate = 300_000
            $0.keyFrameInterval = Scenes.length
        }
        // What this encoder makes of the same frames depends on how its threads run.
        let faults = try withinAttempts {
            let scenes = try Scenes(.av1, options, noise: [30, 60, 20, 50])
            try scenes.encode()
            #expect(scenes.samples.count == scenes.count)
            #expect(scenes.given.dropFirst().contains { $0.count < scenes.count }, "\(scenes.given.map(\.count))")
            let isMet = abs(scenes.rate / 300_000 - 1) < 0.012
            return isMet ? [] : ["\(scenes.rate) bits a second after \(scenes.given.count) passes"]
        }
        #expect(faults == [])
    }

    @Test func `what makes no sense is a sentence`() throws {
        func sentence(_ name: String, _ codec: VideoCodec, _ passes: MultiPassOptions, _ change: (inout EncodingProperties) -> Void = { _ in })
            -> String
        {
            do {
                _ = try Scenes(codec, Self.options(name, passes, change), noise: [1])
                return ""
            } catch { return "\(error)" }
        }
        let quality = MultiPassOptions(target: .quality(QualityTarget(.psnr, 40)))
        #expect(sentence("libx264", .h264, MultiPassOptions()) == "several passes need a rate or a quality")
        #expect(sentence("ffv1", VideoCodec(name: "ffv1"), MultiPassOptions()) == "the encoder ffv1 keeps no rate")
        #expect(sentence("ffv1", VideoCodec(name: "ffv1"), quality) == "the encoder ffv1 has no quality that could be searched")
        #expect(sentence("libx264", .h264, quality) { $0.averageBitRate = 9000 } == "an encoder keeps either a rate or a quality, not both")
        #expect(sentence("libx264", .h264, MultiPassOptions(maximumPassCount: 1)) == "the number of passes is from 2 to 20")
        let impossible = MultiPassOptions(target: .quality(QualityTarget(.ssim, 1.5)))
        #expect(sentence("libx264", .h264, impossible).hasPrefix("a quality is a similarity from 0.3"))
    }

    @Test func `calls outside their pass are refused`() throws {
        let scenes = try Scenes(.h264, Self.options("libx264", MultiPassOptions()) { $0.averageBitRate = 100_000 }, noise: [5])
        let session = scenes.session
        #expect(throws: EncodingError.self) { _ = try session.endPass { _ in } }
        try session.beginPass()
        #expect(!session.passMakesSamples && session.passNumber == 1)
        #expect(throws: EncodingError.self) { try session.beginPass() }
        #expect(throws: EncodingError.self) { try session.completeFrames { _ in } }
        #expect(throws: EncodingError.self) { try session.flush { _ in } }
        let once = try Scenes(.h264, .fast("libx264"), noise: [5]).session
        #expect(throws: EncodingError.self) { try once.beginPass() }
    }
}
