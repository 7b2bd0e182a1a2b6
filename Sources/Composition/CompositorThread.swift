internal import Media

/// Calls a compositor, one call after the other, on a thread of its own: one that does not return must keep neither the reader nor anybody else
/// waiting, as it would on a thread that is shared.
///
/// The thread begins with the first call, and ends when this is freed and the call under way has returned. A call that does not return can be left
/// behind; another thread makes the next ones then.
///
/// Thread-safety: all of it.
final class CompositorThread: Sendable {
    /// So many calls that do not return are left behind. With more of them the compositor is asked nothing.
    private static let stuckLimit = 8

    private struct Call: Sendable {
        let request: ObjectIdentifier?
        let body: @Sendable () -> Void
    }

    private struct State: Sendable {
        var calls: [Call] = []
        /// Of the thread that makes calls; nil: it has not begun.
        var thread: Int?
        /// What the call under way is for.
        var current: ObjectIdentifier?
        var isOver = false
    }

    private let state = Monitor(State())

    deinit { state.change { $0.isOver = true } }

    /// Calls `body` when those before it have returned. `request`: what it asks for.
    func call(for request: VideoCompositionRequest? = nil, _ body: @escaping @Sendable () -> Void) {
        let isFirst = state.change { state in
            state.calls.append(Call(request: request.map { ObjectIdentifier($0) }, body: body))
            defer { state.thread = state.thread ?? 1 }
            return state.thread == nil
        }
        if isFirst { begin(1) }
    }

    /// Leaves the call for a request behind if it is under way, so that the calls after it are made.
    func leave(_ request: VideoCompositionRequest) {
        let next = state.withLock { state -> Int? in
            guard let number = state.thread, state.current == ObjectIdentifier(request), number <= Self.stuckLimit else { return nil }
            state.thread = number + 1
            return number + 1
        }
        if let next { begin(next) }
    }

    private func begin(_ number: Int) {
        // Not this object, whose end is the thread's.
        _ = LoopThread(name: "compositor") { [state] in
            while let call = state.wait({ state -> Call?? in
                if state.thread != number { return .some(nil) }
                if !state.calls.isEmpty {
                    let call = state.calls.removeFirst()
                    state.current = call.request
                    return .some(call)
                }
                state.current = nil
                return state.isOver ? .some(nil) : nil
            }) ?? nil {
                call.body()
            }
        }
    }
}
