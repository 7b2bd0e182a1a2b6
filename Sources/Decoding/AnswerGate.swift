internal import Glibc
internal import Media

/// Lets answers through to their receiver until a session is invalidated: none begins after `close`, and none is under way on another
/// thread after `settle`.
///
/// Thread-safety: `deliver` on one thread at a time, the rest on any.
@safe
package final class AnswerGate: Sendable {
    private struct State: Sendable {
        var isClosed = false
        /// The thread on which the receiver runs.
        var receiver: pthread_t?
    }

    private let state = Monitor(State())

    package init() {}

    package var isClosed: Bool { state.withLock { $0.isClosed } }

    package func deliver<Answer: ~Copyable>(_ answer: consuming Answer, to output: (consuming Answer) -> Void) {
        let isOpen = state.withLock { state in
            if state.isClosed { return false }
            state.receiver = pthread_self()
            return true
        }
        guard isOpen else { return }
        output(answer)
        state.change { $0.receiver = nil }
    }

    /// Idempotent.
    package func close() { state.withLock { $0.isClosed = true } }

    /// Waits until the receiver returns. A receiver that calls this itself does not wait; its answer is the last.
    package func settle() {
        state.wait { state in
            guard let receiver = state.receiver else { return () }
            return pthread_equal(receiver, pthread_self()) != 0 ? () : nil
        }
    }
}
