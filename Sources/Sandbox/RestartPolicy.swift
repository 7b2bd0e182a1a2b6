public import Media

/// How often a process that dies is replaced before the film is given up.
public struct RestartLimit: Sendable, Hashable {
    /// Deaths after which another process is started, in any span of length `window`. One more ends the film.
    public var count: Int
    /// The span in which deaths are counted.
    public var window: HostSpan

    /// 5 in 10 seconds: more than any single damaged place in a film costs, few enough that a film which kills every decoder ends soon.
    public init(count: Int = 5, window: HostSpan = .seconds(10)) {
        self.count = count
        self.window = window
    }
}

/// Remembers the deaths of processes and says whether another may be started. It reads no clock.
package struct RestartPolicy {
    private let limit: RestartLimit
    /// The last deaths, oldest first; never more than the limit.
    private var deaths: [HostTime] = []

    package init(limit: RestartLimit) { self.limit = limit }

    /// A process died at `now`. True when another may take its place.
    package mutating func mayRestart(afterDeathAt now: HostTime) -> Bool {
        deaths.removeAll { now - $0 >= limit.window }
        guard deaths.count < limit.count else { return false }
        deaths.append(now)
        return true
    }
}
