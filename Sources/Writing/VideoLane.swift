internal import Decoding
internal import Demuxing
internal import Encoding
internal import Glibc
internal import Media
internal import PixelConversion
internal import Reading
internal import SampleQueue
internal import SurfacePool

/// Decodes and encodes a track of video. The encoder reads frames where the decoder wrote them, unless it takes another form.
final class VideoLane: ExportLane {
    let track: AssetTrack
    let output: any FrameSource
    private let session: CompressionSession
    private let rotator: PixelRotationSession?
    /// The frames have alpha, and what they are encoded to has none.
    let losesAlpha: Bool
    let range: MediaTimeRange
    /// nil for one pass.
    let passes: PassRun?
    private var waiting: SharedFrame?
    private var repeatedFrames = 0
    /// Where the last frame of the last pass ends.
    var lastTime = MediaTime.zero
    /// Why the film could be read only up to some point, in passes.
    var unreadable: ExportError?
    var time: MediaTime
    /// Set once before the first step.
    var input: AssetWriterInput?

    /// - Parameter container: Those without a place for a rotation get frames that are turned.
    /// - Throws: `.settings` when the range holds no frame.
    init(
        _ film: ExportSource, _ track: AssetTrack, _ codec: ExportSettings.Codec, _ settings: ExportSettings, _ container: FileContainer,
        _ statistics: FrameStatistics
    ) throws(ExportError) {
        self.track = track
        range = settings.timeRange
        // Encoders with threads for frames hold two and one for each.
        let wantsDevice = settings.hardware != .disable || codec.isForDevice
        let demand = FrameDemand(holdCount: Self.spareFrames, isForDevice: wantsDevice)
        var (source, first) = try Self.open(film, track, range, demand)
        let shape = ExportShape(track, first, settings.size, turns: !container.hasEditLists)
        func makeSession(for first: SharedFrame) throws(ExportError) -> CompressionSession {
            let pixelFormat = Self.pixelFormat(first.pixelFormat, codec, container)
            do throws(EncodingError) { return try Self.session(codec, settings, shape, pixelFormat, statistics) } catch {
                throw .encoding(error, track: track.id)
            }
        }
        var made = try makeSession(for: first)
        let needed = FrameDemand(holdCount: max(made.heldFrameCount + 2, Self.spareFrames), isForDevice: made.isHardware)
        if needed != demand {
            (source, first) = try Self.open(film, track, range, needed)
            // The frames of software have another layout than those of the device that does not encode them.
            if wantsDevice, !made.isHardware { made = try makeSession(for: first) }
        }
        output = source
        session = made
        var hadAlpha = first.pixelFormat.description.hasColorAndAlpha
        // The decoder may have left it out.
        if case .video(let format) = track.format, format.hasAlpha { hadAlpha = true }
        losesAlpha = hadAlpha && !made.pixelFormat.description.hasAlpha
        waiting = first
        do throws(EncodingError) { passes = settings.passes == nil ? nil : try PassRun(made) } catch {
            throw .encoding(error, track: track.id)
        }
        rotator = shape.turns ? PixelRotationSession(holdCount: made.heldFrameCount + 2, statistics: statistics) : nil
        time = max(first.presentationTime, range.start)
    }

    /// Frames held beside the decoder's own: as many as the encoders hold that copy what they get.
    private static let spareFrames = 8

    private static func open(
        _ film: ExportSource, _ track: AssetTrack, _ range: MediaTimeRange, _ demand: FrameDemand
    ) throws(ExportError) -> (any FrameSource, SharedFrame) {
        do throws(ReadingError) {
            let output = try film.frames(track, range, demand)
            if let frame = try output.nextFrame() { return (output, SharedFrame(frame)) }
        } catch { throw .reading(error) }
        throw .settings("\(film.location): track \(track.id) has no frame in the part that is wanted.")
    }

    /// What frames are encoded from: without alpha where the container has no place for it.
    private static func pixelFormat(_ own: PixelFormat, _ codec: ExportSettings.Codec, _ container: FileContainer) -> PixelFormat {
        guard own.description.hasColorAndAlpha, codec.name == "vp9" || codec.name == "vp8", !container.holdsAlphaBesideSamples else { return own }
        return own.withoutAlpha ?? .yuv420p
    }

    /// 0.1 bit for a pixel: what an encoder without a quality needs for most films.
    private static func usualRate(_ shape: ExportShape) -> Int {
        let rate = shape.frameRate.isKnown ? shape.frameRate.doubleValue : 25
        return max(Int(Double(shape.size.width * shape.size.height) * rate / 10), 200_000)
    }

    private static func session(
        _ codec: ExportSettings.Codec, _ settings: ExportSettings, _ shape: ExportShape, _ pixelFormat: PixelFormat,
        _ statistics: FrameStatistics
    ) throws(EncodingError) -> CompressionSession {
        var options = EncoderOptions(
            specification: EncoderSpecification(hardware: settings.hardware, name: codec.encoder, device: settings.device), pixelFormat: pixelFormat)
        options.encoderOptions = codec.options
        options.properties.averageBitRate = settings.videoBitRate
        options.properties.quality = settings.videoQuality
        options.passes = settings.passes
        options.properties.profile = codec.options["profile"]
        options.encoderOptions["profile"] = nil
        let format = VideoFormat(
            codec: VideoCodec(name: codec.name), codedSize: shape.size, attributes: shape.attributes, frameRate: shape.frameRate)
        let isOwn = ["crf", "b", "qp", "qscale", "global_quality"].contains { codec.options[$0] != nil }
        if settings.videoBitRate == nil, settings.videoQuality == nil, settings.passes == nil, !isOwn {
            // The rate that libavcodec takes otherwise, 200 kbit/s, is none for a film.
            switch codec.name {
            case "vp9": options.properties.quality = 0.5
            case "vp8": options.properties.averageBitRate = usualRate(shape)
            case "mjpeg": options.properties.quality = 0.9
            default: break
            }
        }
        if let distance = settings.syncDistance, !["mjpeg", "prores", "ffv1"].contains(codec.name), codec.options["g"] == nil {
            options.properties.keyFrameIntervalDuration = distance
        }
        // Of libvpx.
        if codec.name == "vp9", settings.hardware == .disable, !codec.isForDevice {
            for (key, value) in ["cpu-used": "4", "row-mt": "1"] where codec.options[key] == nil { options.encoderOptions[key] = value }
        }
        return try CompressionSession(format: format, options: options, statistics: statistics)
    }

    /// What the container is told.
    var description: TrackDescription {
        var description = TrackDescription(track)
        description.format = .video(session.format)
        return description
    }

    /// Which device encodes, or why software does although a device was preferred.
    var deviceNotice: String? {
        if session.isHardware { return "Track \(track.id) is encoded by \(session.encoderLabel)." }
        return session.reason.map { "Track \(track.id) is encoded by software (\(session.encoderName)), because \($0)." }
    }

    var remarks: [String] {
        var remarks: [String] = []
        if let report = session.conversion {
            remarks.append("Track \(track.id): \(report.frames) frames were converted from \(report.from) to \(report.to), because \(report.why).")
        }
        let repeatedFrames = passes?.repeatedFrames ?? repeatedFrames
        if repeatedFrames > 0 { remarks.append("Track \(track.id): \(repeatedFrames) frames with the time of the frame before were left out.") }
        if output.damagedSampleCount > 0 { remarks.append("Track \(track.id): \(output.damagedSampleCount) samples could not be decoded.") }
        if let passes {
            remarks.append(
                "Track \(track.id) was encoded in \(passes.passNumber) passes: \(passes.firstFrameCount) frames in the first one, "
                    + "\(passes.frameCount - passes.firstFrameCount) in the others.")
            if let remark = passes.remark { remarks.append("Track \(track.id): \(remark)") }
        }
        return remarks
    }

    /// A frame in the form in which it is encoded, with its place in the part that is wanted.
    struct Taken: ~Copyable {
        var frame: VideoFrame
        let begin: MediaTime
        let duration: MediaTime
    }

    func nextFrame() throws(ExportError) -> Taken? {
        var frame: VideoFrame
        if let first = waiting {
            frame = first.copy()
            waiting = nil
        } else {
            do throws(ReadingError) {
                guard let next = try output.nextFrame() else { return nil }
                frame = next
            } catch { throw .reading(error) }
        }
        let begin = max(frame.presentationTime, range.start), stated = frame.duration
        var duration = MediaTime.invalid
        if stated.isNumeric { duration = max(min(frame.presentationTime + stated, range.end) - begin, .zero) }
        if let rotator {
            do throws(PixelConversionError) { frame = try rotator.rotate(frame) } catch {
                throw .reading(ReadingError(.conversion, "\(output.location), at \(begin): \(error.description).", time: begin))
            }
        }
        return Taken(frame: frame, begin: begin, duration: duration)
    }

    func step(_ receive: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void) throws(ExportError) -> Bool {
        if let passes { return try handKept(passes, receive) }
        guard let next = try nextFrame() else { return false }
        let (begin, duration) = (next.begin, next.duration)
        time = begin
        var answers: [EncodeOutput] = []
        do throws(EncodingError) { try session.encode(next.frame, time: begin, duration: duration) { answers.append($0) } } catch {
            throw .encoding(error, track: track.id)
        }
        try hand(answers, receive)
        return true
    }

    func complete(_ receive: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void) throws(ExportError) {
        guard passes == nil else { return }
        var answers: [EncodeOutput] = []
        do throws(EncodingError) { try session.completeFrames { answers.append($0) } } catch { throw .encoding(error, track: track.id) }
        try hand(answers, receive)
    }

    private func hand(
        _ answers: [EncodeOutput], _ receive: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void
    ) throws(ExportError) {
        guard let input else { return }
        for answer in answers {
            switch answer {
            case .sample(let sample, _):
                do throws(WritingError) { try receive(sample, input) } catch { throw .output(error) }
            case .dropped: break
            case .failed(_, let error):
                guard error.code == .time else { throw .encoding(error, track: track.id) }
                repeatedFrames += 1
            }
        }
    }

    func cancel() { output.cancel() }
}
