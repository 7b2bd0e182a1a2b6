public import Media
public import SurfacePool

/// Decides which of the waiting frames lights up at a refresh of the display.
///
/// The frames wait in the order in which they are to be shown. The oldest is *due* at a refresh when the moment its time asks for
/// lies before the refresh, or no more than `threshold` of a refresh period after it:
///
///        refresh k             refresh k+1            refresh k+2
///     ───────┼──────────────────────┼──────────────────────┼─────►
///            ├── due at k ──┊── due at k+1 ────────┊── due at k+2
///                       threshold
///
/// - A due frame is *late*, and dropped, when the one after it is due as well.
/// - The last due frame is late when its whole time has been over for more than a refresh: then everything comes too late, and
///   dropping gives the decoder room to catch up. But one such frame is shown every `progressInterval`, and the very last always,
///   so that a viewer sees the film move and end.
/// - A frame that wants to wait although a later one is due, time having turned back between them, is dropped as a discontinuity.
/// - While the film stands still the frame for the present time is shown: at once the first since a flush, others as the time is set.
/// - A frame without a time follows the one before it by that one's duration; without that too, at the next refresh.
/// - Played backwards, a frame's moment is the end of its duration, where the film enters it.
///
/// `CadenceTracker` keeps the threshold away from where the frames' times fall, so that their jitter does not change the rhythm.
///
/// Thread-safety: a value. It reads no clock.
public struct FrameScheduler: Sendable {
    /// A frame as the scheduler sees it.
    public struct Candidate: Sendable, Hashable {
        public var presentationTime: MediaTime
        public var duration: MediaTime
        /// To be shown whatever the clock says: the picture of a new position.
        public var isImmediate: Bool

        public init(presentationTime: MediaTime, duration: MediaTime = .invalid, isImmediate: Bool = false) {
            self.presentationTime = presentationTime
            self.duration = duration
            self.isImmediate = isImmediate
        }
    }

    public enum Decision: Sendable, Hashable {
        /// Drop the oldest frame for this reason (`late` or `discontinuity`), then ask again.
        case drop(DropReason)
        /// Show the oldest frame.
        case show
        /// Show nothing new; ask again for the first refresh at or after this time, or, when nil, after a change.
        case keep(until: HostTime?)
    }

    /// 100 ms: at ten pictures a second a film is still seen to move.
    static let progressInterval = HostSpan.milliseconds(100)

    private var cadence = CadenceTracker()
    /// The frame on the display: its time, and its duration where known.
    private var shown: (time: MediaTime, duration: MediaTime)?
    /// When the frame on the display should have lit up; nil when it was shown whatever the clock said.
    private(set) var shownMoment: HostTime?
    /// A frame was shown since the last flush.
    private var hasShown = false
    private var shownDeadline: HostTime?
    /// Frames dropped since the one on the display.
    private var skipped = 0
    /// The direction in which the film moved last.
    private var isForward = true

    public init() {}

    /// Forgets the past, as after a flush.
    public mutating func reset() { self = FrameScheduler() }

    /// The decision for one refresh.
    ///
    /// - Parameters:
    ///   - count: Frames waiting.
    ///   - isEnding: No further frame will follow them.
    ///   - mapping: How media time and host time lie to each other.
    ///   - candidate: The frame `index` places behind the oldest.
    public mutating func decide(
        count: Int, isEnding: Bool = false, mapping: TimebaseMapping, interval: DisplayInterval, candidate: (Int) -> Candidate
    ) -> Decision {
        if mapping.rate != 0, isForward != (mapping.rate > 0) {
            isForward = mapping.rate > 0
            cadence.reset()
        }
        guard count > 0 else { return .keep(until: nil) }
        let head = candidate(0)
        if head.isImmediate { return show(head, at: interval) }
        for index in 1..<max(count, 1) where candidate(index).isImmediate { return drop(.late) }
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
        // Before a rhythm is known the first frame is given the doubt.
        let nextEarly = hasShown ? early : .zero
        let isNextDue = next.flatMap { self.moment(nextTime, $0.duration, mapping) }.map { $0 - interval.deadline <= nextEarly } ?? false
        guard moment - interval.deadline <= early else { return isNextDue ? drop(.discontinuity) : .keep(until: moment - early) }
        if isNextDue { return drop(.late) }
        if isTooLate(headTime, head.duration, mapping, interval), let shownDeadline, !(isEnding && count == 1),
            (interval.deadline - shownDeadline) < Self.progressInterval
        {
            return drop(.late)
        }
        defer { shownMoment = moment }
        cadence.observe(
            distance: Double((moment - interval.deadline).nanoseconds) / max(period, 1),
            step: step(to: headTime, head.duration, mapping), period: period)
        return show(head, at: interval)
    }

    /// When the frame shown last has had its time, in media time: the end of the film, when no frame follows. `.invalid` when unknown.
    public var endOfShown: MediaTime {
        guard let shown, shown.time.isNumeric else { return .invalid }
        guard isForward else { return shown.time }
        return shown.duration.isNumeric ? shown.time + shown.duration : shown.time
    }

    /// What was decided in another way: a frame shown out of turn, or without a display's refreshes.
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

    /// The frame's time, its own or what follows from the one before it; `.invalid` when neither is known.
    private func time(of frame: Candidate, after previous: (time: MediaTime, duration: MediaTime)?) -> MediaTime {
        if frame.presentationTime.isNumeric { return frame.presentationTime }
        guard let previous, previous.time.isNumeric, previous.duration.isNumeric else { return .invalid }
        return isForward ? previous.time + previous.duration : previous.time - previous.duration
    }

    /// The host time at which the film enters the frame.
    private func moment(_ time: MediaTime, _ duration: MediaTime, _ mapping: TimebaseMapping) -> HostTime? {
        guard time.isNumeric else { return nil }
        return mapping.hostTime(of: isForward || !duration.isNumeric ? time : time + duration)
    }

    /// Whether a film that stands at `now` has entered the frame.
    private func isReached(_ time: MediaTime, _ duration: MediaTime, at now: MediaTime) -> Bool {
        guard time.isNumeric else { return false }
        return isForward ? time <= now : now < (duration.isNumeric ? time + duration : time)
    }

    /// Whether the frame's whole time has been over for more than a refresh.
    private func isTooLate(_ time: MediaTime, _ duration: MediaTime, _ mapping: TimebaseMapping, _ interval: DisplayInterval) -> Bool {
        guard duration.isNumeric, let end = mapping.hostTime(of: isForward ? time + duration : time) else { return false }
        return interval.deadline - end > (interval.period ?? .zero)
    }

    /// Host nanoseconds from the frame before (a skipped one counted) to this one; for the first, what its duration promises.
    private func step(to time: MediaTime, _ duration: MediaTime, _ mapping: TimebaseMapping) -> Double? {
        let media = shown.map { (time - $0.time).seconds / Double(skipped + 1) } ?? duration.seconds * (isForward ? 1 : -1)
        let distance = media / mapping.rate * 1e9
        return distance.isFinite && distance > 0 ? distance : nil
    }
}
