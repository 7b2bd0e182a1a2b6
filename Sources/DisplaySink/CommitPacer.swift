package import Media

/// Decides when a display system is given the next frame, and for which refresh that frame is chosen.
///
/// A display shows one commit per refresh: a second commit before the same refresh would replace the first, which nobody would see. So the next
/// commit waits until the refresh of the last one has passed, plus a margin for an error in the predicted time, and is chosen for a later one:
///
///        refresh k                refresh k+1
///     ───────┼────────┬───────────────┼────────┬───►
///            │ margin └ from here on commits are latched by k+1
///            └ the last commit was made for this refresh
///
/// Where commits must be made some time before their refresh (`RefreshClock.lead`), all of this lies that much earlier.
///
/// Thread-safety: a value. It reads no clock; times are of CLOCK_MONOTONIC.
package struct CommitPacer: Sendable, Hashable {
    /// Assumed while the display's period is unknown: that of 60 Hz.
    private static let assumedPeriod = HostSpan.nanoseconds(16_666_667)
    /// 1 ms, or an eighth of a shorter period: more than refreshes are predicted wrong by.
    private static let longestMargin = HostSpan.milliseconds(1)
    /// 0.5 ms before the commit's deadline: time enough to make the commit.
    private static let preparation = HostSpan.microseconds(500)
    /// How soon to ask again where a frame is already too late for its refresh.
    private static let retry = HostSpan.microseconds(100)

    /// Predicts the refreshes; fed by the display's feedback.
    package var clock: RefreshClock
    /// The refresh that the last commit was made for; long ago before the first.
    private var committedRefresh = HostTime.distantPast

    package init(clock: RefreshClock = RefreshClock()) { self.clock = clock }

    /// A commit made this long after a refresh is latched by the next one.
    package var margin: HostSpan {
        let period = clock.period ?? Self.assumedPeriod
        return min(Self.longestMargin, HostSpan(nanoseconds: period.nanoseconds / 8))
    }

    /// When the next commit may be made at the earliest. A commit before this time could replace the last one.
    package var earliestCommit: HostTime { committedRefresh - clock.lead + margin }

    /// The refresh that a commit made at `now` is for: always a later one than the last commit's.
    package func interval(at now: HostTime) -> DisplayInterval {
        clock.interval(at: max(now, committedRefresh - clock.lead + .nanoseconds(1)))
    }

    /// A commit was made at `now` with the frame chosen for `interval`.
    package mutating func didCommit(for interval: DisplayInterval, at now: HostTime) { committedRefresh = max(interval.deadline, now) }

    /// When to ask for a frame that is due at `time`: just after the refresh before the frame's own, and never in the past.
    ///
    /// - Parameter interval: The refresh that was asked about at `now`, when no frame was due.
    package func wakeTime(forFrameDueAt time: HostTime, now: HostTime, interval: DisplayInterval) -> HostTime {
        guard let period = clock.period else { return max(time - clock.lead, now + .milliseconds(1)) }
        let refresh = clock.refresh(atOrAfter: time)
        let early = min(refresh - period + margin, clock.commitDeadline(for: refresh) - Self.preparation)
        // It is too late for that refresh: ask as soon as the answer can differ.
        return early > now ? early : max(interval.deadline - clock.lead, now) + Self.retry
    }
}
