/// A call that a timebase makes when it reaches a media time; kept by the timebase until it is made or cancelled.
///
/// Thread-safety: all of it.
public final class TimebaseTimer: Sendable {
    private weak let timebase: Timebase?
    let body: @Sendable () -> Void

    init(timebase: Timebase, body: @escaping @Sendable () -> Void) {
        self.timebase = timebase
        self.body = body
    }

    /// No call begins afterwards; one that has begun on another thread is not waited for. Idempotent; `setFireTime` arms again.
    public func cancel() {
        guard let timebase else { return }
        timebase.state.withLock { $0.timers.remove(self) }
        timebase.rearmTimers()
    }

    /// Calls at another time instead; once more, when the call has already been made.
    public func setFireTime(_ time: MediaTime) {
        guard let timebase else { return }
        timebase.state.withLock { $0.timers.set(self, time) }
        timebase.rearmTimers()
    }
}

/// Which timers wait, and the one call asked of the clock for the next of them. Pure state.
struct TimebaseTimers {
    private(set) var waiting: [(time: MediaTime, timer: TimebaseTimer)] = []
    /// The call asked of the clock, and its number: a call with an older number has been overtaken.
    var armed: (any ClockTimer)?
    var generation: UInt64 = 0

    mutating func set(_ timer: TimebaseTimer, _ time: MediaTime) {
        remove(timer)
        waiting.append((time, timer))
    }

    mutating func remove(_ timer: TimebaseTimer) { waiting.removeAll { $0.timer === timer } }

    /// The reading of the clock at which the next timer is due; nil when none ever is along this line.
    func nextDeadline(along line: TimebaseMapping) -> HostTime? {
        waiting.lazy.compactMap { line.hostTime(of: $0.time) }.min()
    }

    /// Takes out the timer that came due first, if one is due at `now`.
    mutating func popDue(along line: TimebaseMapping, now: HostTime) -> TimebaseTimer? {
        var first: (index: Int, deadline: HostTime)?
        for (index, entry) in waiting.enumerated() {
            guard let deadline = line.hostTime(of: entry.time), deadline <= now else { continue }
            if first.map({ deadline < $0.deadline }) ?? true { first = (index, deadline) }
        }
        return first.map { waiting.remove(at: $0.index).timer }
    }
}

extension Timebase {
    /// Calls `body` once when media time reaches `time` in the direction it moves, or has passed it, however rate, time and
    /// source change on the way; never while the timebase stands still. It runs on a thread of the library's own (for a
    /// `ManualClock`: the thread that moves it) and must be short.
    @discardableResult
    public func addTimer(at time: MediaTime, _ body: @escaping @Sendable () -> Void) -> TimebaseTimer {
        let timer = TimebaseTimer(timebase: self, body: body)
        timer.setFireTime(time)
        return timer
    }

    /// Asks the clock for a call at the next timer's time, and takes back what was asked before.
    func rearmTimers() {
        while true {
            let root = root()
            let (previous, generation, deadline) = state.withLock { state in
                state.timers.generation += 1
                let previous = state.timers.armed
                state.timers.armed = nil
                return (previous, state.timers.generation, state.timers.nextDeadline(along: root.line))
            }
            previous?.cancel()
            if let deadline {
                let call = root.clock.schedule(at: deadline) { [weak self] in self?.fireTimers(generation) }
                let overtaken = state.withLock { state in
                    guard state.timers.generation == generation else { return true }
                    state.timers.armed = call
                    return false
                }
                if overtaken { call.cancel() }
            }
            // A change made meanwhile may have armed first and been overwritten by this older view.
            if self.root().stamp == root.stamp { return }
        }
    }

    private func fireTimers(_ generation: UInt64) {
        guard state.withLock({ $0.timers.generation == generation }) else { return }
        while true {
            let root = root()
            let now = root.clock.now()
            guard let timer = state.withLock({ $0.timers.popDue(along: root.line, now: now) }) else { break }
            timer.body()
        }
        rearmTimers()
    }
}
