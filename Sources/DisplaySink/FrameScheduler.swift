public import Media

/// One refresh of a display: when a picture handed over now would light up, and when the next chance comes.
public struct DisplayInterval: Sendable, Hashable {
    /// When the picture would light up, on CLOCK_MONOTONIC.
    public var deadline: HostTime
    /// When the refresh after that lights up.
    public var nextDeadline: HostTime

    public init(deadline: HostTime, nextDeadline: HostTime) {
        self.deadline = deadline
        self.nextDeadline = nextDeadline
    }

    public var period: HostSpan { nextDeadline - deadline }
}

/// Decides which of the waiting frames lights up at a refresh of the display.
///
/// A frame is *due* at a refresh when its time lies closer to that refresh than to the next: at 24 frames a second on 60 Hz
/// this gives the 3:2 cadence. When film and display run at nearly whole ratios, frame times drift slowly across the
/// halfway point, and jitter of a microsecond there would turn the cadence into flicker (3:2:3:2 → 2:3:3:2:2…). So the
/// halfway point has hysteresis: it moves by an eighth of a refresh in favour of the last choice made near it.
///
/// Of several due frames only the newest is shown. It is shown however late it is, so that an overloaded machine shows
/// progress instead of a standing picture.
///
///        refresh k          refresh k+1         refresh k+2
///           |------- half -----|------- half -----|
///           frames before "half" belong to k; those after it to k+1
///
/// A pure value: it reads no clock. Unit: nanoseconds of CLOCK_MONOTONIC.
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
        /// Drop this many of the oldest frames as late, then show the next.
        case show(afterDropping: Int)
        /// Show nothing new; the oldest frame becomes due at this time, or nobody knows when.
        case keep(until: HostTime?)
    }

    /// Fraction of a refresh by which the halfway point moves in favour of the last choice.
    private static let hysteresis = 0.125

    /// 1 when frames near the halfway point are being taken early, -1 when late, 0 before one was met.
    private var leaning = 0.0

    public init() {}

    /// Forgets the past: after a flush, a seek, a jump of the timebase.
    public mutating func reset() { leaning = 0 }

    /// The decision for one refresh.
    /// - Parameters:
    ///   - count: frames waiting, oldest first.
    ///   - candidate: the frame `index` places behind the oldest.
    ///   - mapping: media time to host time.
    public mutating func decide(
        count: Int, candidate: (Int) -> Candidate, mapping: TimebaseMapping, interval: DisplayInterval
    ) -> Decision {
        guard count > 0 else { return .keep(until: nil) }
        if candidate(0).isImmediate { return shown(after: 0, error: 0) }
        guard mapping.isMoving else { return .keep(until: nil) }
        let period = Double(max(interval.period.nanoseconds, 1))
        let threshold = period * (0.5 + Self.hysteresis * leaning)

        // How far after the deadline a frame wants to light up; below zero it is overdue. Film running backwards mirrors time.
        func distance(_ index: Int) -> Double? {
            let time = candidate(index).presentationTime
            guard time.isNumeric, let host = mapping.hostTime(of: time) else { return nil }
            return Double((host - interval.deadline).nanoseconds)
        }

        // A frame without a time follows the one before it at once.
        guard let first = distance(0) else { return shown(after: 0, error: 0) }
        guard first < threshold else {
            return .keep(until: interval.deadline + HostSpan(nanoseconds: Int64(first - threshold)))
        }
        // The newest frame that is due; all before it have missed their refresh.
        var newest = 0
        var error = first
        while newest + 1 < count, !candidate(newest + 1).isImmediate, let next = distance(newest + 1), next < threshold {
            newest += 1
            error = next
        }
        if newest + 1 < count, candidate(newest + 1).isImmediate { return shown(after: newest + 1, error: 0) }
        return shown(after: newest, error: error / period)
    }

    /// - Parameter error: how far after the deadline the frame wanted to light up, in refreshes, -0.5 … 0.5 when in time.
    private mutating func shown(after dropped: Int, error: Double) -> Decision {
        // A frame taken early (it wanted to light up after the deadline) makes early the habit, and the other way round.
        if error > 0.25 { leaning = 1 } else if error < -0.25 { leaning = -1 }
        return .show(afterDropping: dropped)
    }
}
