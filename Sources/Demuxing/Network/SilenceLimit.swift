internal import Media

/// Ends a wait of libavformat's in which nothing comes, where it has no limit of its own.
///
/// Thread-safety: all of it.
final class SilenceLimit: Sendable {
    private let cancellation: AssetCancellation
    private let longest: HostSpan
    private let began = Monitor(MonotonicClock.shared.now())

    init(_ longest: HostSpan, _ cancellation: AssetCancellation) { (self.longest, self.cancellation) = (longest, cancellation) }

    /// Something has come, or is waited for from now on.
    func restart() { began.withLock { $0 = MonotonicClock.shared.now() } }

    /// Nothing has come for too long.
    var isReached: Bool { MonotonicClock.shared.now() - began.withLock { $0 } >= longest }

    /// Whether the wait is to end.
    var endsWait: Bool { cancellation.isCancelled || isReached }
}
