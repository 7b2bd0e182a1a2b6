package import Media

/// Decides whether and when a broken connection is tried again: at once after bytes came, then ever less often, until `timeout` has passed
/// without a byte.
package struct RetryState: Sendable {
    package enum Action: Sendable, Equatable {
        /// Try again after this time.
        case wait(HostSpan)
        case giveUp
    }

    private let timeout: HostSpan
    /// Failures since a connection brought `enough`.
    private var failures = 0
    private var gained = 0
    /// When the reader began to wait.
    private var since = HostTime(nanoseconds: 0)

    package init(timeout: HostSpan) { self.timeout = timeout }

    /// Bytes are wanted from now on.
    package mutating func begin(at now: HostTime) { since = now }

    /// Bytes came. A server that breaks off after a few is not asked more and more often.
    package mutating func received(_ count: Int) {
        gained += count
        if gained >= Self.enough { (gained, failures) = (0, 0) }
    }

    /// A connection could not be made, or broke.
    ///
    /// - Parameter chance: 0 to 1: spreads the attempts of many players whose server fails for all of them at once.
    package mutating func failed(at now: HostTime, chance: Double) -> Action {
        let left = timeout - (now - since)
        guard left > .nanoseconds(0) else { return .giveUp }
        let delay = Self.delay(failures, chance: chance)
        failures += 1
        gained = 0
        return .wait(min(delay, left))
    }

    /// The wait before attempt `number`: none, then 0.25 s, 0.5 s, 1 s and so on up to 8 s, of which `chance` takes away at most half.
    static func delay(_ number: Int, chance: Double) -> HostSpan {
        guard number > 0 else { return .nanoseconds(0) }
        let longest = min(first.nanoseconds << Int64(min(number - 1, 16)), last.nanoseconds)
        return .nanoseconds(longest - Int64(Double(longest / 2) * min(max(chance, 0), 1)))
    }

    private static let first = HostSpan.milliseconds(250), last = HostSpan.seconds(8)
    /// 4 KiB: about three packets of a network.
    private static let enough = 4096
}
