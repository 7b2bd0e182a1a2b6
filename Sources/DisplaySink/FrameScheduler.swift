public import Media
public import SurfacePool

/// Decides which of the waiting frames is shown at a refresh of the display.
///
/// Frames wait in the order in which they are shown. The oldest is *due* at a refresh when the host time of its presentation time is before the
/// refresh, or at most `threshold` of a period after it:
///
///        refresh k             refresh k+1            refresh k+2
///     ───────┼──────────────────────┼──────────────────────┼─────►
///            ├── due at k ──┊── due at k+1 ────────┊── due at k+2
///                       threshold
///
/// - A due frame is *late*, and is dropped, when the frame after it is due as well.
/// - The last due frame is late when its duration ended more than a refresh ago: every frame comes too late, and dropping lets the decoder catch up.
///   But one such frame is shown every `progressInterval`, and the very last one always, so that a viewer sees the film move and end. While
///   there is room for another frame, it waits until that comes or the film ends: the last frame may come before it is known to be the last.
/// - A frame that is not due although a later one is, because times went back between them, is dropped as a discontinuity.
/// - While the film is paused, the frame for the current time is shown: the first one after a flush at once, others when the time is set.
/// - A frame without a time follows the previous frame after that frame's duration; without a duration, at the next refresh.
/// - In backward playback a frame's time is the end of its duration.
///
/// `CadenceTracker` keeps the threshold away from the frames' times, so that jitter does not change the cadence.
///
/// Thread-safety: a value. It reads no clock.
public struct FrameScheduler: Sendable {
    /// A frame as the scheduler sees it.
    public struct Candidate: Sendable, Hashable {
        /// When the frame is due, in media time. Not numeric: it follows the previous frame.
        public var presentationTime: MediaTime
        /// How long the frame is shown, in media time; not numeric when unknown.
        public var duration: MediaTime
        /// Shown whatever the clock says, as the first frame of a new position and those of a camera are. What waits before it is dropped.
        public var isImmediate: Bool

        /// Creates a candidate. By default its duration is unknown and it is shown at its time.
        public init(presentationTime: MediaTime, duration: MediaTime = .invalid, isImmediate: Bool = false) {
            self.presentationTime = presentationTime
            self.duration = duration
            self.isImmediate = isImmediate
        }
    }

    /// What happens at a refresh of the display.
    public enum Decision: Sendable, Hashable {
        /// Drop the oldest frame for this reason (`late` or `discontinuity`), then ask again.
        case drop(DropReason)
        /// Show the oldest frame.
        case show
        /// Show nothing new. Ask again for the first refresh at or after this time; nil: after a change.
        case keep(until: HostTime?)
    }

    /// 100 ms: at ten frames per second a viewer still sees motion.
    static let progressInterval = HostSpan.milliseconds(100)

    private var cadence = CadenceTracker()
    /// The frame on the display: its time, and its duration where known.
    private var shown: (time: MediaTime, duration: MediaTime)?
    /// When the frame on the display should have been shown; nil when it was shown without regard to the clock.
    private(set) var shownMoment: HostTime?
    /// A frame was shown since the last flush.
    private var hasShown = false
    private var shownDeadline: HostTime?
    /// Frames dropped since the one on the display.
    private var skipped = 0
    /// The direction in which the film moved last.
    private var isForward = true

    /// Creates the scheduler of a film that has shown no frame yet.
    public init() {}

    /// Resets everything, for a flush.
    public mutating func reset() { self = FrameScheduler() }

    /// The decision for one refresh.
    ///
    /// - Parameters:
    ///   - count: Number of frames that wait.
    ///   - isEnding: Whether no frame follows them.
    ///   - hasRoom: Whether one more frame can wait.
    ///   - mapping: The mapping between media time and host time.
    ///   - candidate: The frame at `index`; 0 is the oldest.
    public mutating func decide(
        count: Int, isEnding: Bool = false, hasRoom: Bool = true, mapping: TimebaseMapping, interval: DisplayInterval, candidate: (Int) -> Candidate
    ) -> Decision {
        if mapping.rate != 0, isForward != (mapping.rate > 0) {
            isForward = mapping.rate > 0
            cadence.reset()
        }
        guard count > 0 else { return .keep(until: nil) }
        let head = candidate(0)
        // Also a camera's frame, when the next one is there.
        for index in 1..<max(count, 1) where candidate(index).isImmediate { return drop(.late) }
        if head.isImmediate { return show(head, at: interval) }
        let headTime = time(of: head, after: shown)
        let next = count > 1 ? candidate(1) : nil
        let nextTime = next.map { time(of: $0, after: (headTime, head.duration)) } ?? .invalid

        guard mapping.isMoving else {
            let now = mapping.mediaAnchor
            if let next, isReached(nextTime, next.duration, at: now) { return drop(.late) }
            return !hasShown || isReached(headTime, head.duration, at: now) ? show(head, at: interval) : .keep(until: nil)
        }

        guard let moment = moment(headTime, head.duration, mapping) else { return show(head, at: interval) }
        let period = interval.period.map { Double($0.nanoseconds) } ?? 0
        let early = HostSpan(nanoseconds: Int64((cadence.threshold * period).rounded()))
        // The first frame is shown even when the next one is almost due.
        let nextEarly = hasShown ? early : .zero
        let isNextDue = next.flatMap { self.moment(nextTime, $0.duration, mapping) }.map { $0 - interval.deadline <= nextEarly } ?? false
        guard moment - interval.deadline <= early else { return isNextDue ? drop(.discontinuity) : .keep(until: moment - early) }
        if isNextDue { return drop(.late) }
        if isTooLate(headTime, head.duration, mapping, interval), let shownDeadline, !(isEnding && count == 1),
            (interval.deadline - shownDeadline) < Self.progressInterval
        {
            return count == 1 && hasRoom ? .keep(until: interval.following) : drop(.late)
        }
        defer { shownMoment = moment }
        cadence.observe(
            distance: Double((moment - interval.deadline).nanoseconds) / max(period, 1),
            step: step(to: headTime, head.duration, mapping), period: period)
        return show(head, at: interval)
    }

    /// The media time at which the last shown frame ends: the end of the film, if no frame follows. `.invalid` when unknown.
    public var endOfShown: MediaTime {
        guard let shown, shown.time.isNumeric else { return .invalid }
        guard isForward else { return shown.time }
        return shown.duration.isNumeric ? shown.time + shown.duration : shown.time
    }

    /// Records a frame that was shown without a decision: a step, or a frame of an untimed sink.
    mutating func didShow(_ frame: Candidate, at deadline: HostTime) {
        shown = (time(of: frame, after: shown), frame.duration)
        shownDeadline = deadline
        shownMoment = nil
        hasShown = true
        skipped = 0
    }

    private mutating func show(_ frame: Candidate, at interval: DisplayInterval) -> Decision {
        didShow(frame, at: interval.deadline)
        return .show
    }

    private mutating func drop(_ reason: DropReason) -> Decision {
        skipped += 1
        return .drop(reason)
    }

    // MARK: Times

    /// The frame's own time, or the time that follows from the previous frame; `.invalid` when neither is known.
    private func time(of frame: Candidate, after previous: (time: MediaTime, duration: MediaTime)?) -> MediaTime {
        if frame.presentationTime.isNumeric { return frame.presentationTime }
        guard let previous, previous.time.isNumeric, previous.duration.isNumeric else { return .invalid }
        return isForward ? previous.time + previous.duration : previous.time - previous.duration
    }

    /// The host time at which the film reaches the frame.
    private func moment(_ time: MediaTime, _ duration: MediaTime, _ mapping: TimebaseMapping) -> HostTime? {
        guard time.isNumeric else { return nil }
        return mapping.hostTime(of: isForward || !duration.isNumeric ? time : time + duration)
    }

    /// Whether a film that is paused at `now` has reached the frame.
    private func isReached(_ time: MediaTime, _ duration: MediaTime, at now: MediaTime) -> Bool {
        guard time.isNumeric else { return false }
        return isForward ? time <= now : now < (duration.isNumeric ? time + duration : time)
    }

    /// Whether the frame's duration ended more than a refresh ago.
    private func isTooLate(_ time: MediaTime, _ duration: MediaTime, _ mapping: TimebaseMapping, _ interval: DisplayInterval) -> Bool {
        guard duration.isNumeric, let end = mapping.hostTime(of: isForward ? time + duration : time) else { return false }
        return interval.deadline - end > (interval.period ?? .zero)
    }

    /// Host nanoseconds from the previous frame, dropped ones included, to this one; for the first frame, its duration.
    private func step(to time: MediaTime, _ duration: MediaTime, _ mapping: TimebaseMapping) -> Double? {
        let media = shown.map { (time - $0.time).seconds / Double(skipped + 1) } ?? duration.seconds * (isForward ? 1 : -1)
        let distance = media / mapping.rate * 1e9
        return distance.isFinite && distance > 0 ? distance : nil
    }
}
