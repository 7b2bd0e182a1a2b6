internal import Media

/// Calls a sink's step when it is due: on a thread of its own, or on the thread that requests it.
///
/// A step gets the current time, does what is due, and returns when it must be called again (nil: when `ring` is called). Steps never overlap.
///
/// - `present`: a thread that sleeps between steps, for a display in real time.
/// - `inline`: no thread. `ring` runs the step on the calling thread, so that an untimed sink needs no change of threads. The clock provides timers,
///   so a `ManualClock` can drive a test in one thread.
///
/// Thread-safety: all of it.
final class SinkLoop: Sendable {
    enum Mode: Sendable { case present, inline }

    private struct State: Sendable {
        var step: Step?
        var queue: PresentationQueue?
        var thread: LoopThread?
        var timer: (any ClockTimer)?
        var isRinging = false
        var isStepping = false
    }

    /// A struct, because a closure that a generic function returns is wrapped in a new heap object each time.
    private struct Step: Sendable { let call: @Sendable (HostTime) -> HostTime? }

    private enum Job: Sendable {
        case run(Step)
        case stop
    }

    private let mode: Mode
    private let clock: any HostClock
    private let state = Monitor(State())

    /// - Parameter clock: The clock; for `present` the monotonic clock.
    init(_ mode: Mode, clock: any HostClock = MonotonicClock.shared) {
        precondition(mode == .inline || clock is MonotonicClock, "a thread sleeps by CLOCK_MONOTONIC")
        self.mode = mode
        self.clock = clock
    }

    /// Starts with a step at once; `queue` requests more. A loop can be started again after `stop`.
    func start(_ queue: PresentationQueue, _ step: @escaping @Sendable (HostTime) -> HostTime?) {
        state.withLock { state in
            precondition(state.step == nil, "a sink is started once at a time")
            state.step = Step(call: step)
            state.queue = queue
            state.isRinging = true
        }
        queue.setWake { [weak self] in self?.ring() }
        switch mode {
        case .inline: runInline()
        case .present:
            let thread = LoopThread(name: "present", isPrompt: true) { [self] in runThread() }
            state.withLock { $0.thread = thread }
        }
    }

    /// Requests a step now, or after the step that is running.
    func ring() {
        state.change { $0.isRinging = true }
        if mode == .inline { runInline() }
    }

    /// Ends the loop. When this returns, no step runs and none follows. Must not be called from a step.
    func stop() {
        let (queue, thread, timer) = state.change { state in
            state.step = nil
            return (state.queue.take(), state.thread.take(), state.timer.take())
        }
        queue?.setWake(nil)
        timer?.cancel()
        thread?.join()
        let _: Void? = state.wait { $0.isStepping ? nil : () }
    }

    private func runThread() {
        var deadline: HostTime?
        while true {
            let wanted = deadline
            let job: Job? = state.wait(until: wanted) { state in
                guard let step = state.step else { return .stop }
                guard state.isRinging || wanted.map({ MonotonicClock.shared.now() >= $0 }) ?? false else { return nil }
                state.isRinging = false
                return .run(step)
            }
            switch job {
            case .run(let step): deadline = step.call(clock.now())
            case .stop: return
            case nil: continue
            }
        }
    }

    private func runInline() {
        while let step = begin() {
            let next = step.call(clock.now())
            let timer = next.map { time in clock.schedule(at: time) { [weak self] in self?.ring() } }
            let unused = state.change { state -> (any ClockTimer)? in
                state.isStepping = false
                guard state.step != nil else { return timer }
                let old = state.timer
                state.timer = timer
                return old
            }
            unused?.cancel()
        }
    }

    /// The step to run now; nil when none was requested or another thread runs it.
    private func begin() -> Step? {
        state.withLock { state in
            guard state.isRinging, !state.isStepping, let step = state.step else { return nil }
            state.isRinging = false
            state.isStepping = true
            return step
        }
    }
}
