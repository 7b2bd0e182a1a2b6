internal import Decoding
internal import Demuxing
internal import Media
internal import SampleQueue
internal import SurfacePool

/// Decodes a track from any time on, and hands out the frames in the order of presentation, beginning with the one that is on the screen then.
///
/// Decoding begins at the sync sample before. What comes out earlier is left out by the times of the frames, not of the samples, so that durations
/// that are missing or wrong do no harm. Where the first frame is missing or damaged, because the sync sample was none (a gradual refresh), decoding
/// begins again further back. So it does where libavcodec's H.264 decoder, as of FFmpeg 5, keeps frames to itself at the end of the film: those
/// that it has decoded before it puts out the recovery point with which decoding began (`send_next_delayed_frame` in `h264dec.c`).
///
/// Thread-safety: one thread at a time, except `cancel`, which any thread may call.
final class FrameStream {
    let reader: any AssetReading
    let track: AssetTrack
    let session: any DecodingSession
    /// The film's samples, with times that can be believed.
    private var film: SteadySamples
    /// Frames that have come out and not been handed over.
    private var ready: [SharedFrame] = []
    /// Samples that have been read and not been decoded.
    private var samples: ArraySlice<SampleBuffer> = []
    /// Where the frames wanted begin.
    private var start = MediaTime.negativeInfinity
    private var tolerance = MediaTime.zero
    /// No frame from here on is wanted.
    private var end = MediaTime.positiveInfinity
    /// Samples shown before this time need not be put out.
    private var hiddenBefore = MediaTime.negativeInfinity
    /// How often decoding has begun further back for this start.
    private var attempt = 0
    private var isAtBeginning = true
    /// No frame has been handed over since `begin`.
    private var isFirst = true
    private var isDrained = false
    /// Samples in a row that are shown after `end`.
    private var pastEnd = 0
    /// Those of them that have not been decoded, because nothing before `end` may need them.
    private var heldBack: [SampleBuffer] = []
    /// The decoder has put out the frame of the sample with which decoding began, or a later one.
    private var hasPutOut = false
    /// A frame was damaged however far back decoding began: not worth another try.
    private var isDamaged = false
    /// The sample with which decoding began last, and how many have been given to the decoder since.
    private var firstTime = MediaTime.invalid
    private var samplesSinceRestart = 0
    /// The decoder has put out no frame for a sample that was to be shown.
    private var lacksFrame = false
    /// The frame handed over last since `begin`, and the one up to which frames have been handed over before decoding began again.
    private var reached = MediaTime.negativeInfinity
    private var skippedUntil = MediaTime.negativeInfinity
    /// Samples that the decoder could not use.
    private(set) var damagedSamples = 0
    private(set) var lastDamage: ReadingError?
    /// Decode time of the sample given to the decoder last.
    private(set) var decodedUntil = MediaTime.negativeInfinity
    /// Samples given to the decoder.
    private(set) var samplesDecoded = 0

    init(_ reader: any AssetReading, _ track: AssetTrack, _ session: any DecodingSession) {
        self.reader = reader
        self.track = track
        self.session = session
        film = SteadySamples(reader)
        reader.select([track.id])
    }

    /// Ends what reads and decodes, for good: whoever waits for a frame gets an error.
    func cancel() {
        reader.cancel()
        // Not only interrupted: a process that hangs would not hear of it.
        session.invalidate()
    }

    /// Goes to `start`: the next frame is the one that is on the screen then, or the first frame of the film.
    ///
    /// - Parameters:
    ///   - end: Frames from here on are not wanted.
    ///   - tolerance: The frame of the sync sample will do when it begins no more than this earlier.
    func begin(at start: MediaTime, until end: MediaTime = .positiveInfinity, tolerance: MediaTime = .zero) throws(ReadingError) {
        self.start = start
        self.tolerance = tolerance
        self.end = end
        attempt = 0
        (reached, skippedUntil) = (.negativeInfinity, .negativeInfinity)
        try restart(isFresh: samplesDecoded == 0 && samples.isEmpty)
    }

    /// How much further back decoding begins when the first frame is not right: a gradual refresh takes seconds at most. At last, the beginning.
    private static let steps: [Int64] = [0, 2, 8, 30]
    /// Samples in a row that are shown after the end, behind which none is shown before it: H.264 and HEVC reorder no further.
    private static let largestReordering = 16
    /// A decoder keeps a frame to itself only where the film ends this many samples after the recovery point: two runs of reordered frames around
    /// the frame that waits for both, of two fields each.
    private static let mostBeforeLoss = 2 * (2 * largestReordering + 2)
    /// Samples read ahead to find the first that is to be shown.
    private static let longestLook = 2000

    private func restart(isFresh: Bool = false) throws(ReadingError) {
        ready = []
        samples = []
        isFirst = true
        isDrained = false
        pastEnd = 0
        heldBack = []
        hasPutOut = false
        hiddenBefore = .negativeInfinity
        decodedUntil = .negativeInfinity
        firstTime = .invalid
        samplesSinceRestart = 0
        session.flush()
        lacksFrame = false
        let step = attempt < Self.steps.count ? MediaTime(value: Self.steps[attempt], timescale: 1) : .positiveInfinity
        let target = start > step ? start - step : .zero
        isAtBeginning = target <= .zero
        if isAtBeginning, isFresh { return }
        do throws(AssetError) { try film.seek(to: target) } catch { throw ReadingError(error) }
        // Second fields have times of their own but no frame: only the first try relies on the samples' times.
        if attempt == 0, !isAtBeginning { try lookAhead() }
        if showsAgain { hiddenBefore = .negativeInfinity }
    }

    /// Reads the samples up to `start`, to find the one that is on the screen then.
    private func lookAhead() throws(ReadingError) {
        var latest = MediaTime.negativeInfinity
        while samples.count < Self.longestLook, let sample = try film.next(of: track) {
            samples.append(sample)
            guard sample.presentationTime.isNumeric, sample.decodeTime.isNumeric else { return }
            if samples.count == 1, tolerance > .zero, sample.flags.contains(.sync), sample.presentationTime <= start,
                sample.presentationTime + tolerance >= start
            {
                start = sample.presentationTime
                return
            }
            if sample.presentationTime <= start, !sample.flags.contains(.doNotDisplay) { latest = max(latest, sample.presentationTime) }
            if sample.decodeTime > start {
                hiddenBefore = latest
                return
            }
        }
    }

    /// A sample may show a frame again that was decoded before; libavcodec leaves it out where the first was not to be put out.
    private var showsAgain: Bool {
        guard case .video(let format) = track.format else { return false }
        return format.codec == .vp9 || format.codec == .av1
    }

    /// The next frame in the order of presentation; nil at the end.
    func next() throws(ReadingError) -> SharedFrame? {
        guard let frame = isFirst ? try first() : try pull() else { return nil }
        if frame.presentationTime < end {
            reached = frame.presentationTime
            return frame
        }
        isDrained = true
        ready = []
        return nil
    }

    /// The frame that is on the screen at `start`: the last that begins at or before it, unless it is the film's last and has ended.
    private func first() throws(ReadingError) -> SharedFrame? {
        while true {
            var onScreen: SharedFrame?, following: SharedFrame?
            while following == nil, let frame = try pull() {
                if frame.presentationTime <= start { onScreen = frame } else { following = frame }
            }
            if !isAtBeginning, isWorthAnotherTry(onScreen) {
                attempt += 1
                try restart()
                continue
            }
            isFirst = false
            guard let onScreen else { return following }
            if let following {
                ready.insert(following, at: 0)
            } else if heldBack.isEmpty, onScreen.duration.isNumeric, onScreen.presentationTime + onScreen.duration <= start {
                return nil
            }
            return onScreen
        }
    }

    private func isWorthAnotherTry(_ frame: SharedFrame?) -> Bool {
        guard let frame else { return true }
        guard frame.flags.contains(.corrupt), !isDamaged else { return false }
        isDamaged = attempt == Self.steps.count - 1
        return !isDamaged
    }

    /// The next frame that the decoder puts out; nil at the end.
    private func pull() throws(ReadingError) -> SharedFrame? {
        while true {
            if let frame = ready.isEmpty ? nil : ready.removeFirst() {
                if frame.presentationTime > skippedUntil { return frame }
                continue
            }
            if isDrained { return nil }
            let waiting = samples.popFirst()
            guard let sample = if let waiting { waiting } else { try film.next(of: track) } else {
                try finish()
                continue
            }
            // Not by the decode times, which some films have after the presentation times.
            let isPastEnd = sample.presentationTime.isNumeric && sample.presentationTime >= end
            pastEnd = isPastEnd ? pastEnd + 1 : 0
            if pastEnd > Self.largestReordering {
                try finish()
                continue
            }
            if isPastEnd, mayHoldBack(sample) {
                heldBack.append(sample)
                continue
            }
            for early in heldBack { try decode(early) }
            heldBack = []
            try decode(sample)
        }
    }

    /// Whether a sample that is shown after `end` may wait until one comes that is shown before it and may need it: where none comes, it need not be
    /// decoded, nor what follows it.
    ///
    /// The first one may be the second field of a frame that begins before `end`, unless it is a sync sample. And a decoder must not be drained
    /// before it has put out the recovery point; see `finish`.
    private func mayHoldBack(_ sample: SampleBuffer) -> Bool { hasPutOut && (pastEnd > 1 || sample.flags.contains(.sync)) }

    /// Takes what the decoder still holds. Where it keeps frames to itself, decoding begins again further back, and goes on behind those handed over.
    private func finish() throws(ReadingError) {
        isDrained = true
        session.finishDelayedFrames { take($0) }
        guard lacksFrame, !isAtBeginning, samplesSinceRestart <= Self.mostBeforeLoss else { return }
        let wasFirst = isFirst
        skippedUntil = reached
        attempt += 1
        try restart()
        isFirst = wasFirst
    }

    private func decode(_ sample: SampleBuffer) throws(ReadingError) {
        var instructions = DecodeInstructions(isFollowed: !samples.isEmpty)
        instructions.doNotOutput = sample.presentationTime.isNumeric && sample.presentationTime < hiddenBefore
        if samplesSinceRestart == 0 { firstTime = sample.presentationTime }
        samplesSinceRestart += 1
        do throws(DecodingError) {
            try session.decode(sample, instructions) { take($0) }
        } catch {
            throw ReadingError(error, location: reader.location, time: sample.presentationTime)
        }
        samplesDecoded += 1
        if sample.decodeTime.isNumeric { decodedUntil = sample.decodeTime }
    }

    private func take(_ output: consuming DecodeOutput) {
        switch consume output {
        case .frame(let frame):
            if frame.presentationTime >= firstTime { hasPutOut = true }
            ready.append(SharedFrame(frame))
        case .dropped(let receipt, let reason): if reason == .noFrame { note(lacking: receipt.presentationTime) }
        case .failed(let receipt, let error):
            damagedSamples += 1
            lastDamage = ReadingError(error, location: reader.location, time: receipt.presentationTime)
        }
    }

    /// Frames shown before the recovery point cannot be decoded from there on.
    private func note(lacking time: MediaTime) {
        guard case .video(let format) = track.format, format.codec == .h264, time.isNumeric, firstTime.isNumeric else { return }
        if time > firstTime, time < end { lacksFrame = true }
    }
}
