public import Media
public import SurfacePool

/// The few decoded pictures between the decoder and the display, and the decision which of them lights up when.
///
///     decode thread ── enqueue ──► [ frame frame frame ] ── next(for: refresh) ──► present thread
///                   ◄─ waits while full                  ◄─ didPresent(at:) ─────
///
/// The decode thread enqueues, and waits while the queue is full; the sink's thread asks `next(for:)` at each refresh and reports what
/// was seen. Scheduling and statistics live here, so that every sink decides alike.
///
/// Frames are shown in the order in which they were put in. A frame given to the queue is the queue's, also when it is not accepted:
/// it is shown, or ends and is counted as dropped.
///
/// Thread-safety: all members may be called from any thread.
public final class PresentationQueue: Sendable {
    private struct Link: Sendable {
        var timebase: Timebase
        var observation: TimebaseObservation?
        var wake: Wake?
        var stepped: (@Sendable (MediaTime) -> Void)?
        var sound: Sound?
        var starving: (@Sendable () -> Void)?
    }

    private let state: Monitor<PresentationQueueState>
    private let link: Monitor<Link>

    /// In a struct of its own: a bare closure that comes out of a generic function is wrapped in a new one each time, on the heap.
    private struct Wake: Sendable { let call: @Sendable () -> Void }
    private struct Sound: Sendable { let lead: @Sendable () -> HostSpan? }

    public let pacing: Pacing

    /// - Parameters:
    ///   - capacity: Frames that may wait; each of them holds a surface.
    ///   - timebase: The film's time.
    ///   - pacing: The sink's.
    public init(capacity: Int, timebase: Timebase, pacing: Pacing = .display) {
        self.pacing = pacing
        state = Monitor(PresentationQueueState(capacity: capacity, pacing: pacing))
        link = Monitor(Link(timebase: timebase))
        observe(timebase)
    }

    deinit { link.withLock { $0.observation }?.cancel() }

    // MARK: The decoder's side

    /// Puts a frame at the end, waiting for room until `deadline` (CLOCK_MONOTONIC; nil: for ever).
    ///
    /// - Returns: False when the frame was dropped instead: the queue is cancelled, was flushed meanwhile, or the deadline passed.
    @discardableResult
    public func enqueue(_ frame: consuming VideoFrame, waitingUntil deadline: HostTime? = nil) -> Bool {
        enqueue(frame, waitingUntil: deadline, epoch: nil)
    }

    /// - Parameter epoch: that of the flush which the frame was decoded after: the frame is dropped when another has come since. Nil: the present one.
    @discardableResult
    package func enqueue(_ frame: consuming VideoFrame, waitingUntil deadline: HostTime?, epoch: Int?) -> Bool {
        var frame = Optional(consume frame)
        var epoch = epoch
        let acceptance = state.wait(until: deadline) { state -> Acceptance? in
            if state.isCancelled || epoch ?? state.epoch != state.epoch { return .refused }
            epoch = state.epoch
            guard !state.isFull, let taken = frame.take() else { return nil }
            return state.append(taken) ? .acceptedForSleeper : .accepted
        }
        switch acceptance ?? .refused {
        case .accepted: return true
        case .acceptedForSleeper:
            wake()
            return true
        case .refused:
            state.withLock { $0.countDropped(.flushed) }
            return false
        }
    }

    /// Says that no frame follows the ones put in; another frame, or a flush, takes it back.
    public func markEndOfStream() {
        state.withLock { $0.markEndOfStream() }
        wake()
    }

    // MARK: The owner's side

    /// Drops what waits, an `enqueue` that waits for room included. The next frame counts as a first one again.
    ///
    /// The picture on the display stays, unless `removeImage`.
    public func flush(removeImage: Bool) { _ = beginEpoch(removeImage: removeImage) }

    /// Does what `flush` does, and returns the epoch that begins with it.
    package func beginEpoch(removeImage: Bool) -> Int {
        var epoch = 0
        let waiting = state.change { state in
            let waiting = state.flush(removeImage: removeImage)
            epoch = state.epoch
            return waiting
        }
        _ = consume waiting
        wake()
        return epoch
    }

    /// Drops what waits and refuses every frame until `resume()`, so that a decoding thread is never stuck in here.
    public func cancel() {
        let waiting = state.change { state in
            state.setCancelled(true)
            return state.flush(removeImage: false)
        }
        _ = consume waiting
        wake()
    }

    /// Accepts frames again.
    public func resume() { state.withLock { $0.setCancelled(false) } }

    /// Shows the next waiting frame, or the next to come, whatever the timebase says: a step of a film that stands still.
    ///
    /// - Parameter shown: Called with that frame's presentation time, on the sink's thread, when it is handed to the display. A later call's
    ///   replaces it.
    public func showNext(_ shown: (@Sendable (MediaTime) -> Void)? = nil) {
        link.withLock { $0.stepped = shown }
        state.withLock { $0.step() }
        wake()
    }

    /// The first refresh of the display at or after `time`, as far as the sink's questions let it be known; else `time`. Film that
    /// begins there has its pictures light up at their very times.
    public func refresh(notBefore time: HostTime) -> HostTime { state.withLock { $0.refresh(notBefore: time) } }

    /// The film's time. A new one holds from the next decision on.
    public var timebase: Timebase {
        get { link.withLock { $0.timebase } }
        set {
            let old = link.withLock { link in
                link.timebase = newValue
                return link.observation.take()
            }
            old?.cancel()
            observe(newValue)
            timebaseChanged()
        }
    }

    /// Asked at each picture that lights up for how long before its time the sound of that moment was heard (nil: nothing was), so that
    /// `statistics` tells how far picture and sound are apart. Called on the sink's thread, with no lock held.
    public func setSoundLead(_ lead: (@Sendable () -> HostSpan?)?) { link.withLock { $0.sound = lead.map(Sound.init) } }

    /// Called each time the film's time has passed the last picture's end while no other waits and more are to come. On the sink's thread, with
    /// no lock held.
    public func onStarving(_ body: (@Sendable () -> Void)?) { link.withLock { $0.starving = body } }

    /// Counts flushes: what was decoded, or reported by a sink, under an earlier epoch is of an old position.
    package var epoch: Int { state.withLock { $0.epoch } }

    /// The epoch of the first frame that a sink got last; nil before any.
    package var firstEpoch: Int? { state.withLock { $0.firstEpoch } }

    /// Whether the sink has been told of the end, and no flush came since.
    package var hasReportedEnd: Bool { state.withLock { $0.hasReportedEnd } }

    /// Frames waiting now.
    public var count: Int { state.withLock { $0.count } }

    public var statistics: PresentationStatistics { state.withLock { $0.statistics } }

    // MARK: The sink's side

    /// What to do for the refresh `interval`. Does not block.
    public func next(for interval: DisplayInterval) -> PresentationDecision {
        let mapping = timebase.mapping
        while true {
            switch state.change({ $0.next(for: interval, mapping: mapping) }) {
            case .drop(let frame): _ = consume frame
            case .decided(let decision, let step, let isStarving):
                if let step { link.withLock { $0.stepped.take() }?(step) }
                if isStarving { link.withLock { $0.starving }?() }
                return decision
            }
        }
    }

    /// Has `wake` called when asking again could give another answer than the last: a frame that a sleeping sink waits for, a flush, the end,
    /// a step, a change of the timebase. It runs on any thread, with no lock held, and may still run once after it was replaced by nil.
    public func setWake(_ wake: (@Sendable () -> Void)?) { link.withLock { $0.wake = wake.map(Wake.init) } }

    /// Reports when a frame that `next(for:)` gave lit up. Frames are reported in the order in which they were given.
    ///
    /// - Parameters:
    ///   - sequence: The frame's.
    ///   - time: When it lit up, CLOCK_MONOTONIC.
    ///   - refresh: The display's time between refreshes then; nil when it has none or does not say.
    public func didPresent(sequence: UInt64, at time: HostTime, refresh: HostSpan? = nil, flags: PresentationFlags = []) {
        let lead = link.withLock { $0.sound }?.lead()
        state.withLock { $0.didPresent(sequence: sequence, at: time, refresh: refresh, soundLead: lead) }
    }

    /// Reports that a frame that `next(for:)` gave was never seen; it counts as late.
    public func didDiscard(sequence: UInt64) { state.withLock { $0.didDiscard(sequence: sequence) } }

    // MARK: Inside

    private enum Acceptance: Sendable { case accepted, acceptedForSleeper, refused }

    private func wake() { link.withLock { $0.wake }?.call() }

    private func timebaseChanged() {
        state.withLock { $0.breakRhythm() }
        wake()
    }

    private func observe(_ timebase: Timebase) {
        let observation = timebase.observe { [weak self] _ in self?.timebaseChanged() }
        link.withLock { $0.observation = observation }
    }
}
