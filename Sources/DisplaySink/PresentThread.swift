package import Media

/// The thread of a sink that waits for a display system's events: it runs from `start` to `stop`, and `wakeup` ends its sleep.
///
/// The thread does not retain the sink, so that a sink without references stops.
///
/// Thread-safety: all of it.
package final class PresentThread: Sendable {
    private struct State: Sendable {
        var thread: LoopThread?
        var queue: PresentationQueue?
        var isStopping = false
    }

    /// Signalled when the queue has something new, when `stop` is called, and by the sink when its settings change. The thread drains it.
    package let wakeup: EventFD
    private let state = Monitor(State())

    package init() throws(SinkError) {
        do throws(SystemError) { wakeup = try EventFD() } catch { throw SinkError(.system, error.description) }
    }

    /// Whether the thread is to end. It looks after each drain of `wakeup`.
    package var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Runs the body that `prepare` returns on the thread. Once at a time.
    ///
    /// - Parameter prepare: Opens what the run needs, on the caller's thread; when it throws, nothing has started.
    package func start(
        _ queue: PresentationQueue, _ prepare: () throws(SinkError) -> @Sendable () -> Void
    ) throws(SinkError) {
        state.withLock { precondition($0.thread == nil, "a sink is started once at a time") }
        let body = try prepare()
        state.withLock { state in
            state.isStopping = false
            state.queue = queue
        }
        queue.setWake { [wakeup] in wakeup.signal() }
        let thread = LoopThread(name: "present", isPrompt: true, body)
        state.withLock { $0.thread = thread }
    }

    /// Makes the body return, and joins the thread. Idempotent.
    package func stop() {
        let (thread, queue) = state.withLock { state in
            state.isStopping = true
            return (state.thread.take(), state.queue.take())
        }
        queue?.setWake(nil)
        wakeup.signal()
        thread?.join()
    }
}
