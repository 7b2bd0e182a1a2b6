internal import Media
internal import SurfacePool

/// The state and decisions of a presentation queue. It has no lock and no clock, and ends no use, because that runs other code.
struct PresentationQueueState: ~Copyable, Sendable {
    /// What the shell does next.
    enum Step: ~Copyable, Sendable {
        /// End the frame's use, then ask again.
        case drop(VideoFrame)
        /// Return the decision to the sink. `step`: the presentation time of a frame that `showNext` requested. `isStarving`: from now on the film's
        /// time passes without frames.
        case decided(PresentationDecision, step: MediaTime?, isStarving: Bool = false)
        /// A flush has begun another epoch since the clock was read; read it again.
        case outdated
    }

    /// A frame that was passed to the sink and not reported yet.
    private struct Submission: Sendable {
        var sequence: UInt64
        /// Which of the films that the queue has served one after the other.
        var film: Int
        /// The host time of its presentation time; nil when it was shown without regard to the clock.
        var ideal: HostTime?
        var deadline: HostTime
        /// When a camera captured the frame.
        var captured: HostTime?
    }

    /// 8: more than any display has pending. If a sink does not report, the oldest is removed.
    private static let submissionLimit = 8
    /// 1 s: a sink that has not reported a frame so long after its refresh never will.
    private static let longestReport = HostSpan.seconds(1)

    private let capacity: Int
    private let pacing: Pacing
    private var frames: Ring<VideoFrame>
    private var scheduler = FrameScheduler()
    private var submissions = Ring<Submission>(capacity: submissionLimit)
    /// When the previous frame was shown; nil when the next frame cannot be compared with it.
    private var lastSeen: HostTime?
    private(set) var statistics = PresentationStatistics()
    /// Which of the films that the queue has served: counts them all.
    private var film = 0
    /// The films that follow each other in the stream of frames.
    private var films = FilmBoundaries()
    /// The film before this one in the stream of frames, whose last frames the sink may not have reported yet.
    private var before = (film: -1, number: -1, statistics: PresentationStatistics())

    private(set) var isCancelled = false
    /// Counts flushes, so that a frame that waits for room during a flush is not added afterwards.
    private(set) var epoch = 0
    private var isEnding = false
    /// The duration of the last frame has ended and no frame waits.
    private(set) var isStarving = false
    /// The end of the frames since the last flush has been told to the sink.
    private(set) var hasReportedEnd = false
    private var mustRemoveImage = false
    /// Number of steps that were requested and not made yet.
    private var steps = 0
    /// An untimed sink gets only the first frame and steps.
    private var isHeld = false
    /// The time of the frame taken last, and its end; nil before the first frame since the start or a flush.
    private var taken: (time: MediaTime, end: MediaTime)?
    /// The next frame is the first since the start or a flush.
    private var isFirst = true
    /// The epoch of the first frame that was handed out last; nil before any.
    private(set) var firstEpoch: Int?
    /// The sink sleeps until woken.
    private var isSinkAsleep = true

    init(capacity: Int, pacing: Pacing) {
        self.capacity = capacity
        self.pacing = pacing
        frames = Ring(capacity: capacity)
    }

    var count: Int { frames.count }
    var isFull: Bool { frames.isFull }
    /// When the next frame is to be shown; nil: none waits.
    var nextTime: MediaTime? { frames.isEmpty ? nil : frames[0].presentationTime }

    // MARK: The decoder's side

    /// Adds a frame at the end; there must be room. True when the sink must be woken.
    mutating func append(_ frame: consuming VideoFrame) -> Bool {
        let mustWake = isSinkAsleep || frame.flags.contains(.displayImmediately)
        isSinkAsleep = false
        isStarving = false
        isEnding = false
        hasReportedEnd = false
        frames.append(frame)
        return mustWake
    }

    mutating func markEndOfStream() {
        isEnding = true
        isStarving = false
    }

    mutating func countDropped(_ reason: DropReason) { statistics.count(reason) }

    // MARK: The owner's side

    /// Removes the waiting frames, whose uses the caller ends.
    mutating func flush(removeImage: Bool) -> Ring<VideoFrame> {
        statistics.count(.flushed, frames.count)
        var waiting = Ring<VideoFrame>(capacity: capacity)
        swap(&waiting, &frames)
        epoch += 1
        scheduler.reset()
        isStarving = false
        isEnding = false
        hasReportedEnd = false
        steps = 0
        taken = nil
        isFirst = true
        breakRhythm()
        if removeImage { mustRemoveImage = true }
        return waiting
    }

    /// Serves another film: removes the waiting frames, whose uses the caller ends, and counts from zero. Frames of the film before that the sink has
    /// not reported yet do not count.
    mutating func beginFilm() -> Ring<VideoFrame> {
        let waiting = flush(removeImage: false)
        statistics = PresentationStatistics()
        film += 1
        films = FilmBoundaries()
        before = (-1, -1, PresentationStatistics())
        isCancelled = false
        isHeld = false
        return waiting
    }

    /// The frames from `start` on are of another film.
    mutating func follow(_ number: Int, from start: MediaTime) { films.follow(number, from: start) }

    /// After a flush: the frames that come are of this film.
    mutating func resume(_ number: Int) {
        films.forget()
        guard number != films.number, number == before.number else { return }
        let other = (film: film, number: films.number, statistics: statistics)
        (film, statistics) = (before.film, before.statistics)
        before = other
        films.resume(number)
    }

    /// What was counted for a film of the stream of frames; nil for one that is long over, or has not begun.
    func statistics(of number: Int) -> PresentationStatistics? {
        number == films.number ? statistics : number == before.number ? before.statistics : nil
    }

    /// Whether each frame of the films before this one that has come was shown or dropped, so that what was counted for them is final.
    func isOver(before number: Int, at now: HostTime) -> Bool {
        if !frames.isEmpty, films.film(at: frames[0].presentationTime) < number { return false }
        for index in 0..<submissions.count {
            let shown = submissions[index]
            let own = shown.film == film ? films.number : shown.film == before.film ? before.number : -1
            if own < number, now - shown.deadline < Self.longestReport { return false }
        }
        return true
    }

    /// The film that has begun since the last call; nil: none has.
    mutating func takeBegun() -> Int? { films.takeBegun() }

    /// The frame that is taken may be the first of another film.
    private mutating func enter(_ time: MediaTime) {
        let number = films.number
        guard films.enter(time) else { return }
        before = (film, number, statistics)
        statistics = PresentationStatistics()
        film += 1
    }

    mutating func setCancelled(_ isCancelled: Bool) { self.isCancelled = isCancelled }

    mutating func step() { steps += 1 }

    /// Ends or begins the time in which an untimed sink gets no frames but the first and steps.
    mutating func setHeld(_ isHeld: Bool) {
        self.isHeld = isHeld
        steps = 0
    }

    /// The media time that the sink has reached: of the frame taken last, or its end when the end has been told to the sink. Nil before any frame.
    var reached: MediaTime? { taken.map { hasReportedEnd ? $0.end : $0.time } }

    /// The timebase changed, so frames before and after the change cannot be compared.
    mutating func breakRhythm() {
        lastSeen = nil
        statistics.breakRhythm()
    }

    // MARK: The sink's side

    /// The interval of the sink's last call.
    private var lastInterval: DisplayInterval?

    /// The first refresh at or after `time`, computed from the last interval; `time` itself when there is none.
    func refresh(notBefore time: HostTime) -> HostTime {
        guard let last = lastInterval, let period = last.period?.nanoseconds, period > 0 else { return time }
        let distance = (time - last.deadline).nanoseconds
        let count = distance > 0 ? (distance + period - 1) / period : distance / period
        return last.deadline + HostSpan(nanoseconds: count * period)
    }

    /// The next step towards a decision for `interval`.
    ///
    /// - Parameter mapping: The film's clock, read in `readingEpoch`.
    mutating func next(for interval: DisplayInterval, mapping: TimebaseMapping, in readingEpoch: Int) -> Step {
        guard readingEpoch == epoch else { return .outdated }
        lastInterval = interval
        if mustRemoveImage {
            mustRemoveImage = false
            return .decided(.removeImage, step: nil)
        }
        guard !frames.isEmpty else {
            let wasStarving = isStarving, decision = rest(at: interval.deadline, mapping: mapping)
            return .decided(decision, step: nil, isStarving: isStarving && !wasStarving)
        }
        if pacing == .untimed, !isHeld || isFirst { return take(at: interval.deadline, ideal: nil) }
        if steps > 0 {
            steps -= 1
            scheduler.didShow(FrameScheduler.Candidate(frames[0]), at: interval.deadline)
            let time = frames[0].presentationTime
            return take(at: interval.deadline, ideal: nil, step: time)
        }
        if pacing == .untimed {
            isSinkAsleep = true
            return .decided(.keep(until: nil), step: nil)
        }
        let decision = scheduler.decide(
            count: frames.count, isEnding: isEnding, hasRoom: !frames.isFull, mapping: mapping, interval: interval
        ) { FrameScheduler.Candidate(frames[$0]) }
        switch decision {
        case .keep(let time):
            isSinkAsleep = time == nil
            return .decided(.keep(until: time), step: nil)
        case .drop(let reason):
            let frame = frames.popFirst()!
            enter(frame.presentationTime)
            statistics.count(reason)
            return .drop(frame)
        case .show: return take(at: interval.deadline, ideal: scheduler.shownMoment)
        }
    }

    private mutating func take(at deadline: HostTime, ideal: HostTime?, step: MediaTime? = nil) -> Step {
        let frame = frames.popFirst()!
        let isFirst = isFirst
        self.isFirst = false
        if isFirst { firstEpoch = epoch }
        let time = frame.presentationTime
        enter(time)
        if time.isNumeric { taken = (time, frame.duration.isNumeric ? time + frame.duration : time) }
        statistics.countSubmitted()
        if submissions.isFull { _ = submissions.popFirst() }
        let captured = frame.attachments.captureTime
        submissions.append(Submission(sequence: frame.sequence, film: film, ideal: ideal, deadline: deadline, captured: captured))
        return .decided(.show(frame, isFirst: isFirst), step: step)
    }

    /// No frame waits: the film has ended, or the decoder is too slow.
    private mutating func rest(at deadline: HostTime, mapping: TimebaseMapping) -> PresentationDecision {
        isSinkAsleep = true
        // A film that is held does not reach its end.
        if isStarving || hasReportedEnd || (isHeld && !isFirst) { return .keep(until: nil) }
        if pacing == .display, scheduler.endOfShown.isNumeric {
            // A paused film does not reach its end.
            guard let end = mapping.hostTime(of: scheduler.endOfShown) else { return .keep(until: nil) }
            if end > deadline { return .keep(until: end) }
            if !isEnding { isStarving = mapping.rate > 0 }
        }
        guard isEnding else { return .keep(until: nil) }
        hasReportedEnd = true
        return .finished
    }

    // MARK: Feedback

    mutating func didPresent(sequence: UInt64, at time: HostTime, refresh: HostSpan?, flags: PresentationFlags, soundLead: HostSpan? = nil) {
        let submission = takeSubmission(sequence)
        if let submission, submission.film != film {
            if submission.film == before.film { before.statistics.countPresented(at: time, flags) }
            return
        }
        films.report()
        statistics.countPresented(at: time, flags)
        guard let submission else { return }
        if let captured = submission.captured { statistics.record(captureDelay: time - captured) }
        if let ideal = submission.ideal { statistics.record(error: time - ideal, soundLead: soundLead) }
        if let refresh, refresh > .zero {
            if submission.ideal != nil, time - submission.deadline > HostSpan(nanoseconds: refresh.nanoseconds / 2) {
                statistics.countMissedRefresh()
            }
            if let lastSeen, submission.ideal != nil, time > lastSeen {
                let refreshes = (time - lastSeen).seconds / refresh.seconds
                statistics.countRepeats(max(Int(refreshes.rounded()) - 1, 0))
            }
        }
        lastSeen = submission.ideal == nil ? nil : time
    }

    mutating func didDiscard(sequence: UInt64) {
        if let submission = takeSubmission(sequence), submission.film != film {
            if submission.film == before.film { before.statistics.count(.late) }
            return
        }
        films.report()
        statistics.count(.late)
    }

    /// The oldest submission with this number. Feedback comes in order, so it is almost always the first. Others move to the end.
    private mutating func takeSubmission(_ sequence: UInt64) -> Submission? {
        for _ in 0..<submissions.count {
            guard let first = submissions.popFirst() else { return nil }
            if first.sequence == sequence { return first }
            submissions.append(first)
        }
        return nil
    }
}

extension FrameScheduler.Candidate {
    init(_ frame: borrowing VideoFrame) {
        self.init(
            presentationTime: frame.presentationTime, duration: frame.duration,
            isImmediate: frame.flags.contains(.displayImmediately))
    }
}
