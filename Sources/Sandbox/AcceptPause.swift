package import Media

/// How long a listening socket is left alone after it could not take in who has connected, because the process has no descriptors left or the system
/// no memory: a pure value. `poll` would say at once, over and over, that somebody waits there.
///
/// The connections wait meanwhile, as many as the socket's backlog holds.
package struct AcceptPause: Sendable {
    /// 100 ms: soon enough for who waits, and no load.
    static let length = HostSpan.milliseconds(100)
    /// When the socket is looked at again; nil: at once.
    package private(set) var end: HostTime?

    package init() {}

    /// What `poll` is asked of the socket.
    package var interest: PollEvents { end == nil ? .readable : [] }

    /// Nobody could be taken in at this time. Returns whether it is the first time in a row.
    package mutating func begin(at now: HostTime) -> Bool {
        defer { end = now + Self.length }
        return end == nil
    }

    /// Whether there is a pause, and it is over.
    package func isOver(at now: HostTime) -> Bool { end.map { $0 <= now } ?? false }

    /// Everybody who waited was taken in.
    package mutating func finish() { end = nil }
}
