/// The library's own thread for timed calls, started at the first use and shared by all clocks.
///
/// A call's deadline is kept in its clock's own time and turned into monotonic time by the clock's latest relation, so a call
/// on a clock that turns out slower than thought is looked at, found early, and waited for again. Calls run one after the
/// other on this thread: they must be short.
///
/// Thread-safety: all of it.
package final class TimerThread: Sendable {
    package static let shared = TimerThread()

    private struct Entry {
        let id: UInt64
        let time: HostTime
        let clock: any HostClock
        let body: @Sendable () -> Void
        /// `time` in monotonic time, as of the last look.
        var deadline: HostTime
    }
    private struct State {
        var nextID: UInt64 = 0
        var isStarted = false
        /// By deadline, earliest first. A handful: one for each timebase that has timers.
        var entries: [Entry] = []

        mutating func insert(_ entry: Entry) {
            entries.insert(entry, at: entries.firstIndex { $0.deadline > entry.deadline } ?? entries.endIndex)
        }
    }
    private let state = Monitor(State())
    private init() {}

    package func schedule(at time: HostTime, on clock: any HostClock, _ body: @escaping @Sendable () -> Void) -> any ClockTimer {
        let deadline = clock.relation.toReference(time)
        let (id, mustStart) = state.change { state in
            state.nextID += 1
            state.insert(Entry(id: state.nextID, time: time, clock: clock, body: body, deadline: deadline))
            defer { state.isStarted = true }
            return (state.nextID, !state.isStarted)
        }
        // Never joined: it belongs to the process, as the clocks do.
        if mustStart { _ = LoopThread(name: "timers") { TimerThread.shared.run() } }
        return Timer(thread: self, id: id)
    }

    private func run() {
        while true {
            let deadline = state.withLock { $0.entries.first?.deadline }
            let due: Entry? =
                state.wait(until: deadline) { state -> Entry?? in
                    guard state.entries.first?.deadline == deadline else { return .some(nil) }
                    guard let deadline, MonotonicClock.shared.now() >= deadline else { return nil }
                    return .some(state.entries.removeFirst())
                } ?? nil
            guard var due else { continue }
            // A clock's relation may wobble by less than this; waiting once more would not be more exact.
            let missing = due.time - due.clock.now()
            if missing > .microseconds(20) {
                due.deadline = max(due.clock.relation.toReference(due.time), MonotonicClock.shared.now() + .microseconds(20))
                let entry = due
                state.withLock { $0.insert(entry) }
            } else {
                due.body()
            }
        }
    }

    private final class Timer: ClockTimer {
        private let thread: TimerThread
        private let id: UInt64
        init(thread: TimerThread, id: UInt64) {
            self.thread = thread
            self.id = id
        }
        func cancel() { thread.state.change { state in state.entries.removeAll { $0.id == id } } }
    }
}
