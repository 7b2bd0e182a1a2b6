public import Media

/// One refresh of a display: when a picture handed over now lights up, and when the next chance comes.
///
/// Thread-safety: a value.
public struct DisplayInterval: Sendable, Hashable {
    /// When the picture would light up, on CLOCK_MONOTONIC.
    public var deadline: HostTime
    /// When a picture handed over after this refresh would.
    public var nextDeadline: HostTime
    /// Time between refreshes; nil when unknown or variable: then pictures are never shown before their time.
    public var period: HostSpan?

    public init(deadline: HostTime, nextDeadline: HostTime, period: HostSpan?) {
        self.deadline = deadline
        self.nextDeadline = nextDeadline
        self.period = period
    }

    /// A refresh of a display with a steady period.
    public init(deadline: HostTime, nextDeadline: HostTime) {
        self.init(deadline: deadline, nextDeadline: nextDeadline, period: nextDeadline > deadline ? nextDeadline - deadline : nil)
    }
}
