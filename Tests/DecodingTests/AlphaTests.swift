import Decoding
import Foundation
import Media
import PixelConversion
import SampleQueue
import Sandbox
import SurfacePool
import TestSupport
import Testing

/// The alpha of VP8 and VP9 in WebM: that of libvpx bit by bit, and never a lost frame because of it.
@Suite(.serialized, .unsanitized) struct AlphaTests {
    private static let size = 96 * 80

    private struct Frame: Equatable {
        var format: PixelFormat
        var bytes: [UInt8]
        var isCorrupt: Bool
        var md5: String { Checksum.md5(bytes) }
        var alpha: ArraySlice<UInt8> { bytes[(size * 3 / 2)...] }
        var isOpaque: Bool { alpha.allSatisfy { $0 == 255 } }
    }

    private static func session(
        _ format: VideoFormat, threads: Int = 1, sandbox: SandboxPolicy = .off, requirements: OutputRequirements = OutputRequirements(),
        onNotice: (String) -> Void = { _ in }
    ) throws -> any DecodingSession {
        var options = DecoderOptions(threads: threads, requirements: requirements)
        options.specification.hardware = .disable
        return try DecoderBackends.makeSession(
            for: format, options, sandbox: SandboxedSessionTests.options(sandbox), onNotice: onNotice)
    }

    private static func decode(
        _ samples: some Sequence<SampleBuffer>, with session: any DecodingSession, _ instructions: DecodeInstructions = DecodeInstructions()
    ) throws -> [Frame] {
        var frames: [Frame] = []
        func receive(_ output: consuming DecodeOutput) {
            guard case .frame(let frame) = consume output else { return }
            frames.append(Frame(format: frame.pixelFormat, bytes: FrameBytes(frame).bytes, isCorrupt: frame.flags.contains(.corrupt)))
        }
        for sample in samples { try session.decode(sample, instructions) { receive($0) } }
        session.finishDelayedFrames { receive($0) }
        return frames
    }

    @Test(arguments: [VideoCodec.vp8, .vp9], [(1, SandboxPolicy.off), (4, .off), (2, .decoder)])
    func `frames and alpha are those of libvpx`(_ codec: VideoCodec, _ way: (threads: Int, sandbox: SandboxPolicy)) throws {
        let film = try AlphaFilm(codec)
        defer { film.remove() }
        let (format, samples) = try film.samples(), session = try Self.session(format, threads: way.threads, sandbox: way.sandbox)
        #expect(format.hasAlpha)
        let frames = try Self.decode(samples, with: session), expected = try film.reference()
        #expect(expected.count == 30 && frames.map(\.md5) == expected)
        #expect(frames.allSatisfy { $0.format == .yuva420p && !$0.isOpaque && !$0.isCorrupt })
        // After a flush in mid-film, with samples that are decoded and not shown.
        session.flush { _ in }
        for sample in samples[10..<13] { try session.decode(sample, DecodeInstructions(doNotOutput: true)) { _ in } }
        let rest = try Self.decode(samples[13...], with: session).map(\.md5)
        #expect(rest == Array(expected[13...]))
    }

    /// What lies beside the samples from the fifth on, and whether the frames are said to be damaged.
    private static let damage: [(name: String, isDamaged: Bool, change: @Sendable (_ bytes: [UInt8], _ other: [UInt8]) -> [UInt8]?)] = [
        ("nothing", false, { _, _ in nil }), ("no bytes", false, { _, _ in [] }), ("half of the number", false, { bytes, _ in Array(bytes[..<4]) }),
        ("the number alone", false, { bytes, _ in Array(bytes[..<8]) }),
        ("another number", false, { bytes, _ in [0, 0, 0, 0, 0, 0, 0, 2] + bytes[8...] }),
        ("one byte", true, { bytes, _ in Array(bytes[..<9]) }), ("noise", true, { bytes, _ in bytes[..<8] + bytes[8...].map { $0 ^ 0xa5 } }),
        ("alpha of another size", true, { _, other in other }),
    ]

    @Test(arguments: [VideoCodec.vp8, .vp9], Array(0..<8))
    func `a frame whose alpha is missing or damaged is opaque, and its colours stay`(_ codec: VideoCodec, _ row: Int) throws {
        for threads in [1, 4] { try checkDamage(codec, row, threads) }
    }

    private func checkDamage(_ codec: VideoCodec, _ row: Int, _ threads: Int) throws {
        let film = try Self.films(codec), (format, samples) = film.film, other = film.other
        let damage = Self.damage[row]
        let changed = samples.enumerated().map { index, sample in
            index < 5 ? sample : sample.with(alphaBytes: damage.change(sample.alphaBytes ?? [], other[index].alphaBytes ?? []))
        }
        let frames = try Self.decode(changed, with: try Self.session(format, threads: threads))
        let colors = frames.map { $0.bytes.prefix(Self.size * 3 / 2) }
        #expect(frames.count == 30 && Array(colors.joined()) == film.colors, "\(damage.name)")
        #expect(frames.prefix(5).allSatisfy { !$0.isOpaque && !$0.isCorrupt }, "\(damage.name)")
        // What follows other frames than its own may give anything; the key frame at 10 does not fit.
        for frame in frames[(damage.name == "alpha of another size" ? 10 : 5)...] where damage.name != "noise" {
            #expect(frame.isOpaque && frame.isCorrupt == damage.isDamaged, "\(damage.name)")
        }
    }

    /// A film, another of another size, and the first one's colours; each made once.
    private struct Made: Sendable {
        var film: (format: VideoFormat, samples: [SampleBuffer])
        var other: [SampleBuffer]
        var colors: [UInt8]
    }

    private static let made = Monitor<[VideoCodec: Made]>([:])

    private static func films(_ codec: VideoCodec) throws -> Made {
        if let known = made.withLock({ $0[codec] }) { return known }
        let film = try AlphaFilm(codec), other = try AlphaFilm(codec, size: "64x48")
        defer {
            film.remove()
            other.remove()
        }
        let result = Made(film: try film.samples(), other: try other.samples().samples, colors: try film.colors())
        made.withLock { $0[codec] = result }
        return result
    }

    @Test func `alpha that comes back with a key frame is decoded again`() throws {
        let film = try AlphaFilm(.vp9)
        defer { film.remove() }
        let (format, samples) = try film.samples(), expected = try film.reference()
        let gap = samples.enumerated().map { index, sample in (5..<10).contains(index) ? sample.with(alphaBytes: nil) : sample }
        let frames = try Self.decode(gap, with: try Self.session(format, threads: 2))
        #expect(frames[5..<10].allSatisfy { $0.isOpaque })
        #expect(frames.map(\.md5).enumerated().allSatisfy { (5..<10).contains($0.offset) || $0.element == expected[$0.offset] })
    }

    @Test(arguments: [SandboxPolicy.off, .decoder])
    func `consumers that take no alpha get the decoder's own frames, and one sentence says so`(_ policy: SandboxPolicy) throws {
        let film = try AlphaFilm(.vp9)
        defer { film.remove() }
        let (format, samples) = try film.samples()
        var notices: [String] = []
        let session = try Self.session(format, sandbox: policy, requirements: OutputRequirements(formats: [.yuv420p, .nv12])) { notices.append($0) }
        let frames = try Self.decode(samples, with: session), colors = try film.colors()
        #expect(notices == ["The film has alpha, which is left out: frames in nv12 or yuv420p have none."])
        #expect(frames.allSatisfy { $0.format == .yuv420p } && Array(frames.map(\.bytes).joined()) == colors)
        #expect(session.conversion == nil)
        notices = []
        let both = try Self.session(format, sandbox: policy, requirements: OutputRequirements(formats: [.nv12, .rgba])) { notices.append($0) }
        let converted = try Self.decode(samples, with: both), whole = try Self.decode(samples, with: try Self.session(format))
        #expect(notices.isEmpty && converted.count == 30)
        for (frame, original) in zip(converted, whole) {
            let alpha = stride(from: 3, to: frame.bytes.count, by: 4).map { frame.bytes[$0] }
            #expect(frame.format == .rgba && alpha == Array(original.alpha))
        }
    }

    @Test func `frames that are too large for the memory come without alpha, with a sentence`() throws {
        var format = VideoFormat(codec: .vp9, codedSize: PixelSize(width: 3840, height: 2160))
        format.hasAlpha = true
        for (bytes, isKept) in [(DecoderOptions.defaultMaximumSurfaceBytes, true), (200 << 20, false)] {
            var notices: [String] = [], options = DecoderOptions(threads: 1, maximumSurfaceBytes: bytes)
            options.specification.hardware = .disable
            _ = try DecoderBackends.makeSession(for: format, options) { notices.append($0) }
            let sentence = "The film has alpha, which is left out: frames of 3840x2160 with alpha take more memory than the decoder may use."
            #expect(notices == (isKept ? [] : [sentence]))
        }
    }

    @Test func `a film without alpha has none`() throws {
        let film = try AlphaFilm(.vp9, hasAlpha: false)
        defer { film.remove() }
        let (format, samples) = try film.samples(), frames = try Self.decode(samples, with: try Self.session(format))
        #expect(!format.hasAlpha && frames.count == 30 && frames.allSatisfy { $0.format == .yuv420p })
    }
}
