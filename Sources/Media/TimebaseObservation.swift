/// What has been done to a timebase.
public enum TimebaseChange: Sendable, Hashable {
    /// Its time was set. `to` is the time right after.
    case jump(to: MediaTime)
    /// Its own rate was changed.
    case rate(old: Double, new: Double)
    /// It runs over something else now, or the rate of what it runs over was changed.
    case source
}

/// The wish to hear of a timebase's changes; it lasts until it is cancelled or the timebase is gone.
///
/// Thread-safety: all of it.
public final class TimebaseObservation: Sendable {
    private weak let timebase: Timebase?
    private let id: UInt64

    init(timebase: Timebase, id: UInt64) {
        self.timebase = timebase
        self.id = id
    }

    /// No call begins afterwards, except one that another thread has already set out to make. Idempotent.
    public func cancel() {
        let id = id
        timebase?.state.withLock { state in state.observers.removeAll { $0.id == id } }
    }
}

extension Timebase {
    /// Calls `body` after every change, on the thread that made it, before the call that made it returns. Changes made at once
    /// by two threads may be told in either order: read the timebase for what holds.
    @discardableResult
    public func observe(_ body: @escaping @Sendable (TimebaseChange) -> Void) -> TimebaseObservation {
        let id = state.withLock { state in
            state.nextID += 1
            state.observers.append((state.nextID, body))
            return state.nextID
        }
        return TimebaseObservation(timebase: self, id: id)
    }
}
