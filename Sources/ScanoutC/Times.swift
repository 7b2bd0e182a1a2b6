internal import CScanout
internal import Media

// Times in C: nanoseconds in 64 bits.

extension MediaTime {
    /// Nanoseconds; `SCANOUT_NO_TIME` for a time that is not numeric.
    var forC: Int64 { nanoseconds() ?? .min }

    init(forC nanoseconds: Int64) { self = nanoseconds == .min ? .invalid : MediaTime(nanoseconds: nanoseconds) }
}

extension HostTime {
    /// The end of a timeout of `timeout` nanoseconds that begins now; nil, for a negative timeout: never.
    static func deadline(after timeout: Int64) -> HostTime? {
        timeout < 0 ? nil : MonotonicClock.shared.now() + HostSpan(nanoseconds: timeout)
    }
}
