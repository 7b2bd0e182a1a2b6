public import Media

/// One refresh of a display: when a frame that is committed now is shown, and when the next one can be.
///
/// Thread-safety: a value.
public struct DisplayInterval: Sendable, Hashable {
    /// When the frame is shown, on CLOCK_MONOTONIC.
    public var deadline: HostTime
    /// When a frame is shown that is committed after this refresh.
    public var nextDeadline: HostTime
    /// Time between refreshes; nil when unknown or variable. Frames are then never shown before their time.
    public var period: HostSpan?

    /// The deadline after this one; 10 ms later where the display does not say.
    var following: HostTime { nextDeadline > deadline ? nextDeadline : deadline + .milliseconds(10) }

    /// Creates a refresh. Pass nil for `period` when the display has no constant one.
    public init(deadline: HostTime, nextDeadline: HostTime, period: HostSpan?) {
        self.deadline = deadline
        self.nextDeadline = nextDeadline
        self.period = period
    }

    /// A refresh of a display with a constant period.
    public init(deadline: HostTime, nextDeadline: HostTime) {
        self.init(deadline: deadline, nextDeadline: nextDeadline, period: nextDeadline > deadline ? nextDeadline - deadline : nil)
    }
}
