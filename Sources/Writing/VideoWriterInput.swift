public import Dispatch
public import Encoding
public import Media
public import PixelConversion
internal import SampleQueue
public import SurfacePool

/// Encodes frames for a track of an `AssetWriter`, in one pass or in several.
///
///     let video = try writer.addVideoInput(track, options: options, performsMultiPassEncodingIfSupported: true)
///     try writer.start()
///     while let pass = video.currentPassDescription {
///         … try video.append(frame) … for the frames of pass.sourceTimeRanges
///         try video.markCurrentPassAsFinished()
///     }
///     try writer.finish()
///
/// What `AVAssetWriterInput` does with frames, and with passes. With several, the samples are kept on the disk until the last pass is over, and the
/// writer takes them from there as it needs them beside those of the other inputs.
///
/// Thread-safety: one thread at a time.
public final class VideoWriterInput: @unchecked Sendable {
    /// A pass that frames are to be given for. The counterpart of `AVAssetWriterInputPassDescription`.
    public struct PassDescription: Sendable, Hashable {
        /// Counts from 1.
        public let number: Int
        /// Which frames are wanted, in order; all of time for a whole pass.
        public let sourceTimeRanges: [MediaTimeRange]
    }

    /// The number of the track in its writer, from 0.
    public var number: Int { input.number }
    private let writer: AssetWriter
    private let input: AssetWriterInput
    private let session: CompressionSession
    private let run: PassRun?
    private var isBegun = false
    private var isFinished = false

    init(_ writer: AssetWriter, _ input: AssetWriterInput, _ session: CompressionSession) throws(EncodingError) {
        self.writer = writer
        self.input = input
        self.session = session
        run = session.options.passes == nil ? nil : try PassRun(session)
    }

    /// Whether frames are given in passes: several were asked for, and the encoder can make them.
    public var canPerformMultiplePasses: Bool { run != nil }

    /// What frames must be so that the encoder reads them in place, for `DecoderOptions.requirements`; others are converted.
    public var sourceRequirements: OutputRequirements { session.sourceRequirements }

    /// Frames of the caller's that the encoder may hold at once.
    public var heldFrameCount: Int { session.heldFrameCount }

    /// The pass that is under way or comes next; nil when no pass is left, and for an input without passes.
    public var currentPassDescription: PassDescription? {
        guard let run, !run.ranges.isEmpty, !isFinished else { return nil }
        return PassDescription(number: run.passNumber + (isBegun ? 0 : 1), sourceTimeRanges: run.ranges)
    }

    /// Encodes a frame. Blocks as long as encoding and, without passes, writing takes.
    ///
    /// - Parameters:
    ///   - frame: Taken over.
    ///   - time: When it is shown, in source time; nil takes the frame's own.
    ///   - duration: nil takes the frame's own.
    /// - Throws: `.encoding`; `.output`, which is the end of the writer.
    public func append(_ frame: consuming VideoFrame, time: MediaTime? = nil, duration: MediaTime? = nil) throws(ExportError) {
        let time = time ?? frame.presentationTime, duration = duration ?? frame.duration
        guard let run else {
            var answers: [EncodeOutput] = []
            do throws(EncodingError) {
                try session.encode(frame, time: time, duration: duration) { answers.append($0) }
            } catch { throw .encoding(error, track: number) }
            return try write(answers)
        }
        do throws(EncodingError) {
            try beginPass(run)
            try run.encode(frame, time: time, duration: duration)
        } catch { throw .encoding(error, track: number) }
    }

    /// Every frame of the pass has been given. `currentPassDescription` then says what the next pass needs; when there is none, the samples go to
    /// the writer and the input is finished.
    ///
    /// - Throws: `.encoding`; `.output`, which is the end of the writer.
    public func markCurrentPassAsFinished() throws(ExportError) {
        guard let run, !isFinished else { return }
        do throws(EncodingError) {
            try beginPass(run)
            try run.end(isLast: false)
        } catch { throw .encoding(error, track: number) }
        isBegun = false
        if run.ranges.isEmpty { try finish(run) }
    }

    /// Nothing more comes: what the encoder holds goes to the writer. With passes it ends the pass, and no further one is made.
    ///
    /// - Throws: `.encoding`; `.output`, which is the end of the writer.
    public func markAsFinished() throws(ExportError) {
        guard !isFinished else { return }
        guard let run else {
            isFinished = true
            var answers: [EncodeOutput] = []
            do throws(EncodingError) { try session.completeFrames { answers.append($0) } } catch { throw .encoding(error, track: number) }
            try write(answers)
            return input.markAsFinished()
        }
        do throws(EncodingError) { if isBegun { try run.end(isLast: true) } } catch { throw .encoding(error, track: number) }
        isBegun = false
        try finish(run)
    }

    /// Calls `body` on `queue` for each pass, one after the other, until no pass is left. The next call comes when `body` has marked the pass as
    /// finished; what `body` throws, and what marking throws, goes to `completion`, which is called once, with nil after the last pass.
    public func respondToEachPassDescription(
        on queue: DispatchQueue, using body: @escaping @Sendable (PassDescription) throws -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        queue.async { [self] in
            guard let pass = currentPassDescription else { return completion(nil) }
            do { try body(pass) } catch { return completion(error) }
            if currentPassDescription == pass {
                do { try markCurrentPassAsFinished() } catch { return completion(error) }
            }
            respondToEachPassDescription(on: queue, using: body, completion: completion)
        }
    }

    private func beginPass(_ run: PassRun) throws(EncodingError) {
        guard !isBegun else { return }
        try run.begin()
        isBegun = true
    }

    private func finish(_ run: PassRun) throws(ExportError) {
        isFinished = true
        let path = writer.path, number = number
        do throws(WritingError) {
            try writer.pull(number) { () throws(WritingError) in
                do throws(EncodingError) { return try run.nextSample() } catch {
                    throw WritingError(.cannotWrite, path, input: number, error.description)
                }
            }
        } catch { throw .output(error) }
    }

    private func write(_ answers: [EncodeOutput]) throws(ExportError) {
        for answer in answers {
            switch answer {
            case .sample(let sample, _): do throws(WritingError) { try input.append(sample) } catch { throw .output(error) }
            case .dropped: break
            case .failed(_, let error): throw .encoding(error, track: number)
            }
        }
    }
}

extension AssetWriter {
    /// Adds a track whose frames are encoded. Call it before `start`.
    ///
    /// - Parameters:
    ///   - track: Its format is what is wanted: codec, size, colours, pixel aspect and frame rate.
    ///   - options: How to encode. `EncoderOptions.passes` says what several passes are to reach.
    ///   - performsMultiPassEncodingIfSupported: Frames are given in passes, where the encoder can make several. Without `EncoderOptions.passes` they
    ///     are to reach the average rate.
    /// - Throws: `.encoding` where there is no such encoder; `.output` where the container cannot hold the format.
    public func addVideoInput(
        _ track: TrackDescription, options: EncoderOptions = EncoderOptions(), performsMultiPassEncodingIfSupported: Bool = false
    ) throws(ExportError) -> VideoWriterInput {
        let number = state.withLock { $0.inputs.count }
        guard case .video(let format) = track.format else { throw .settings("\(path): only tracks of video have frames.") }
        let session: CompressionSession
        do throws(EncodingError) {
            session = try Self.session(format, options, performsPasses: performsMultiPassEncodingIfSupported)
        } catch { throw .encoding(error, track: number) }
        var described = track
        described.format = .video(session.format)
        let input: AssetWriterInput
        do throws(WritingError) { input = try addInput(described) } catch { throw .output(error) }
        do throws(EncodingError) { return try VideoWriterInput(self, input, session) } catch { throw .encoding(error, track: number) }
    }

    private static func session(
        _ format: VideoFormat, _ options: EncoderOptions, performsPasses: Bool
    ) throws(EncodingError) -> CompressionSession {
        var once = options
        once.passes = nil
        guard performsPasses else { return try CompressionSession(format: format, options: once) }
        var several = options
        several.passes = options.passes ?? MultiPassOptions()
        do throws(EncodingError) { return try CompressionSession(format: format, options: several) } catch {
            // The encoder makes one pass only.
            guard error.code == .pass else { throw error }
            return try CompressionSession(format: format, options: once)
        }
    }
}
