// Bridges to the standard library's `Duration`, which counts attoseconds.

extension MediaTime {
    /// A span of Swift's time as media time: to the nearest nanosecond, or to the nearest second beyond 292 years. `hasBeenRounded` says
    /// whether that was exact.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (nanoseconds, isExact) = Self.divide(Int128(attoseconds), by: 1_000_000_000, .halfAwayFromZero, finer: false)
        if let value = Int64(exactly: Int128(seconds) * Int128(Self.nanosecondScale) + nanoseconds) {
            self.init(value, Self.nanosecondScale, rounded: !isExact)
        } else {
            // The rest has the sign of the seconds.
            let isNearerNext = attoseconds.magnitude >= 500_000_000_000_000_000
            let (value, overflow) = seconds.addingReportingOverflow(isNearerNext ? Int64(seconds.signum()) : 0)
            self.init(overflow ? seconds : value, 1, rounded: attoseconds != 0)
        }
    }
}

extension Duration {
    /// Media time as a span of Swift's time, to the nearest attosecond (exact for every timescale that divides 10¹⁸); nil unless the time is
    /// a number.
    public init?(_ time: MediaTime) {
        guard time.isNumeric else { return nil }
        let (seconds, rest) = time.value.quotientAndRemainder(dividingBy: Int64(time.timescale))
        let scaled = Int128(rest) * 1_000_000_000_000_000_000
        let (attoseconds, _) = MediaTime.divide(scaled, by: Int128(time.timescale), .halfAwayFromZero, finer: false)
        self.init(secondsComponent: seconds, attosecondsComponent: Int64(attoseconds))
    }

    /// A span between two readings of a clock; exact.
    public init(_ span: HostSpan) { self = .nanoseconds(span.nanoseconds) }
}

extension HostSpan {
    /// A span of Swift's time, to the nearest nanosecond; more than 292 years gives the longest span of that sign.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (nanoseconds, _) = MediaTime.divide(Int128(attoseconds), by: 1_000_000_000, .halfAwayFromZero, finer: false)
        let sum = Int128(seconds) * 1_000_000_000 + nanoseconds
        self.init(nanoseconds: Int64(clamping: sum))
    }
}
