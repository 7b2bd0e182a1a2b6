public import Demuxing
public import Media

/// Reads the decoded sound of a film's track: all of it, or that of any ranges, exact to the frame of sound.
///
/// The counterpart of `AVAssetReaderTrackOutput` for sound. Like `VideoTrackOutput` it opens the film for itself.
///
///     let output = try AudioTrackOutput(url: "film.mp4", sampleRate: 48_000, channelCount: 2)
///     try output.reset(forReadingTimeRanges: [MediaTimeRange(start: time, duration: second)])
///     while let sound = try output.nextBuffer() { … }
///
/// The padding of encoders is removed. Within the first and last buffer of a range only the wanted part is handed out: the first frame of sound that
/// begins at or after the start, and the last that begins before the end.
///
/// Thread-safety: one thread at a time, except `cancel`, which any thread may call.
public final class AudioTrackOutput: @unchecked Sendable {
    /// The path or URL, as given to `init`.
    public let location: String
    /// The track that is read.
    public let track: AssetTrack
    /// One sentence for the user when the film is not read in the process that `ReadingOptions.sandbox` asks for; nil otherwise.
    public let notice: String?
    private let stream: SoundStream
    private var ranges: [MediaTimeRange] = [.all]
    private var isInside = false
    private let isCancelled = Monitor(false)
    private let queue = ReadingQueue()

    /// Opens a film, and a decoder for one of its sound tracks. Blocks; `options.source.cancellation` ends the wait. Without `reset` all is read.
    ///
    /// The film is demuxed and its sound decoded where `options.sandbox` says.
    ///
    /// - Parameters:
    ///   - trackID: A sound track's number; nil takes the one that the container marks as default, else the first.
    ///   - sampleRate: Hertz; nil keeps the track's.
    ///   - channelCount: More channels are mixed down, fewer spread; nil keeps the track's.
    /// - Throws: `.source`, `.noTrack`, `.decoding`.
    public init(
        url location: String, track trackID: Int? = nil, sampleRate: Int32? = nil, channelCount: Int? = nil,
        options: ReadingOptions = ReadingOptions()
    ) throws(ReadingError) {
        precondition(sampleRate ?? 1 > 0 && channelCount ?? 1 > 0, "sound has a rate and at least one channel")
        let source = try options.open(location)
        self.location = location
        notice = source.notice
        track = try source.track(trackID, .audio)
        stream = try SoundStream(source.reader, track, rate: sampleRate, channels: channelCount, options.sandbox) { [isCancelled] in
            isCancelled.withLock { $0 }
        }
    }

    /// Whether ranges can be asked for in any order. Not for pipes and live streams.
    public var supportsRandomAccess: Bool { stream.reader.isSeekable }

    /// Length of the film; indefinite for a live stream.
    public var duration: MediaTime { stream.reader.duration }

    /// Packets that the decoder could not use.
    public var damagedPacketCount: Int { stream.damagedPackets }

    /// Reads these ranges from now on, one after the other in the order given, instead of what is left. Any number of times.
    /// - Throws: `.notSeekable` for pipes and live streams.
    public func reset(forReadingTimeRanges ranges: [MediaTimeRange]) throws(ReadingError) {
        let isUnread = !isInside && self.ranges == [.all]
        guard supportsRandomAccess || (isUnread && ranges == [.all]) else { throw ReadingError(.notSeekable, "\(location): cannot seek in it.") }
        self.ranges = ranges.filter { !$0.isEmpty }
        isInside = false
    }

    /// The next sound in order; nil when the ranges have been read. Blocks while the source does.
    /// - Throws: what keeps the film from being read; `.cancelled`.
    public func nextBuffer() throws(ReadingError) -> SoundBuffer? {
        do throws(ReadingError) {
            while let range = ranges.first {
                try check()
                if !isInside { try stream.begin(at: range.start) }
                isInside = true
                while let buffer = try stream.next() {
                    let wanted = Self.frames(range, buffer.sampleRate)
                    if buffer.position >= wanted.upperBound { break }
                    if let part = buffer.part(wanted) { return part }
                }
                ranges.removeFirst()
                isInside = false
            }
            return nil
        } catch {
            try check()
            throw error
        }
    }

    /// Numbers of the frames of sound that begin in `range`.
    private static func frames(_ range: MediaTimeRange, _ rate: Int32) -> Range<Int64> {
        func first(_ time: MediaTime, _ open: Int64) -> Int64 {
            time.isNumeric ? time.converted(to: rate, rounding: .towardPositiveInfinity).value : open
        }
        let start = first(range.start, .min)
        return start..<max(first(range.end, .max), start)
    }

    /// Makes a blocked call, and every later one, fail soon with `.cancelled`. Any thread; idempotent.
    public func cancel() {
        isCancelled.change { $0 = true }
        stream.reader.cancel()
    }

    private func check() throws(ReadingError) { if isCancelled.withLock({ $0 }) { throw .cancelled(location) } }

    /// The sound that is still to be read, for `for try await`. Each buffer is decoded when it is asked for, on a thread of its own. Cancelling
    /// the task cancels the output.
    public var buffers: Buffers { Buffers(output: self) }

    /// The sound of an output, decoded as it is asked for.
    public struct Buffers: AsyncSequence, Sendable {
        /// A stretch of sound.
        public typealias Element = SoundBuffer
        /// What ends the reading.
        public typealias Failure = ReadingError
        let output: AudioTrackOutput

        /// Begins where the output stands.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(output: output) }

        /// Asks for one buffer after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let output: AudioTrackOutput

            /// The next sound; nil when the ranges have been read.
            public mutating func next() async throws(ReadingError) -> SoundBuffer? {
                let output = output
                return try await output.queue.run { () throws(ReadingError) in
                    try output.nextBuffer()
                } onCancel: {
                    output.cancel()
                }
            }
        }
    }
}
