internal import Media

/// An exporter's `onFrameAvailable` closure, and whether it is running.
///
/// Thread-safety: all of it.
final class FrameAvailableHandler: Sendable {
    private struct Call: Sendable { let body: @Sendable () -> Void }

    private struct State: Sendable {
        var call: Call?
        var running = 0
    }

    private let state = Monitor(State())

    /// Replaces the closure. The one before is not running any more when this returns.
    func set(_ body: (@Sendable () -> Void)?) {
        state.withLock { $0.call = body.map(Call.init) }
        let _: Void? = state.wait { $0.running == 0 ? () : nil }
    }

    func call() {
        let call: Call? = state.withLock { state in
            if state.call != nil { state.running += 1 }
            return state.call
        }
        guard let call else { return }
        call.body()
        state.withLock { $0.running -= 1 }
        state.wakeWaiters()
    }
}
