internal import Decoding
public import Demuxing
public import Media
public import PixelConversion
public import SurfacePool

/// Reads the decoded frames of a film's video track: all of them, or those of any ranges, exact to the frame.
///
/// The counterpart of `AVAssetReaderTrackOutput` for video. It opens the film for itself, so that several outputs of one film can be read
/// at different places.
///
///     let output = try VideoTrackOutput(url: "film.mp4")
///     try output.reset(forReadingTimeRanges: [MediaTimeRange(start: time, duration: second)])
///     while let frame = try output.nextFrame() { … }
///
/// A frame belongs to a range when it is on the screen during some of it: the last frame that begins at or before the start, and all that begin
/// before the end. Frames lie where the decoder wrote them unless `ReadingOptions.decoder` requires another form.
///
/// Damaged samples are left out and counted; reading goes on with the next.
///
/// Thread-safety: one thread at a time, except `cancel`, `status` and `markConfigurationAsFinal`, which any thread may call.
public final class VideoTrackOutput: @unchecked Sendable {
    /// The path or URL, as given to `init`.
    public let location: String
    /// The track that is read.
    public let track: AssetTrack
    /// One sentence for the user when the film is not read or decoded in the processes that `ReadingOptions.sandbox` asks for; nil otherwise.
    public let notice: String?
    let stream: FrameStream
    /// What is still to be read, the range being read first.
    private var ranges: [MediaTimeRange] = [.all]
    /// The first of the ranges has been begun.
    private var isInside = false
    private let shared = Monitor(Shared())
    private let queue = ReadingQueue()

    private struct Shared {
        var status = ReadingStatus.reading
        var isFinal = false
        var isDone = false
    }

    /// Opens a film, and a decoder for one of its tracks. Blocks; `options.source.cancellation` ends the wait. Without `reset` all frames are read.
    ///
    /// - Parameters:
    ///   - location: A path, `-` for standard input, or a URL of any protocol that libavformat knows.
    ///   - trackID: A video track's number; nil takes the one that the container marks as default, else the first.
    /// - Throws: `.source`, `.noTrack`, `.decoding`.
    public init(url location: String, track trackID: Int? = nil, options: ReadingOptions = ReadingOptions()) throws(ReadingError) {
        let source = try options.open(location)
        self.location = location
        track = try source.track(trackID, .video)
        var notice = source.notice
        stream = try FrameStream(source.reader, track, options) { notice = notice ?? $0 }
        self.notice = notice
    }

    deinit { stream.session.invalidate() }

    /// Whether ranges can be asked for in any order. Not for pipes and live streams.
    public var supportsRandomAccess: Bool { stream.reader.isSeekable }

    /// Length of the film; indefinite for a live stream.
    public var duration: MediaTime { stream.reader.duration }

    /// How far reading has come. Any thread.
    public var status: ReadingStatus { shared.withLock { $0.status } }

    /// The error that ended reading; nil otherwise. Any thread.
    public var error: ReadingError? { if case .failed(let error) = status { error } else { nil } }

    /// Samples that the decoder could not use.
    public var damagedSampleCount: Int { stream.damagedSamples }

    /// What the decoder said about the last of them, with its time; nil when there was none.
    public var lastDamage: ReadingError? { stream.lastDamage }

    /// The conversion that the required form made necessary; nil while frames are handed out where they were decoded.
    public var conversion: ConversionReport? { stream.session.conversion }

    /// Reads these ranges from now on, one after the other in the order given, instead of what is left.
    ///
    /// May be called at any time and any number of times, also when everything has been read.
    /// - Throws: `.notSeekable` for pipes and live streams, and after `markConfigurationAsFinal`; the error that has ended reading.
    public func reset(forReadingTimeRanges ranges: [MediaTimeRange]) throws(ReadingError) {
        try check()
        guard !shared.withLock({ $0.isFinal }) else {
            throw ReadingError(.notSeekable, "\(location): the configuration is final, no other ranges can be read.")
        }
        let isUnread = !isInside && self.ranges == [.all]
        guard supportsRandomAccess || (isUnread && ranges == [.all]) else { throw ReadingError(.notSeekable, "\(location): cannot seek in it.") }
        self.ranges = ranges.filter { !$0.isEmpty }
        isInside = false
        shared.withLock { $0.isDone = false }
    }

    /// Promises that `reset` will not be called again: the status becomes `completed` when everything has been read. Any thread.
    public func markConfigurationAsFinal() {
        shared.withLock { shared in
            shared.isFinal = true
            if shared.isDone, shared.status == .reading { shared.status = .completed }
        }
    }

    /// The next frame in the order of presentation; nil when the ranges have been read. Blocks while the source and the decoder work, and
    /// while more frames are held than `DecoderOptions.holdCount`.
    /// - Throws: the error that ends reading, now and with every later call; `.cancelled`.
    public func nextFrame() throws(ReadingError) -> VideoFrame? { try nextShared()?.copy() }

    package func nextShared() throws(ReadingError) -> SharedFrame? {
        try check()
        do throws(ReadingError) {
            while let range = ranges.first {
                if !isInside { try stream.begin(at: range.start, until: range.end) }
                isInside = true
                if let frame = try stream.next() {
                    try check()
                    return frame
                }
                ranges.removeFirst()
                isInside = false
            }
        } catch {
            throw fail(error)
        }
        try check()
        shared.withLock { shared in
            shared.isDone = true
            if shared.isFinal { shared.status = .completed }
        }
        return nil
    }

    /// The frames that are still to be read, for `for try await`.
    public var frames: FrameSequence {
        FrameSequence(on: queue) { [self] () throws(ReadingError) in
            try nextShared()
        } onCancel: { [self] in
            cancel()
        }
    }

    /// Makes a blocked call, and every later one, fail soon with `.cancelled`. Any thread; idempotent.
    public func cancel() {
        shared.withLock { if $0.status == .reading { $0.status = .cancelled } }
        stream.cancel()
    }

    private func check() throws(ReadingError) {
        switch status {
        case .reading, .completed: return
        case .failed(let error): throw error
        case .cancelled: throw .cancelled(location)
        }
    }

    /// The error to throw: a cancelled output fails in many ways.
    private func fail(_ error: ReadingError) -> ReadingError {
        shared.withLock { shared in
            if shared.status == .reading { shared.status = error.code == .cancelled ? .cancelled : .failed(error) }
            return shared.status == .cancelled ? .cancelled(location) : error
        }
    }
}

extension FrameStream {
    /// Frames held here and by a generator: the one on the screen, and the one after it.
    private static let holdCount = 2

    /// Opens a decoder for `track`, in a process without rights where the options ask for one.
    convenience init(
        _ reader: any AssetReading, _ track: AssetTrack, _ options: ReadingOptions, onNotice: (String) -> Void
    ) throws(ReadingError) {
        guard case .video(let format) = track.format else {
            throw ReadingError(.noTrack, "\(reader.location): track \(track.id) has no frames.")
        }
        var decoder = options.decoder
        decoder.holdCount += Self.holdCount
        do throws(DecodingError) {
            let session = try DecoderBackends.makeSession(
                for: format, decoder, sandbox: options.sandbox, allocator: options.allocator,
                statistics: options.statistics ?? FrameStatistics(), onNotice: onNotice)
            self.init(reader, track, session)
        } catch {
            throw ReadingError(error, location: reader.location)
        }
    }
}
