internal import Media

/// Threads that work on the slices of one frame at the same time and sleep between frames.
///
/// Thread-safety: one thread at a time may call `run`, which takes part in the work.
final class SliceThreads: Sendable {
    /// Which slices have not begun, and how many are not done.
    private struct State: Sendable {
        var work: (@Sendable (Int) -> Void)?
        var next = 0
        var count = 0
        var unfinished = 0
        var isStopping = false

        mutating func take() -> (@Sendable (Int) -> Void, Int)? {
            guard let work, next < count else { return nil }
            defer { next += 1 }
            return (work, next)
        }
    }

    private let state: Monitor<State>
    private let threads: [LoopThread]
    /// Slices that can be worked on at once.
    let count: Int

    init(count: Int) {
        self.count = max(count, 1)
        let state = Monitor(State())
        self.state = state
        threads = (1..<self.count).map { _ in
            LoopThread(name: "convert") {
                while true {
                    let job = state.wait { state -> (@Sendable (Int) -> Void, Int)?? in
                        if state.isStopping { return .some(nil) }
                        return state.take().map { .some($0) }
                    }
                    guard let (work, slice) = job ?? nil else { return }
                    work(slice)
                    state.change { $0.unfinished -= 1 }
                }
            }
        }
    }

    deinit {
        state.change { $0.isStopping = true }
        for thread in threads { thread.join() }
    }

    /// Calls `work` for each slice below `count`, and returns when all are done.
    func run(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
        state.change { state in
            state.work = work
            state.next = 0
            state.count = count
            state.unfinished = count
        }
        while let (work, slice) = state.withLock({ $0.take() }) {
            work(slice)
            state.change { $0.unfinished -= 1 }
        }
        state.wait { $0.unfinished == 0 ? () : nil }
        state.withLock { $0.work = nil }
    }
}
