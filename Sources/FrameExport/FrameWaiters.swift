internal import Media

/// Tasks that wait for an exporter's next frame. They block no thread.
///
/// Thread-safety: all of it.
final class FrameWaiters: Sendable {
    private struct State: Sendable {
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Monitor(State())

    /// Returns after the next `wake()`, at `deadline` (CLOCK_MONOTONIC), when the task is cancelled, or at once when `isOver` is true. `isOver`
    /// is called when no wake can be missed any more. May also return early for no reason.
    func wait(until deadline: HostTime?, unless isOver: () -> Bool) async {
        let timer = deadline.map { time in MonotonicClock.shared.schedule(at: time) { [weak self] in self?.wake() } }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting.append(continuation) }
                if isOver() || Task.isCancelled { wake() }
            }
        } onCancel: {
            wake()
        }
        timer?.cancel()
    }

    func wake() {
        let woken = state.withLock { state in
            defer { state.waiting.removeAll() }
            return state.waiting
        }
        for continuation in woken { continuation.resume() }
    }
}
