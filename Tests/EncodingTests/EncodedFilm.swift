import Decoding
import Demuxing
import Encoding
import Glibc
import Media
import PixelConversion
import SampleQueue
import SurfacePool
import TestSupport

/// A film of the project's own, decoded and encoded anew, with everything that went in and came out.
struct EncodedFilm {
    /// The frames as they went in.
    var sources: [FrameBytes] = []
    var times: [MediaTime] = []
    var answers: [EncodeOutput] = []
    /// Of the encoder's samples.
    var format: VideoFormat
    var encoderName = ""
    var conversion: ConversionReport?
    var bytesCopied = 0
    /// Of the decoder, when its frames have been encoded and the decoder is gone.
    var surfacesInUse = 0
    /// The most frames without an answer after a call.
    var mostHeld = 0
    /// Frames answered when half of them had been given and completed; nil without completion.
    var completed: Int?

    struct NoVideo: Error {}

    /// - Parameters:
    ///   - name: In `assets/`.
    ///   - count: The first so many frames.
    ///   - forced: Frames that are to be key frames.
    ///   - completesAt: Everything is answered before this frame.
    ///   - attributes: In place of the track's.
    init(
        _ name: String = "plain.mp4", to codec: VideoCodec, _ options: EncoderOptions = EncoderOptions(), count: Int = 12,
        forced: Set<Int> = [], completesAt: Int? = nil, attributes: FrameAttributes? = nil
    ) throws {
        let reader = try AssetReader(url: TestAssets.path(name))
        guard let track = reader.tracks.first(where: { $0.kind == .video }), case .video(let stream) = track.format else { throw NoVideo() }
        reader.select([track.id])
        var wanted = stream
        wanted.codec = codec
        if let attributes { wanted.attributes = attributes }
        let counters = FrameStatistics()
        let session = try CompressionSession(format: wanted, options: options, statistics: counters)
        // Encoders with a thread for each frame hold as many frames.
        let holdCount = 40 + session.heldFrameCount
        let decoder = try DecompressionSession(format: stream, options: DecoderOptions(threads: 1, holdCount: holdCount))
        format = session.format
        encoderName = session.encoderName
        var film = self
        func encode(_ output: consuming DecodeOutput) throws {
            guard case .frame(let frame) = consume output, film.times.count < count else { return }
            let number = film.times.count
            if number == completesAt {
                try session.completeFrames { film.answers.append($0) }
                film.completed = film.answers.count
            }
            film.sources.append(FrameBytes(frame))
            film.times.append(frame.presentationTime)
            try session.encode(frame, EncodeInstructions(forcesKeyFrame: forced.contains(number))) { film.answers.append($0) }
            film.mostHeld = max(film.mostHeld, film.times.count - film.answers.count)
        }
        var failure: (any Error)?
        func receive(_ output: consuming DecodeOutput) { do { try encode(output) } catch { failure = error } }
        while film.times.count < count, let sample = try reader.nextSample() { try decoder.decode(sample) { receive($0) } }
        decoder.finishDelayedFrames { receive($0) }
        try session.completeFrames { film.answers.append($0) }
        if let failure { throw failure }
        self = film
        bytesCopied = counters.bytesCopied
        conversion = session.conversion
        // The decoder's own references are gone after a flush; what is left is the encoder's.
        decoder.flush { _ in }
        surfacesInUse = decoder.poolStatistics.inUse
    }

    var samples: [SampleBuffer] {
        answers.compactMap { if case .sample(let sample, _) = $0 { sample } else { nil } }
    }

    var byteCount: Int { samples.reduce(0) { $0 + $1.byteCount } }

    struct Decoded {
        var frames: [FrameBytes] = []
        var times: [MediaTime] = []
        var attributes: [FrameAttributes] = []
        var failures = 0
    }

    /// What this project's own decoder makes of the samples.
    func decoded(to layout: PixelFormat? = nil) throws -> Decoded {
        // By the colours that the film has, whatever those of the encoder's samples are.
        let converter = PixelTransferSession(
            to: ConversionTarget(format: layout ?? .yuv420p, matrix: 1, range: .limited, chromaSiting: .left), holdCount: 1)
        let session = try DecompressionSession(format: format, options: DecoderOptions(threads: 1, holdCount: 1))
        var decoded = Decoded()
        func receive(_ output: consuming DecodeOutput) {
            switch consume output {
            case .frame(let frame):
                if layout == nil {
                    decoded.frames.append(FrameBytes(frame))
                } else if let converted = try? converter.convert(frame) {
                    decoded.frames.append(FrameBytes(converted))
                }
                decoded.times.append(frame.presentationTime)
                decoded.attributes.append(frame.attributes)
            default: decoded.failures += 1
            }
        }
        for sample in samples { try session.decode(sample) { receive($0) } }
        session.finishDelayedFrames { receive($0) }
        return decoded
    }

    /// Peak signal to noise ratio of two frames of one 8-bit format, in decibel; infinite for equal ones.
    static func psnr(_ a: FrameBytes, _ b: FrameBytes) -> Double {
        guard a.format == b.format, a.size == b.size, a.bytes.count == b.bytes.count else { return 0 }
        var sum = 0
        for index in a.bytes.indices {
            let difference = Int(a.bytes[index]) - Int(b.bytes[index])
            sum += difference * difference
        }
        return sum == 0 ? .infinity : -10 * log10(Double(sum) / Double(a.bytes.count) / 65_025)
    }
}

extension EncoderOptions {
    /// As fast as the encoder can.
    static func fast(_ name: String? = nil, pixelFormat: PixelFormat = .yuv420p, _ change: (inout EncodingProperties) -> Void = { _ in }) -> Self {
        var properties = EncodingProperties()
        change(&properties)
        let more: [String: String] =
            switch name {
            case "libx264", "libx265": ["preset": "ultrafast"]
            case "libsvtav1": ["preset": "12"]
            case "libaom-av1", "libvpx-vp9": ["cpu-used": "8"]
            case "librav1e": ["speed": "10"]
            default: [:]
            }
        return EncoderOptions(
            specification: EncoderSpecification(name: name), pixelFormat: pixelFormat, properties: properties, encoderOptions: more)
    }
}
