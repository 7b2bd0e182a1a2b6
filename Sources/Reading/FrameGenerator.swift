internal import Decoding
internal import Demuxing
public import Media
internal import SampleQueue
public import SurfacePool

/// Finds the frames of a film at any times: for previews, contact sheets, and analysis.
///
/// The counterpart of `AVAssetImageGenerator`. The frames are decoded in file order, whatever the order of the times, so that a group of frames is
/// decoded once, however many of its frames are wanted.
///
///     let generator = try FrameGenerator(url: "film.mp4")
///     let frame = try generator.frame(at: MediaTime(value: 10, timescale: 1))
///     for try await found in generator.frames(at: times) { … found.frame … }
///
/// Thread-safety: one thread at a time, except `cancel`, which any thread may call.
public final class FrameGenerator: @unchecked Sendable {
    /// The path or URL, as given to `init`.
    public let location: String
    /// One sentence for the user when the film is not read or decoded in the processes that `ReadingOptions.sandbox` asks for; nil otherwise.
    public let notice: String?
    private let options: FrameGeneratorOptions
    private let stream: FrameStream
    private let form: FrameForm
    /// Finds out where decoding would begin for a later time; opened when there is one.
    private var scout: (any AssetReading)?
    /// The frame on the screen at the time asked for last, and the one after it where it is known.
    private var current: SharedFrame?
    private var following: SharedFrame?
    private let isCancelled = Monitor(false)
    let queue = ReadingQueue()

    /// Opens a film, and a decoder for one of its tracks. Blocks; `options.reading.source.cancellation` ends the wait.
    ///
    /// - Parameters:
    ///   - location: A path, `-` for standard input, or a URL of any protocol that libavformat knows.
    ///   - trackID: A video track's number; nil takes the one that the container marks as default, else the first.
    /// - Throws: `.source`, `.noTrack`, `.decoding`.
    public init(url location: String, track trackID: Int? = nil, options: FrameGeneratorOptions = FrameGeneratorOptions()) throws(ReadingError) {
        let source = try options.reading.open(location)
        self.location = location
        self.options = options
        var notice = source.notice
        stream = try FrameStream(source.reader, source.track(trackID, .video), options.reading) { notice = notice ?? $0 }
        self.notice = notice
        form = FrameForm(options)
    }

    deinit { stream.session.invalidate() }

    /// Length of the film; indefinite for a live stream.
    public var duration: MediaTime { stream.reader.duration }

    /// Samples decoded so far: what the frames have cost.
    public var samplesDecoded: Int { stream.samplesDecoded }

    /// Finds the frame for one time, as `FrameGeneratorOptions.selection` says. Blocks.
    ///
    /// - Throws: `.noFrame` behind the end of the film; what keeps the film from being read.
    public func frame(at time: MediaTime) throws(ReadingError) -> VideoFrame {
        if isCancelled.withLock({ $0 }) { throw .cancelled(location) }
        do throws(ReadingError) {
            let frame = try find(time)
            return try form.apply(frame.copy(), location)
        } catch {
            (current, following) = (nil, nil)
            throw isCancelled.withLock { $0 } ? .cancelled(location) : error
        }
    }

    /// Makes a blocked call, and every later one, fail soon with `.cancelled`. Any thread; idempotent.
    public func cancel() {
        isCancelled.change { $0 = true }
        stream.reader.cancel()
        stream.session.interrupt()
    }

    // MARK: Finding

    private func find(_ time: MediaTime) throws(ReadingError) -> SharedFrame {
        guard time.isNumeric else { throw ReadingError(.noFrame, "\(location): \(time) is no time of a frame.", time: time) }
        if try !mayGoOn(to: time) { try jump(to: time) }
        if options.toleranceBefore > .zero, let current, current.presentationTime + options.toleranceBefore >= time { return current }
        while let next = if let following { following } else { try stream.next() } {
            following = next
            // At least the first frame of the film is shown before the second.
            if current != nil, next.presentationTime > time { break }
            current = next
            following = nil
        }
        guard let current else { throw nothing(at: time) }
        switch options.selection {
        case .onScreen:
            if following == nil, current.duration.isNumeric, current.presentationTime + current.duration <= time { throw nothing(at: time) }
            return current
        case .next:
            guard let frame = current.presentationTime >= time ? current : following else { throw nothing(at: time) }
            return frame
        case .nearest:
            guard let following, following.presentationTime - time < time - current.presentationTime else { return current }
            return following
        }
    }

    private func nothing(at time: MediaTime) -> ReadingError {
        // The film has it, but the system had no memory for it.
        if let damage = stream.lastDamage, damage.code == .decoding(.outOfSurfaces) { return damage }
        return ReadingError(.noFrame, "\(location): there is no frame at \(time).", time: time)
    }

    private func jump(to time: MediaTime) throws(ReadingError) {
        (current, following) = (nil, nil)
        try stream.begin(at: max(time, .zero), tolerance: options.toleranceBefore)
        current = try stream.next()
    }

    /// Whether decoding on leads to `time` with less work than going to the sync sample before it.
    private func mayGoOn(to time: MediaTime) throws(ReadingError) -> Bool {
        guard let current, time >= current.presentationTime else { return false }
        if let following, time <= following.presentationTime { return true }
        let distance = time - max(stream.decodedUntil, current.presentationTime)
        if distance < Self.shortWay || !stream.reader.isSeekable { return true }
        guard let sync = try landing(time) else { return true }
        return sync <= stream.decodedUntil
    }

    /// Half a second: looking for a sync sample costs about as much as decoding so far.
    private static let shortWay = MediaTime(value: 1, timescale: 2)

    /// The decode time of the sample with which decoding would begin for the frame at `time`; nil when it is unknown.
    private func landing(_ time: MediaTime) throws(ReadingError) -> MediaTime? {
        if scout == nil {
            let reader = try options.reading.open(location).reader
            reader.select([stream.track.id])
            scout = reader
        }
        guard let scout else { return nil }
        do throws(AssetError) {
            try scout.seek(to: time)
            guard let sample = try scout.nextSample(), sample.decodeTime.isNumeric else { return nil }
            return sample.decodeTime
        } catch {
            return nil
        }
    }
}
