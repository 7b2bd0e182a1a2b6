internal import Capture
internal import Demuxing
internal import Encoding
internal import Media
internal import SampleQueue
internal import SurfacePool
internal import Writing

/// The frames of a recording: an encoder that works in real time, and its track of the file.
///
/// Thread-safety: one thread.
final class MovieVideoTrack {
    private let encoder: CompressionSession
    private let input: AssetWriterInput
    /// Frames that went in, and those of which a sample has come.
    private var received = 0
    private(set) var frames = 0
    private(set) var time = MediaTime.zero
    /// Told of the bytes of each sample that is written.
    var onSample: (Int) -> Void = { _ in }

    /// Opens the encoder and adds the track to the writer, whose number is 0.
    init(_ format: ActiveFormat, _ settings: MovieFileSettings, to writer: AssetWriter) throws(ExportError) {
        let codec = settings.videoCodec ?? (writer.container == .webm ? "vp9" : "h264")
        var encoding = EncoderOptions(
            specification: EncoderSpecification(hardware: settings.hardware, device: settings.device), pixelFormat: format.pixelFormat)
        encoding.properties.isRealTime = true
        encoding.properties.averageBitRate = settings.videoBitRate
        if settings.videoBitRate == nil, codec != "h264", codec != "hevc" { encoding.properties.quality = 0.5 }
        let attributes = FrameAttributes(pixelAspect: format.pixelAspect, color: format.color)
        let wanted = VideoFormat(codec: VideoCodec(name: codec), codedSize: format.size, attributes: attributes, frameRate: format.rate)
        do throws(EncodingError) { encoder = try Self.encoder(wanted, encoding) } catch { throw .encoding(error, track: 0) }
        do throws(WritingError) {
            // Nanoseconds of the camera, to what films count in.
            input = try writer.addInput(TrackDescription(format: .video(encoder.format), timeBase: Ratio(1, 90_000)))
        } catch { throw .output(error) }
    }

    /// An encoder that works in real time. One of single frames, as of Motion-JPEG, has no such property and needs none; a thread for each of several
    /// frames would hold the camera's back.
    private static func encoder(_ format: VideoFormat, _ options: EncoderOptions) throws(EncodingError) -> CompressionSession {
        do throws(EncodingError) { return try CompressionSession(format: format, options: options) } catch {
            guard error.code == .unsupportedProperty else { throw error }
            var options = options
            options.properties.isRealTime = nil
            options.encoderOptions["threads"] = "1"
            return try CompressionSession(format: format, options: options)
        }
    }

    /// What encodes, with its driver and device.
    var encoderLabel: String { encoder.encoderLabel }
    /// Why no device encodes although that was preferred.
    var softwareReason: String? { encoder.reason }

    /// Frames that the encoder has taken and not answered.
    var framesHeld: Int { received - frames }

    /// 1 ms, in which Matroska counts: frames that are said to come closer are that far apart in the film.
    private static let shortest = MediaTime(value: 1, timescale: 1000)

    func add(_ frame: SharedFrame, at time: MediaTime) throws(ExportError) {
        let time = received == 0 ? time : max(time, self.time + Self.shortest)
        received += 1
        self.time = time
        try encode { encoder, receive throws(EncodingError) in
            try encoder.encode(frame.copy(), time: time, duration: frame.duration, output: receive)
        }
    }

    func finish() throws(ExportError) {
        try encode { encoder, receive throws(EncodingError) in try encoder.completeFrames(output: receive) }
        input.markAsFinished()
    }

    /// Nothing more comes, because the recording has failed.
    func markAsFinished() { input.markAsFinished() }

    /// Lets the encoder work and writes what comes of it.
    private func encode(_ body: (CompressionSession, (EncodeOutput) -> Void) throws(EncodingError) -> Void) throws(ExportError) {
        var answers: [EncodeOutput] = []
        do throws(EncodingError) { try body(encoder) { answers.append($0) } } catch { throw .encoding(error, track: 0) }
        for answer in answers {
            switch answer {
            case .sample(let sample, _):
                do throws(WritingError) { try input.append(sample) } catch { throw .output(error) }
                onSample(sample.byteCount)
                frames += 1
            case .dropped: received -= 1
            case .failed(_, let error): throw .encoding(error, track: 0)
            }
        }
    }
}
