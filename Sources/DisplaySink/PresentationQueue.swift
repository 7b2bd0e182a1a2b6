public import Media
public import SurfacePool

/// What a sink is to do at a refresh of its display.
public enum PresentationDecision: ~Copyable {
    /// Show this frame; it is the sink's from now on. `isFirst`: the first since the start or a flush, to be reported when handed to the display.
    case show(VideoFrame, isFirst: Bool)
    /// Nothing new. Ask again at this time, or when woken.
    case keep(until: HostTime?)
    /// Blank the display.
    case removeImage
    /// The last frame has had its time; said once.
    case finished
}

/// The few decoded pictures between the decoder and the display, and the decision which of them lights up when.
///
/// The decode thread enqueues and waits while it is full; the sink's thread asks `next(for:)` at each refresh. The
/// scheduler, the statistics and the timebase's part in both live here, so that every sink decides alike.
///
/// Thread-safety: all members may be called from any thread.
public final class PresentationQueue: Sendable {
    private let state: Monitor<PresentationQueueState>
    private let link: Monitor<Link>
    public let pacing: Pacing

    private struct Link: Sendable {
        var timebase: Timebase
        var observation: TimebaseObservation?
        var wake: (@Sendable () -> Void)?
    }

    /// - Parameters:
    ///   - capacity: frames that may wait; each holds a surface.
    ///   - timebase: the film's time.
    public init(capacity: Int, timebase: Timebase, pacing: Pacing) {
        self.pacing = pacing
        state = Monitor(PresentationQueueState(capacity: capacity, pacing: pacing))
        link = Monitor(Link(timebase: timebase))
        observe(timebase)
    }

    deinit { link.withLock { $0.observation }?.cancel() }

    // MARK: The decoder's side

    /// Puts a frame at the end, waiting for room until `deadline` (nil: for ever). False when it was dropped instead: the queue
    /// was cancelled, or the deadline passed.
    @discardableResult
    public func enqueue(_ frame: consuming VideoFrame, waitingUntil deadline: HostTime? = nil) -> Bool {
        var frame = Optional(consume frame)
        let accepted = state.wait(until: deadline) { state -> Bool? in
            if state.isCancelled { return false }
            guard !state.frames.isFull, let taken = frame.take() else { return nil }
            state.frames.append(taken)
            return true
        }
        if accepted == true { wake() }
        return accepted ?? false
    }

    /// Says that no frame follows until the next flush.
    public func markEndOfStream() {
        state.change { $0.end() }
        wake()
    }

    // MARK: The owner's side

    /// Drops what waits. The next frame enqueued counts as a first one again.
    public func flush(removeImage: Bool) {
        state.change { $0.flush(removeImage: removeImage) }
        wake()
    }

    /// Drops what waits and refuses everything from now on.
    public func cancel() {
        state.change { $0.cancel() }
        wake()
    }

    /// Shows the next waiting frame, or the next to come, whatever the timebase says.
    public func showNext() {
        state.change { $0.step() }
        wake()
    }

    /// The film's time. A new one takes effect at the next decision.
    public var timebase: Timebase {
        get { link.withLock { $0.timebase } }
        set {
            link.withLock { $0.observation.take() }?.cancel()
            link.withLock { $0.timebase = newValue }
            observe(newValue)
            wake()
        }
    }

    public var statistics: PresentationStatistics { state.withLock { $0.statistics } }

    // MARK: The sink's side

    /// What to do for the refresh `interval`. Never blocks for long.
    public func next(for interval: DisplayInterval) -> PresentationDecision {
        let mapping = timebase.mapping
        return state.change { $0.next(for: interval, mapping: mapping) }
    }

    /// `wake` is called (on any thread, with no lock held) when asking again could give another answer: a frame, a flush, the end, a jump or
    /// a new rate of the timebase. nil when the sink goes.
    public func setWake(_ wake: (@Sendable () -> Void)?) { link.withLock { $0.wake = wake } }

    /// Reports when a shown frame lit up.
    public func didPresent(sequence: UInt64, at time: HostTime) { state.withLock { $0.presented(sequence, at: time) } }

    /// Reports that a shown frame never lit up.
    public func didDiscard(sequence: UInt64) { state.withLock { $0.discarded(sequence) } }

    private func wake() { link.withLock { $0.wake }?() }

    private func observe(_ timebase: Timebase) {
        let observation = timebase.observe { [weak self] _ in self?.wake() }
        link.withLock { $0.observation = observation }
    }
}
