internal import Dispatch
internal import Media

/// What waits for a program, in order, and whether its handler runs.
package protocol DeliveryWaiting: Sendable {
    associatedtype Item: Sendable
    /// Whether the caller must call a handler: something waits and none runs.
    mutating func schedule() -> Bool
    /// The oldest thing; nil when there is none, and the handler ends.
    mutating func take() -> Item?
    /// As `take`, and the end again and again.
    mutating func pull() -> Item?
}

/// The way from a session's thread to a program: what waits goes to a handler on a queue of the program's, or to a thread that asks.
///
/// Thread-safety: all of it. The handler is called with no lock held.
struct DeliveryPort<Waiting: DeliveryWaiting>: Sendable {
    struct Handler: Sendable {
        let queue: DispatchQueue
        let body: @Sendable (Waiting.Item) -> Void
    }

    private let state: Monitor<Waiting>
    /// Nil: the program asks.
    let handler: Handler?

    init(_ waiting: Waiting, handler: Handler? = nil) {
        state = Monitor(waiting)
        self.handler = handler
    }

    /// Reads or sets something that needs no call of the handler.
    func withLock<R>(_ body: (inout Waiting) -> sending R) -> sending R { state.withLock(body) }

    /// Changes what waits, wakes a thread that asks, and has the handler called.
    func change<R>(_ body: (inout Waiting) -> sending R) -> sending R {
        defer { schedule() }
        return state.change(body)
    }

    /// Waits until `deadline` (nil: for ever) for the oldest thing.
    func next(until deadline: HostTime?) -> Waiting.Item? {
        precondition(handler == nil, "an output with a handler is not asked")
        return state.wait(until: deadline) { $0.pull() }
    }

    private func schedule() {
        guard let handler, state.withLock({ $0.schedule() }) else { return }
        handler.queue.async { [state] in
            while let item = state.withLock({ $0.take() }) { handler.body(item) }
        }
    }
}
