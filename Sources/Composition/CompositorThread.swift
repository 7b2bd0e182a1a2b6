internal import Media

/// Calls a compositor, one call after the other, on a thread of its own: one that does not return must keep neither the reader nor anybody else
/// waiting, as it would on a thread that is shared.
///
/// The thread begins with the first call, and ends when this is freed and the call under way has returned.
///
/// Thread-safety: all of it.
final class CompositorThread: Sendable {
    private struct State: Sendable {
        var calls: [@Sendable () -> Void] = []
        var isRunning = false
        var isOver = false
    }

    private let state = Monitor(State())

    deinit { state.change { $0.isOver = true } }

    /// Calls `body` when those before it have returned.
    func call(_ body: @escaping @Sendable () -> Void) {
        let isFirst = state.change { state in
            state.calls.append(body)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { return }
        // Not this object, whose end is the thread's.
        _ = LoopThread(name: "compositor") { [state] in
            while let call = state.wait({ state -> (@Sendable () -> Void)?? in
                if !state.calls.isEmpty { return .some(state.calls.removeFirst()) }
                return state.isOver ? .some(nil) : nil
            }) ?? nil {
                call()
            }
        }
    }
}
