/// A clock that stands still until a test moves it, so that tests of timing neither sleep nor fail on a busy machine.
///
/// Calls that have come due are made by `advance` and `set`, on the caller's thread, in order of their times, with the clock
/// reading exactly the time each was asked for; calls asked for while that happens take part.
///
/// Thread-safety: any thread may read and schedule; one thread at a time moves the clock.
public final class ManualClock: HostClock {
    private struct State {
        var now: HostTime
        var nextID: UInt64 = 0
        var pending: [(time: HostTime, id: UInt64, body: @Sendable () -> Void)] = []
    }
    private let state: Monitor<State>

    /// A clock that stands at `start`.
    public init(_ start: HostTime = HostTime(nanoseconds: 0)) { state = Monitor(State(now: start)) }

    /// The clock's name in logs and statistics.
    public let name = "manual"

    /// The time that the clock was last moved to.
    public func now() -> HostTime { state.withLock { $0.now } }

    /// The clock is its own reference.
    public var relation: ClockRelation { .identity }

    /// Moves the clock by `span` and makes the calls that come due; see `set(to:)`.
    public func advance(by span: HostSpan) { set(to: now() + span) }

    /// Moves the clock to `target` and makes the calls that come due on the way. Moving it backwards makes none.
    public func set(to target: HostTime) {
        while let body = next(upTo: target) { body() }
        state.withLock { $0.now = target }
    }

    /// Calls `body` when the clock is moved to `time`; at once, before this returns, when it is there already.
    public func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ClockTimer {
        let id: UInt64? = state.withLock { state in
            guard time > state.now else { return nil }
            let id = state.nextID
            state.nextID += 1
            let index = state.pending.firstIndex { $0.time > time } ?? state.pending.endIndex
            state.pending.insert((time, id, body), at: index)
            return id
        }
        if id == nil { body() }
        return Timer(clock: self, id: id)
    }

    /// Calls waiting to come due.
    public var pendingCount: Int { state.withLock { $0.pending.count } }

    private func next(upTo target: HostTime) -> (@Sendable () -> Void)? {
        state.withLock { state -> (@Sendable () -> Void)? in
            guard let first = state.pending.first, first.time <= target else { return nil }
            state.pending.removeFirst()
            state.now = max(state.now, first.time)
            return first.body
        }
    }

    private final class Timer: ClockTimer {
        private let clock: ManualClock
        private let id: UInt64?
        init(clock: ManualClock, id: UInt64?) {
            self.clock = clock
            self.id = id
        }
        func cancel() { clock.state.withLock { state in state.pending.removeAll { $0.id == id } } }
    }
}
