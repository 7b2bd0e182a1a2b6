package import Media

/// How long a listening socket is left alone after it could not take in who has connected, because the process has no descriptors left or the system
/// no memory: a pure value. `poll` would say at once, over and over, that somebody waits there.
///
/// The connections wait meanwhile, as many as the socket's backlog holds. Only `poll` knows that somebody waits: a process without descriptors is
/// told so by `accept` even when nobody does.
package struct AcceptPause: Sendable {
    /// 100 ms: soon enough for who waits, and no load.
    static let length = HostSpan.milliseconds(100)
    /// When the socket is looked at again; nil: now.
    package private(set) var end: HostTime?
    /// Nobody has been taken in since somebody could not be.
    private var hasFailed = false

    package init() {}

    /// What `poll` is asked of the socket at this time.
    package mutating func interest(at now: HostTime) -> PollEvents {
        if let end, end > now { return [] }
        end = nil
        return .readable
    }

    /// Somebody waits and could not be taken in. Returns whether it is the first time in a row.
    package mutating func begin(at now: HostTime) -> Bool {
        defer { (end, hasFailed) = (now + Self.length, true) }
        return !hasFailed
    }

    /// Somebody was taken in.
    package mutating func finish() { hasFailed = false }
}
