import Decoding
import Demuxing
import Encoding
import Media
import PixelConversion
import SampleQueue
import Sandbox
import SurfacePool
import TestSupport

/// A film that is decoded in one way and encoded by a device, with what comes out when it is decoded again.
struct TranscodedFilm {
    /// How the frames that are encoded come about.
    enum Source {
        /// By libavcodec, into memory of the system.
        case software
        /// By the device that encodes.
        case device
        /// By the device, which another process drives.
        case process(SandboxOptions)
    }

    var answers: [EncodeOutput] = []
    /// Copied between decoder and encoder.
    var bytesCopied = 0
    var conversion: ConversionReport?
    var label = ""
    var format: VideoFormat
    /// Memory kinds of the frames that were encoded.
    var kinds: Set<SurfaceMemory.Kind> = []
    /// The most frames without an answer after a call, and as many as the session said that it may hold.
    var mostHeld = 0, heldFrameCount = 0

    /// - Parameters:
    ///   - count: The first so many frames.
    ///   - forced: Frames that are to be key frames.
    init(
        _ name: String, from source: Source, _ options: EncoderOptions = .device(), count: Int = 24, forced: Set<Int> = [],
        attributes: FrameAttributes? = nil
    ) throws {
        let reader = try AssetReader(url: TestAssets.path(name))
        guard let track = reader.tracks.first(where: { $0.kind == .video }), case .video(let stream) = track.format else {
            throw HardwareFilm.NoVideo()
        }
        reader.select([track.id])
        var wanted = stream
        wanted.codec = .h264
        if let attributes { wanted.attributes = attributes }
        let counters = FrameStatistics(), session = try CompressionSession(format: wanted, options: options, statistics: counters)
        (format, label, heldFrameCount) = (session.format, session.encoderLabel, session.heldFrameCount)
        let decoder: any DecodingSession
        switch source {
        case .software:
            decoder = try DecompressionSession(format: stream, options: DecoderOptions(threads: 1, holdCount: 8, specification: .software))
        case .device:
            decoder = try DecompressionSession(format: stream, options: DecoderOptions(threads: 1, holdCount: 8, specification: .required))
        case .process(let sandbox):
            let held = DecoderOptions(threads: 1, holdCount: 8, specification: .required)
            decoder = try SandboxedSession(format: stream, options: held, sandbox: sandbox)
        }
        var film = self, given = 0, failure: (any Error)?
        func encode(_ output: consuming DecodeOutput) {
            guard case .frame(let frame) = consume output, given < count else { return }
            film.kinds.insert(frame.surface.memoryKind)
            let instructions = EncodeInstructions(forcesKeyFrame: forced.contains(given))
            given += 1
            do { try session.encode(frame, instructions) { film.answers.append($0) } } catch { failure = error }
            film.mostHeld = max(film.mostHeld, given - film.answers.count)
        }
        while given < count, let sample = try reader.nextSample() { try decoder.decode(sample) { encode($0) } }
        if given < count { decoder.finishDelayedFrames { encode($0) } }
        try session.completeFrames { film.answers.append($0) }
        if let failure { throw failure }
        film.bytesCopied = counters.bytesCopied
        film.conversion = session.conversion
        self = film
    }

    var samples: [SampleBuffer] { answers.compactMap { if case .sample(let sample, _) = $0 { sample } else { nil } } }

    var failures: [EncodingError] { answers.compactMap { if case .failed(_, let error) = $0 { error } else { nil } } }

    /// Numbers of the frames that are key frames.
    var keys: [Int] {
        answers.compactMap { if case .sample(let sample, let receipt) = $0, sample.flags.contains(.sync) { Int(receipt.number) } else { nil } }
    }

    /// Hash and time of every frame when software decodes the samples.
    func decoded() throws -> Frames { try Frames(of: samples, format) }

    /// The same of the film itself.
    static func reference(_ name: String, count: Int = 24) throws -> Frames {
        let reader = try AssetReader(url: TestAssets.path(name))
        guard let track = reader.tracks.first(where: { $0.kind == .video }), case .video(let format) = track.format else {
            throw HardwareFilm.NoVideo()
        }
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        return try Frames(of: samples, format, count: count)
    }

    struct Frames: Equatable {
        var hashes: [String] = []
        var times: [MediaTime] = []

        init(of samples: [SampleBuffer], _ format: VideoFormat, count: Int = .max) throws {
            let session = try DecompressionSession(format: format, options: DecoderOptions(threads: 1, holdCount: 1, specification: .software))
            var frames = self
            func receive(_ output: consuming DecodeOutput) {
                guard case .frame(let frame) = consume output, frames.hashes.count < count else { return }
                frames.hashes.append(FrameBytes(frame).md5)
                frames.times.append(frame.presentationTime)
            }
            for sample in samples { try session.decode(sample) { receive($0) } }
            session.finishDelayedFrames { receive($0) }
            self = frames
        }
    }
}

extension EncoderOptions {
    /// For the software driver: nothing else encodes.
    static func device(
        _ hardware: EncoderSpecification.Hardware = .require, _ change: (inout EncodingProperties) -> Void = { _ in }
    ) -> EncoderOptions {
        var properties = EncodingProperties()
        change(&properties)
        return EncoderOptions(
            specification: EncoderSpecification(hardware: hardware, device: SoftwareVADriver.device), properties: properties)
    }

    /// Main with B-frames, as the driver encodes it.
    static var deviceReordering: EncoderOptions {
        var options = EncoderOptions.device { $0.profile = "main" }
        options.encoderOptions["coder"] = "cavlc"
        return options
    }
}
