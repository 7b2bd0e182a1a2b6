/// A source of steadily advancing time on this machine: the system's clocks, a sound card, or a hand-driven one in tests.
///
/// Thread-safety: every member may be called from any thread.
public protocol HostClock: AnyObject, Sendable {
    /// A word for logs and statistics: `monotonic`, `audio`, `manual`.
    var name: String { get }
    /// The reading now.
    func now() -> HostTime
    /// How this clock's readings relate to `CLOCK_MONOTONIC` (to the manual clock's own readings for `ManualClock`), as last
    /// measured. Exact for `MonotonicClock`.
    var relation: ClockRelation { get }
    /// Calls `body` once, on a thread of the library's own, as soon as the clock has reached `time`; at once when it already
    /// has. Cancel through the result.
    func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ClockTimer
}

extension HostClock {
    /// `other`'s reading when this clock reads `time`, by what has been measured of both: their rates may differ, and drift.
    ///
    /// The counterpart of `CMSyncConvertTime`. Both clocks' relations must be to the same reference: a `ManualClock` knows no other.
    public func convert(_ time: HostTime, to other: any HostClock) -> HostTime {
        other === self ? time : other.relation.fromReference(relation.toReference(time))
    }
}

/// A pending call made by `HostClock.schedule`.
public protocol ClockTimer: AnyObject, Sendable {
    /// Prevents the call unless it has begun. Idempotent.
    func cancel()
}

/// A linear map from one clock's readings to another's: two anchors and a relative rate, all measured.
public struct ClockRelation: Sendable, Hashable {
    /// What this clock reads at a moment that both clocks have read.
    public var anchor: HostTime
    /// What the reference clock reads at the moment of `anchor`.
    public var referenceAnchor: HostTime
    /// Seconds of the reference clock per second of this clock; 1.0001 means this clock is 100 ppm slow.
    public var rate: Double

    /// A relation through one moment that both clocks have read.
    public init(anchor: HostTime, referenceAnchor: HostTime, rate: Double) {
        self.anchor = anchor
        self.referenceAnchor = referenceAnchor
        self.rate = rate
    }

    /// Two clocks that always read the same.
    public static let identity = ClockRelation(anchor: HostTime(nanoseconds: 0), referenceAnchor: HostTime(nanoseconds: 0), rate: 1)

    /// The reference clock's reading when this clock reads `time`.
    public func toReference(_ time: HostTime) -> HostTime {
        if rate == 1 { return referenceAnchor + (time - anchor) }
        return referenceAnchor + HostSpan(nanoseconds: Int64((Double((time - anchor).nanoseconds) * rate).rounded()))
    }

    /// This clock's reading when the reference clock reads `time`.
    public func fromReference(_ time: HostTime) -> HostTime {
        if rate == 1 { return anchor + (time - referenceAnchor) }
        return anchor + HostSpan(nanoseconds: Int64((Double((time - referenceAnchor).nanoseconds) / rate).rounded()))
    }
}
