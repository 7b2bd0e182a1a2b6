internal import Media

/// What a reader has asked its compositor for and waits for, so that another thread can end the wait.
///
/// Thread-safety: all of it.
final class OpenRequests: Sendable {
    private struct State: Sendable {
        var requests: [VideoCompositionRequest] = []
        var context: RenderContext?
        var isInterrupted = false
        var isClosed = false
    }

    private let state = Monitor(State())
    private let compositor: any VideoCompositing

    init(_ compositor: any VideoCompositing) { self.compositor = compositor }

    /// A request that is to be asked. One that comes after an interruption is cancelled at once.
    func add(_ request: VideoCompositionRequest) {
        let isOver = state.withLock { state in
            state.requests.append(request)
            return state.isInterrupted || state.isClosed
        }
        if isOver { request.cancel() }
    }

    func remove(_ request: VideoCompositionRequest) { state.withLock { $0.requests.removeAll { $0 === request } } }

    /// The surfaces that the compositor draws into; nil: none.
    func use(_ context: RenderContext?) {
        let isClosed = state.withLock { state in
            state.context = context
            return state.isClosed
        }
        if isClosed { context?.close() }
    }

    /// How long cancelled requests are waited for before their surfaces are given up: many times what drawing a frame takes.
    private static let grace = HostSpan.milliseconds(100)

    /// Nobody waits for what is open any more. False when the compositor keeps a request to itself, and with it surfaces, perhaps for ever.
    func withdraw() -> Bool {
        let requests = state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
        guard !requests.isEmpty else { return true }
        compositor.cancelAllPendingRequests()
        for request in requests { request.cancel() }
        let deadline = MonotonicClock.shared.now() + Self.grace
        return requests.allSatisfy { $0.waitUntilLetGo(until: deadline) }
    }

    /// Ends the wait for a frame, now or when it begins; what is open is cancelled. `endInterruption` makes waiting possible again.
    func interrupt() {
        let requests = state.withLock { state in
            state.isInterrupted = true
            return state.requests
        }
        guard !requests.isEmpty else { return }
        compositor.cancelAllPendingRequests()
        for request in requests { request.cancel() }
    }

    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    func endInterruption() { state.withLock { $0.isInterrupted = false } }

    /// Ends every wait, now and later.
    func close() {
        let (requests, context) = state.withLock { state in
            state.isClosed = true
            return (state.requests, state.context)
        }
        for request in requests { request.cancel() }
        context?.close()
    }
}
