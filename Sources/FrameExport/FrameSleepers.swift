internal import Media

/// Tasks that sleep until an exporter has news. No thread sleeps with them.
///
/// Thread-safety: all of it.
final class FrameSleepers: Sendable {
    private struct State: Sendable {
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Monitor(State())

    /// Returns after the next `wake()`, at `deadline` (CLOCK_MONOTONIC), when the task is cancelled, and at once when `isOver` says so: it is asked
    /// when a wake can no longer be missed. It may also return without any of that.
    func sleep(until deadline: HostTime?, unless isOver: () -> Bool) async {
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
