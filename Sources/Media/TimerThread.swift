/// The library's own thread for timed calls, started at the first use and shared by all clocks.
///
/// Each call keeps its time as a reading of its own clock. The clock's latest relation turns it into a deadline in monotonic time. When the
/// clock proves slower than its relation said, the thread finds the call early and waits again. Calls run one after the other on this thread:
/// they must be short.
///
/// Thread-safety: all of it.
package final class TimerThread: Sendable {
    package static let shared = TimerThread()

    private struct Call: Sendable {
        /// A reading of `clock`.
        let time: HostTime
        let clock: any HostClock
        let body: @Sendable () -> Void
    }
    private struct State {
        var isStarted = false
        var queue = TimerQueue<Call>()
    }
    private let state = Monitor(State())
    private init() {}

    package func schedule(at time: HostTime, on clock: any HostClock, _ body: @escaping @Sendable () -> Void) -> any ClockTimer {
        let deadline = clock.relation.toReference(time)
        let (id, mustStart) = state.change { state in
            let id = state.queue.add(Call(time: time, clock: clock, body: body), at: deadline)
            defer { state.isStarted = true }
            return (id, !state.isStarted)
        }
        // Never joined: it belongs to the process, as the clocks do.
        if mustStart { _ = LoopThread(name: "timers") { TimerThread.shared.run() } }
        return Timer(thread: self, id: id)
    }

    private func run() {
        while true {
            let deadline = state.withLock { $0.queue.nextDeadline }
            let due =
                state.wait(until: deadline) { state -> (id: UInt64, call: Call)?? in
                    guard state.queue.nextDeadline == deadline else { return .some(nil) }
                    return state.queue.takeDue(at: MonotonicClock.shared.now()).map { .some($0) }
                } ?? nil
            guard let (id, call) = due else { continue }
            // A clock's relation may be off by less than this; waiting once more would not be more exact.
            let missing = call.time - call.clock.now()
            if missing > .microseconds(20) {
                let deadline = max(call.clock.relation.toReference(call.time), MonotonicClock.shared.now() + .microseconds(20))
                state.withLock { $0.queue.putBack(id, call, at: deadline) }
            } else {
                call.body()
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
        func cancel() { thread.state.change { $0.queue.cancel(id) } }
    }
}
