/// A change of a timebase.
public enum TimebaseChange: Sendable, Hashable {
    /// Its time was set. `to` is the time right after.
    case jump(to: MediaTime)
    /// Its own rate was changed.
    case rate(old: Double, new: Double)
    /// It has another source now, or the rate of its source was changed.
    case source
}

/// A registration for a timebase's changes, which lasts until it is cancelled or the timebase is gone.
///
/// Thread-safety: all of it.
public final class TimebaseObservation: Sendable {
    private weak let timebase: Timebase?
    private let id: UInt64

    init(timebase: Timebase, id: UInt64) {
        self.timebase = timebase
        self.id = id
    }

    /// Prevents further calls, except one that another thread is about to make. Idempotent.
    public func cancel() {
        let id = id
        timebase?.state.withLock { state in state.observers.removeAll { $0.id == id } }
    }
}

extension Timebase {
    /// Calls `body` after every change, on the thread that made it, before the call that made it returns. Changes that two
    /// threads make at the same time may be reported in either order: read the timebase for its present state.
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
