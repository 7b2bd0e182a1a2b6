internal import CPlayer
internal import Media

// Times as C has them: nanoseconds in 64 bits.

extension MediaTime {
    /// `PLAYER_NO_TIME` where this is no number.
    var forC: Int64 { nanoseconds() ?? .min }

    init(forC nanoseconds: Int64) { self = nanoseconds == .min ? .invalid : MediaTime(nanoseconds: nanoseconds) }
}

extension HostTime {
    /// When a timeout ends that begins now; nil: never.
    static func deadline(after timeout: Int64) -> HostTime? {
        timeout < 0 ? nil : MonotonicClock.shared.now() + HostSpan(nanoseconds: timeout)
    }
}
