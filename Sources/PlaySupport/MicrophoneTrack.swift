public import Capture
internal import Demuxing
internal import Encoding
public import Media
internal import Player
internal import SampleQueue
internal import Writing

/// How a microphone is recorded.
public struct MicrophoneOptions: Sendable {
    /// Its name, as `AudioCaptureDevice.find` takes it; nil: the system's default.
    public var name: String?
    /// What to ask of it.
    public var request = AudioCaptureRequest()
    /// The codec by FFmpeg's name; nil: opus for WebM, else aac.
    public var codec: String?
    /// Bits a second; nil: the encoder's usual ones.
    public var bitRate: Int?

    /// Makes the default options.
    public init() {}
}

/// What has become of a recording's sound.
public struct MicrophoneReport: Sendable, Hashable {
    /// The length of the track.
    public var time = MediaTime.zero
    /// When what is at 0 in the track was captured, on CLOCK_MONOTONIC; nil before.
    public var beginning: HostTime?
    /// What has become of the microphone's sound since it was started, which is a little before the film begins.
    public var microphone = AudioCaptureStatistics()
    /// How much faster than CLOCK_MONOTONIC the microphone's crystal runs; 50e-6 gains 50 µs a second. The track does not.
    public var drift = 0.0
}

/// The sound of a recording: a microphone's blocks, made into a track without gaps, each sound at the time at which it was captured.
///
/// What is missing becomes silence. The drift of the microphone's crystal against CLOCK_MONOTONIC, on which the camera's frames have their times, is
/// taken out by a resampler. `SoundTrackState` decides.
///
/// Thread-safety: one thread.
final class MicrophoneTrack {
    private let options: MicrophoneOptions
    private let number: Int
    private let session: AudioCaptureSession
    private let output = AudioDataOutput()
    private var conversion: SoundConversion?
    private var encoder: SoundCompressionSession?
    private var input: AssetWriterInput?
    private var state: SoundTrackState?
    /// What has come before the film's beginning is known.
    private var early: [AudioCaptureBlock] = []
    /// Frames of the track that came out of the conversion, and after which it ends.
    private var made: Int64 = 0, limit = Int64.max
    /// Frames a second that go to the encoder.
    private var trackRate: Int32 = 48_000
    /// What is at 0 in the film.
    private var beginning: HostTime?
    private var hasEnded = false

    /// 5 s: more sound does not lie between a film's first frame and its arrival.
    private static let earliest = HostSpan.seconds(5)
    /// Blocks between two frames: 200 ms of sound, more than lie between two frames of any camera.
    private static let turn = 10
    /// A second: sound that was captured by now has come by then, or comes no more.
    private static let patience = HostSpan.seconds(1)

    /// Finds the microphone. `number` is the track's.
    init(_ options: MicrophoneOptions, number: Int) throws(CaptureError) {
        self.options = options
        self.number = number
        session = AudioCaptureSession(device: try AudioCaptureDevice.find(options.name), request: options.request, outputs: [output])
    }

    func start() throws(CaptureError) { try session.start() }

    func stop() { session.stop() }

    var report: MicrophoneReport {
        var report = MicrophoneReport()
        report.time = MediaTime(value: min(made, limit), timescale: trackRate)
        report.beginning = beginning
        report.microphone = output.statistics
        report.drift = session.drift
        return report
    }

    /// Opens the encoder of a microphone that runs.
    func addInput(to writer: AssetWriter) throws(PlayerError) {
        guard let format = session.lastFormat else { throw PlayerError(.notOpen, "\(session.device.identifier): the microphone does not run.") }
        let codec = options.codec ?? (writer.container == .webm ? "opus" : "aac")
        // 64 kbit for a channel, at which AAC is transparent to most; 0 leaves it to the encoder.
        let bitRate = options.bitRate ?? (codec == "aac" ? 64_000 * format.channelCount : 0)
        // Opus has one rate that matters; the conversion that takes out the drift goes there directly.
        let wanted = AudioFormat(
            codecName: codec, sampleRate: codec == "opus" ? 48_000 : Int32(format.sampleRate), channelCount: Int32(format.channelCount),
            bitRate: Int64(bitRate))
        do throws(EncodingError) {
            let encoder = try SoundCompressionSession(format: wanted)
            let source = AudioFormat(codecName: "pcm_f32le", sampleRate: Int32(format.sampleRate), channelCount: Int32(format.channelCount))
            // What the encoder lacks beyond that it converts itself.
            conversion = try SoundConversion(from: source, to: wanted, isCorrectable: true)
            self.encoder = encoder
            trackRate = wanted.sampleRate
        } catch { throw PlayerError(ExportError.encoding(error, track: number)) }
        guard let encoder else { return }
        do throws(WritingError) {
            input = try writer.addInput(TrackDescription(format: .audio(encoder.format), timeBase: Ratio(1, encoder.format.sampleRate)))
        } catch { throw PlayerError(ExportError.output(error)) }
    }

    /// Says what is at 0 in the film, and how long it is if that is known.
    func begin(at time: HostTime, duration: MediaTime?) {
        guard let format = session.lastFormat else { return }
        beginning = time
        if let duration { limit = duration.converted(to: trackRate).value }
        state = SoundTrackState(rate: format.sampleRate, trackRate: Int(trackRate), beginning: time)
    }

    /// Encodes and writes sound that has come, and leaves the rest for the next call so that the video gets its turn. Returns why the microphone
    /// has ended, if it has.
    func takeWaiting() throws(PlayerError) -> CaptureError? {
        for _ in 0..<Self.turn where !hasEnded {
            guard let delivery = output.next(until: MonotonicClock.shared.now()) else { break }
            if let failure = try receive(delivery) { return failure }
        }
        return nil
    }

    /// Waits for sound until `deadline`, and encodes what comes; a film without video begins with the first. Returns why the microphone has ended, if
    /// it has.
    func takeOne(until deadline: HostTime, duration: MediaTime?) throws(PlayerError) -> CaptureError? {
        guard let delivery = output.next(until: deadline) else { return nil }
        if state == nil, case .block(let block) = delivery { begin(at: block.time, duration: duration) }
        return try receive(delivery)
    }

    /// Whether the track has begun.
    var hasBegun: Bool { state != nil }

    /// Whether the track is as long as this.
    func reaches(_ time: MediaTime) -> Bool { made >= time.converted(to: trackRate).value }

    private func receive(_ delivery: AudioCaptureDelivery) throws(PlayerError) -> CaptureError? {
        switch delivery {
        // The number of the block after it says the same.
        case .lost: break
        case .ended(let error):
            hasEnded = true
            return error
        case .block(let block):
            early.append(block)
            guard state != nil else {
                early.removeAll { block.time - $0.time > Self.earliest }
                return nil
            }
            let blocks = early
            early = []
            for block in blocks { try add(block) }
        }
        return nil
    }

    private func add(_ block: AudioCaptureBlock) throws(PlayerError) {
        guard let conversion, var state else { return }
        let plan = state.receive(
            number: block.number, count: block.frameCount, time: block.time, place: made + conversion.heldFrameCount)
        self.state = state
        if let correction = plan.correction { conversion.correct(by: correction, over: Int(trackRate)) }
        var silence = plan.silence
        while silence > 0 {
            // A second at a time, so that a long gap needs little memory.
            let count = min(silence, block.sampleRate)
            try encode([Float](repeating: 0, count: count * block.channelCount)[...])
            silence -= count
        }
        try encode(block.samples.dropFirst(plan.skipped * block.channelCount))
    }

    /// Converts a piece, or at the end what the conversion holds, and writes what comes of it.
    private func encode(_ piece: ArraySlice<Float>?) throws(PlayerError) {
        guard let conversion, let encoder, let channels = session.lastFormat?.channelCount else { return }
        var sound: [Float] = [], samples: [SampleBuffer] = []
        do throws(EncodingError) {
            try conversion.convert(piece, into: &sound)
            let room = max(limit - made, 0)
            made += Int64(sound.count / channels)
            if room < sound.count / channels { sound.removeLast(sound.count - Int(room) * channels) }
            if !sound.isEmpty { try encoder.encode(sound) { samples.append($0) } }
            if piece == nil { try encoder.completeFrames { samples.append($0) } }
        } catch { throw PlayerError(ExportError.encoding(error, track: number)) }
        guard let input else { return }
        do throws(WritingError) { for sample in samples { try input.append(sample) } } catch { throw PlayerError(ExportError.output(error)) }
    }

    /// Completes the track: with the sound until `end`, else until now, which may still be on its way.
    func finish(at end: MediaTime?) throws(PlayerError) {
        if let beginning {
            let now = MonotonicClock.shared.now(), passed = MediaTime(now - beginning), end = min(end ?? passed, passed)
            // What has been encoded stays.
            limit = max(end.converted(to: trackRate).value, min(made, limit))
            while !hasEnded, !reaches(end), let delivery = output.next(until: now + Self.patience) { _ = try receive(delivery) }
        }
        session.stop()
        try encode(nil)
        input?.markAsFinished()
    }

    /// Nothing more comes, because the recording has failed.
    func markAsFinished() { input?.markAsFinished() }
}
