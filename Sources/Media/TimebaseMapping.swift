/// How media time follows from `CLOCK_MONOTONIC` at the moment of the snapshot: a straight line, or a fixed time when paused.
///
/// A display takes one snapshot and decides about a refresh without reading the timebase again. On a `ManualClock` the monotonic
/// times are that clock's own.
///
/// Thread-safety: a value.
public struct TimebaseMapping: Sendable, Hashable {
    /// A moment of `CLOCK_MONOTONIC` at which the media time is known.
    public var hostAnchor: HostTime
    /// The media time at `hostAnchor`; while paused, the media time at every moment.
    public var mediaAnchor: MediaTime
    /// Media seconds in a monotonic second, the source clock's drift included; 0 is paused, negative plays backwards.
    public var rate: Double

    /// A line through a known moment: media time is `mediaAnchor` at `hostAnchor` and moves with `rate`.
    public init(hostAnchor: HostTime, mediaAnchor: MediaTime, rate: Double) {
        self.hostAnchor = hostAnchor
        self.mediaAnchor = mediaAnchor
        self.rate = rate
    }

    /// Whether media time moves; false while paused.
    public var isMoving: Bool { rate != 0 }

    /// The media time at a moment, in nanoseconds (`mediaAnchor` itself while paused).
    public func mediaTime(at host: HostTime) -> MediaTime {
        guard rate != 0, mediaAnchor.isNumeric else { return mediaAnchor }
        let elapsed = scale((host - hostAnchor).nanoseconds, by: rate)
        let (sum, overflow) = (mediaAnchor.nanoseconds() ?? 0).addingReportingOverflow(elapsed)
        return overflow ? (elapsed > 0 ? .positiveInfinity : .negativeInfinity) : MediaTime(nanoseconds: sum)
    }

    /// The moment at which media time reaches `time` (the first nanosecond at which `mediaTime(at:)` is there or beyond, in the direction
    /// of motion); nil when it never will: paused, or no number. Infinities give the distant future or past.
    public func hostTime(of time: MediaTime) -> HostTime? {
        guard rate != 0 else { return nil }
        switch time.kind {
        case .invalid, .indefinite: return nil
        case .positiveInfinity: return rate > 0 ? .distantFuture : .distantPast
        case .negativeInfinity: return rate > 0 ? .distantPast : .distantFuture
        case .numeric: break
        }
        let rounding: MediaTime.Rounding = rate > 0 ? .towardPositiveInfinity : .towardNegativeInfinity
        guard let target = time.nanoseconds(rounding: rounding), let anchor = mediaAnchor.nanoseconds() else { return nil }
        let (distance, overflow) = target.subtractingReportingOverflow(anchor)
        if overflow { return (target > anchor) == (rate > 0) ? .distantFuture : .distantPast }
        if rate == 1 { return hostAnchor + HostSpan(nanoseconds: distance) }
        let span = (Double(distance) / rate).rounded(.up)
        guard let nanoseconds = Int64(exactly: span) else { return span > 0 ? .distantFuture : .distantPast }
        return hostAnchor + HostSpan(nanoseconds: nanoseconds)
    }
}

/// `nanoseconds * rate`, saturating; exact for a rate of ±1, else good to a nanosecond for spans up to a hundred days.
func scale(_ nanoseconds: Int64, by rate: Double) -> Int64 {
    if rate == 1 { return nanoseconds }
    let product = (Double(nanoseconds) * rate).rounded()
    return Int64(exactly: product) ?? (product > 0 ? .max : .min)
}
