public import Capture
internal import Demuxing
internal import Encoding
public import Media
public import Player
internal import SampleQueue
internal import SurfacePool
public import Writing

/// Records a camera into a file, with or without the sound of a microphone: what `play record` does.
///
/// Each frame has the time at which it was captured, counted from the first one; where frames were lost, the one before stays longer. Sound has
/// its time on the same clock; see `MicrophoneTrack`. A camera or a microphone that is unplugged ends the film, which is whole.
///
/// Thread-safety: `run` once, on one thread, which it blocks.
public final class CameraRecording {
    /// How a camera is recorded.
    public struct Options: Sendable {
        /// The codec by FFmpeg's name; nil: vp9 for WebM, else h264.
        public var codec: String?
        /// Bits a second; nil: the encoder's usual quality.
        public var bitRate: Int?
        /// Ends after this much time; nil: when told to.
        public var duration: MediaTime?
        /// Whether a camera that is unplugged is waited for. The frame before stays until it is back.
        public var reconnects = false
        /// Called with sentences for the viewer, on any thread: the camera is waited for, it is back.
        public var onNotice: @Sendable (String) -> Void = { _ in }
        /// The microphone; nil: a film without sound.
        public var microphone: MicrophoneOptions?
        /// How the file is written.
        public var writer = AssetWriterOptions()

        /// Makes the default options.
        public init() {}
    }

    /// What a recording has come to.
    public struct Report: Sendable, Hashable {
        /// The time of the newest frame.
        public var time = MediaTime.zero
        /// Frames in the file.
        public var frames = 0
        /// What has become of the camera's frames.
        public var camera = CaptureStatistics()
        /// How often the camera was unplugged and waited for.
        public var interruptions = 0
        /// What has become of the microphone's sound; nil without one.
        public var sound: MicrophoneReport?
        /// When the first frame was captured, on CLOCK_MONOTONIC: what is at 0 in the film.
        public var beginning: HostTime?
    }

    /// Frames that may wait for the encoder or be held by it: half a second of most cameras.
    private static let heldFrames = 16
    /// How often the recording looks whether to end, where no frame comes.
    private static let glance = HostSpan.milliseconds(100)

    private let session: CaptureSession
    private let output = VideoDataOutput(heldFrames: heldFrames, discardsLateFrames: false)
    private let writer: AssetWriter
    private let path: String
    private let options: Options
    private let microphone: MicrophoneTrack?
    private var encoder: CompressionSession?
    private var input: AssetWriterInput?
    private var report = Report()

    /// Finds the camera and creates the file under a temporary name.
    /// - Parameter camera: Its name or path; nil: the first.
    public init(_ camera: String?, _ request: CaptureRequest, to path: String, options: Options = Options()) throws(PlayerError) {
        do throws(CaptureError) {
            let outage = CaptureOutage()
            session = CaptureSession(
                device: try CaptureDevice.find(camera), request: request, outputs: [output], reconnects: options.reconnects
            ) { state in if let sentence = outage.sentence(state) { options.onNotice(sentence) } }
            microphone = try options.microphone.map { choice throws(CaptureError) in try MicrophoneTrack(choice, number: 1) }
        } catch { throw PlayerError(error) }
        do throws(WritingError) { writer = try AssetWriter(path: path, options: options.writer) } catch {
            throw PlayerError(ExportError.output(error))
        }
        self.path = path
        self.options = options
    }

    /// Records until the duration is over, `isEnded` says so, or the camera ends; then completes the file.
    /// - Throws: What the camera, the encoder or the file reports. After an error of the camera or the encoder the file is complete all the same,
    ///   unless no frame had come; when it cannot be written any further, it has its whole fragments, or is gone if it was written in one piece.
    public func run(isEnded: () -> Bool) throws(PlayerError) -> Report {
        var failure: CaptureError?
        do throws(PlayerError) {
            defer {
                session.stop()
                microphone?.stop()
            }
            do throws(CaptureError) {
                try microphone?.start()
                try session.start()
            } catch { throw PlayerError(error) }
            try begin()
            failure = try takeFrames(isEnded)
            guard report.beginning != nil else {
                throw failure.map { PlayerError($0) } ?? PlayerError(.cutShort, "\(path): the camera gave no frame.")
            }
            try microphone?.finish(at: options.duration)
            try encode { encoder, receive throws(EncodingError) in try encoder.completeFrames(output: receive) }
            input?.markAsFinished()
            do throws(WritingError) { try writer.finish() } catch { throw PlayerError(ExportError.output(error)) }
        } catch {
            keepFrames()
            throw error
        }
        report.camera = output.statistics
        report.interruptions = session.interruptions
        report.sound = microphone?.report
        if let failure { throw PlayerError(failure) }
        return report
    }

    /// After an error: completes a file that has frames, and removes one that has none. One that cannot be written has failed already.
    private func keepFrames() {
        input?.markAsFinished()
        microphone?.markAsFinished()
        if report.frames > 0 { try? writer.finish() }
        writer.cancel()
    }

    private func begin() throws(PlayerError) {
        guard let format = session.lastFormat else { throw PlayerError(.notOpen, "\(path): the camera does not run.") }
        let codec = options.codec ?? (writer.container == .webm ? "vp9" : "h264")
        var encoding = EncoderOptions(pixelFormat: format.pixelFormat)
        encoding.properties.isRealTime = true
        encoding.properties.averageBitRate = options.bitRate
        if options.bitRate == nil, codec != "h264", codec != "hevc" { encoding.properties.quality = 0.5 }
        let wanted = VideoFormat(
            codec: VideoCodec(name: codec), codedSize: format.size, attributes: FrameAttributes(color: format.color), frameRate: format.rate)
        let encoder: CompressionSession
        do throws(EncodingError) { encoder = try Self.encoder(wanted, encoding) } catch {
            throw PlayerError(ExportError.encoding(error, track: 0))
        }
        do throws(WritingError) {
            // Nanoseconds of the camera, to what films count in.
            input = try writer.addInput(TrackDescription(format: .video(encoder.format), timeBase: Ratio(1, 90_000)))
        } catch { throw PlayerError(ExportError.output(error)) }
        try microphone?.addInput(to: writer)
        do throws(WritingError) {
            try writer.start()
        } catch { throw PlayerError(ExportError.output(error)) }
        self.encoder = encoder
    }

    /// An encoder that works in real time. One of single frames, as of Motion-JPEG, has no such property and needs none.
    private static func encoder(_ format: VideoFormat, _ options: EncoderOptions) throws(EncodingError) -> CompressionSession {
        do throws(EncodingError) { return try CompressionSession(format: format, options: options) } catch {
            guard error.code == .unsupportedProperty else { throw error }
            var options = options
            options.properties.isRealTime = nil
            return try CompressionSession(format: format, options: options)
        }
    }

    /// Returns why the camera has ended, if it has.
    private func takeFrames(_ isEnded: () -> Bool) throws(PlayerError) -> CaptureError? {
        while !isEnded() {
            if let failure = try microphone?.takeWaiting() { return failure }
            switch output.next(until: MonotonicClock.shared.now() + Self.glance) {
            case nil:
                // An unplugged camera's time runs on.
                if let duration = options.duration, let beginning = report.beginning,
                    MediaTime(MonotonicClock.shared.now() - beginning) >= duration
                {
                    return nil
                }
            case .dropped: continue
            case .ended(let error): return error
            case .frame(let shared):
                let time = begin(with: shared)
                if let duration = options.duration, time >= duration { return nil }
                try encode { encoder, receive throws(EncodingError) in
                    try encoder.encode(shared.copy(), time: time, duration: shared.duration, output: receive)
                }
                report.time = time
            }
        }
        return nil
    }

    /// The frame's time in the film, which begins with the first one.
    private func begin(with frame: SharedFrame) -> MediaTime {
        let time = HostTime(nanoseconds: frame.presentationTime.nanoseconds() ?? 0)
        guard let beginning = report.beginning else {
            report.beginning = time
            microphone?.begin(at: time, duration: options.duration)
            return .zero
        }
        return MediaTime(time - beginning)
    }

    /// Lets the encoder work and writes what comes of it.
    private func encode(_ body: (CompressionSession, (EncodeOutput) -> Void) throws(EncodingError) -> Void) throws(PlayerError) {
        guard let encoder, let input else { return }
        var answers: [EncodeOutput] = []
        do throws(EncodingError) { try body(encoder) { answers.append($0) } } catch { throw PlayerError(ExportError.encoding(error, track: 0)) }
        for answer in answers {
            switch answer {
            case .sample(let sample, _):
                do throws(WritingError) { try input.append(sample) } catch { throw PlayerError(ExportError.output(error)) }
                report.frames += 1
            case .dropped: break
            case .failed(_, let error): throw PlayerError(ExportError.encoding(error, track: 0))
            }
        }
    }
}

extension PlayerError {
    /// Makes the error for what a camera reports.
    public init(_ error: CaptureError) { self.init(AssetError(error)) }
}
