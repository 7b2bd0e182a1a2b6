internal import Dispatch
internal import Media

// Calling those who bring samples.

extension AssetWriter {
    func callProducers() {
        for (number, request) in state.withLock({ $0.takeCalls() }) {
            request.queue.async { [self] in call(number, request) }
        }
    }

    /// 5 ms until a producer that brought nothing is called again.
    private static let patience = 5_000_000

    private func call(_ number: Int, _ request: AssetWriterState.Request) {
        guard let before = state.withLock({ $0.appended(number, for: request) }) else { return }
        request.body()
        let broughtNothing = state.withLock { state in
            state.endCall(number, request)
            return state.inputs[number].count == before
        }
        if broughtNothing {
            request.queue.asyncAfter(deadline: .now() + .nanoseconds(Self.patience)) { [self] in callProducers() }
        } else {
            callProducers()
        }
    }
}
