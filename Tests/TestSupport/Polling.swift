internal import Glibc
public import Media

/// Waits for what sends this program no event: another process, a screen, a count. What has an event is waited for by that (`Monitor.wait`).
public enum Polling {
    /// Looks until `condition` holds. False when it does not within `limit`, which only a hang reaches.
    public static func until(
        within limit: HostSpan = .seconds(60), every pause: HostSpan = .milliseconds(1), _ condition: () throws -> Bool
    ) rethrows -> Bool {
        try first(within: limit, every: pause) { try condition() ? true : nil } ?? false
    }

    /// The first value that `body` finds; nil when it finds none within `limit`.
    public static func first<Found>(
        within limit: HostSpan = .seconds(60), every pause: HostSpan = .milliseconds(1), _ body: () throws -> Found?
    ) rethrows -> Found? {
        let deadline = MonotonicClock.shared.now() + limit
        while true {
            if let found = try body() { return found }
            if MonotonicClock.shared.now() > deadline { return nil }
            usleep(UInt32(pause.nanoseconds / 1000))
        }
    }

    /// Whether `condition` holds for all of `span`: for what must not happen, which has no event. A busy machine can only hide a fault.
    public static func holds(for span: HostSpan, _ condition: () throws -> Bool) rethrows -> Bool {
        let failure: Bool? = try first(within: span) { try condition() ? nil : true }
        return failure == nil
    }
}
