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
    private let output: any FrameSource
    private let session: CompressionSession
    private let rotator: PixelRotationSession?
    private let range: MediaTimeRange
    private var waiting: SharedFrame?
    private var repeatedFrames = 0
    private(set) var time: MediaTime
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
        var (source, first) = try Self.open(film, track, range, holdCount: Self.spareFrames)
        let shape = ExportShape(track, first, settings.size, turns: !container.hasEditLists)
        let made: CompressionSession
        do throws(EncodingError) { made = try Self.session(codec, settings, shape, first.pixelFormat, statistics) } catch {
            throw .encoding(error, track: track.id)
        }
        if made.heldFrameCount + 2 > Self.spareFrames {
            (source, first) = try Self.open(film, track, range, holdCount: made.heldFrameCount + 2)
        }
        output = source
        session = made
        waiting = first
        rotator = shape.turns ? PixelRotationSession(holdCount: made.heldFrameCount + 2, statistics: statistics) : nil
        time = max(first.presentationTime, range.start)
    }

    /// Frames held beside the decoder's own: as many as the encoders hold that copy what they get.
    private static let spareFrames = 8

    private static func open(
        _ film: ExportSource, _ track: AssetTrack, _ range: MediaTimeRange, holdCount: Int
    ) throws(ExportError) -> (any FrameSource, SharedFrame) {
        do throws(ReadingError) {
            let output = try film.frames(track, range, holdCount)
            if let frame = try output.nextFrame() { return (output, SharedFrame(frame)) }
        } catch { throw .reading(error) }
        throw .settings("\(film.location): track \(track.id) has no frame in the part that is wanted.")
    }

    private static func session(
        _ codec: ExportSettings.Codec, _ settings: ExportSettings, _ shape: ExportShape, _ pixelFormat: PixelFormat,
        _ statistics: FrameStatistics
    ) throws(EncodingError) -> CompressionSession {
        var options = EncoderOptions(specification: EncoderSpecification(name: codec.encoder), pixelFormat: pixelFormat)
        options.encoderOptions = codec.options
        options.properties.averageBitRate = settings.videoBitRate
        options.properties.quality = settings.videoQuality
        options.properties.profile = codec.options["profile"]
        options.encoderOptions["profile"] = nil
        let format = VideoFormat(
            codec: VideoCodec(name: codec.name), codedSize: shape.size, attributes: shape.attributes, frameRate: shape.frameRate)
        let isOwn = ["crf", "b", "qp", "qscale", "global_quality"].contains { codec.options[$0] != nil }
        if settings.videoBitRate == nil, settings.videoQuality == nil, !isOwn {
            // The rate that libavcodec takes otherwise, 200 kbit/s, is none for a film.
            switch codec.name {
            case "vp9", "vp8": options.properties.quality = 0.5
            case "mjpeg": options.properties.quality = 0.9
            default: break
            }
        }
        if codec.name == "vp9" {
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

    var remarks: [String] {
        var remarks: [String] = []
        if let report = session.conversion {
            remarks.append("Track \(track.id): \(report.frames) frames were converted from \(report.from) to \(report.to), because \(report.why).")
        }
        if repeatedFrames > 0 { remarks.append("Track \(track.id): \(repeatedFrames) frames with the time of the frame before were left out.") }
        if output.damagedSampleCount > 0 { remarks.append("Track \(track.id): \(output.damagedSampleCount) samples could not be decoded.") }
        return remarks
    }

    func step(_ receive: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void) throws(ExportError) -> Bool {
        var frame: VideoFrame
        if let first = waiting {
            frame = first.copy()
            waiting = nil
        } else {
            do throws(ReadingError) {
                guard let next = try output.nextFrame() else { return false }
                frame = next
            } catch { throw .reading(error) }
        }
        let begin = max(frame.presentationTime, range.start), stated = frame.duration
        var duration = MediaTime.invalid
        if stated.isNumeric { duration = max(min(frame.presentationTime + stated, range.end) - begin, .zero) }
        time = begin
        if let rotator {
            do throws(PixelConversionError) { frame = try rotator.rotate(frame) } catch {
                throw .reading(ReadingError(.conversion, "\(output.location), at \(begin): \(error.description).", time: begin))
            }
        }
        var answers: [EncodeOutput] = []
        do throws(EncodingError) { try session.encode(frame, time: begin, duration: duration) { answers.append($0) } } catch {
            throw .encoding(error, track: track.id)
        }
        try hand(answers, receive)
        return true
    }

    func complete(_ receive: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void) throws(ExportError) {
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

/// The size and the attributes of exported frames.
struct ExportShape: Sendable {
    var size: PixelSize
    var attributes: FrameAttributes
    var frameRate: Ratio
    /// Frames are turned, because the container cannot say that players must.
    var turns: Bool

    /// - Parameter wanted: As they are stored, after turning; a side of 0 follows from the other.
    init(_ track: AssetTrack, _ frame: SharedFrame, _ wanted: PixelSize?, turns mayTurn: Bool) {
        var attributes = frame.copy().attributes, rate = Ratio.unknown
        if case .video(let format) = track.format {
            if attributes.orientation == .upright { attributes.orientation = format.attributes.orientation }
            if !attributes.pixelAspect.isKnown { attributes.pixelAspect = format.attributes.pixelAspect }
            attributes.hdr = attributes.hdr ?? format.attributes.hdr
            rate = format.frameRate
        }
        frameRate = rate
        var own = frame.visibleSize
        turns = mayTurn && attributes.orientation != .upright && PixelRotationSession.canRotate(frame.pixelFormat)
        if turns {
            if attributes.orientation.isSideways {
                own = PixelSize(width: own.height, height: own.width)
                if attributes.pixelAspect.isKnown {
                    attributes.pixelAspect = Ratio(attributes.pixelAspect.denominator, attributes.pixelAspect.numerator)
                }
            }
            attributes.orientation = .upright
        }
        size = own
        if let wanted, wanted != own {
            func follow(_ side: Int, _ a: Int, _ b: Int) -> Int { Int((Double(side) * Double(a) / Double(max(b, 1))).rounded()) }
            size.width = wanted.width > 0 ? wanted.width : follow(wanted.height, own.width, own.height)
            size.height = wanted.height > 0 ? wanted.height : follow(wanted.width, own.height, own.width)
        }
        // Most encoders need whole chroma samples.
        let facts = frame.pixelFormat.description
        size.width = max(size.width >> facts.chromaShiftX, 1) << facts.chromaShiftX
        size.height = max(size.height >> facts.chromaShiftY, 1) << facts.chromaShiftY
        if wanted != nil, wanted!.width > 0, wanted!.height > 0 {
            attributes.pixelAspect = Self.aspect(attributes.pixelAspect, own, size)
        }
        self.attributes = attributes
    }

    /// The film keeps its shape when it is made narrower or lower.
    private static func aspect(_ aspect: Ratio, _ old: PixelSize, _ new: PixelSize) -> Ratio {
        let from = aspect.isKnown ? aspect : Ratio(1, 1)
        var (a, b) = (Int64(from.numerator) * Int64(old.width * new.height), Int64(from.denominator) * Int64(new.width * old.height))
        var (x, y) = (a, b)
        while y != 0 { (x, y) = (y, x % y) }
        (a, b) = (a / max(x, 1), b / max(x, 1))
        return a <= Int32.max && b <= Int32.max ? Ratio(Int32(a), Int32(b)) : aspect
    }
}
