internal import Media

/// The refreshes of a display with a fixed rate, without the error that adding rounded periods accumulates.
struct RefreshGrid: Sendable, Hashable {
    /// Refresh 0.
    var anchor: HostTime
    /// Refreshes per second.
    var rate: Ratio

    /// The first refresh later than `time`, and the one after it.
    func interval(after time: HostTime) -> DisplayInterval {
        let index = count(upTo: time) + 1
        return DisplayInterval(deadline: refresh(index), nextDeadline: refresh(index + 1), period: period)
    }

    /// The last refresh at or before `time`.
    func refresh(atOrBefore time: HostTime) -> HostTime { refresh(count(upTo: time)) }

    /// Time between refreshes, to the nanosecond.
    var period: HostSpan { HostSpan(nanoseconds: Int64((nanoseconds + numerator / 2) / numerator)) }

    private var numerator: Int128 { Int128(rate.numerator) }
    private var nanoseconds: Int128 { Int128(rate.denominator) * 1_000_000_000 }

    /// The time of refresh `index`, rounded up so that it is never before the exact time.
    private func refresh(_ index: Int128) -> HostTime {
        let product = index * nanoseconds
        let quotient = product >= 0 ? (product + numerator - 1) / numerator : product / numerator
        return anchor + HostSpan(nanoseconds: Int64(clamping: quotient))
    }

    /// The index of the last refresh at or before `time`.
    private func count(upTo time: HostTime) -> Int128 {
        let elapsed = Int128((time - anchor).nanoseconds) * numerator
        let quotient = elapsed / nanoseconds
        return elapsed < 0 && elapsed % nanoseconds != 0 ? quotient - 1 : quotient
    }
}
