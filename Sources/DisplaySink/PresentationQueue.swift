public import Media
public import SurfacePool

/// The queue of decoded frames between the decoder and the display, which decides when each frame is shown.
///
///     decode thread ── enqueue ──► [ frame frame frame ] ── next(for: refresh) ──► present thread
///                   ◄─ waits while full                  ◄─ didPresent(at:) ─────
///
/// The decode thread enqueues, and waits while the queue is full. The sink's thread calls `next(for:)` at each refresh and reports what was shown.
/// Scheduling and statistics are part of the queue, so that every sink behaves the same.
///
/// Frames are shown in the order in which they were enqueued. The queue owns a frame from `enqueue` on, even if it does not accept the frame: it is
/// shown, or its use ends and it counts as dropped.
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
        var overlay: (any OverlaySource)?
        var screen: (any ScreenSource)?
        var begun: Begun?
    }

    private let state: Monitor<PresentationQueueState>
    private let link: Monitor<Link>

    /// A struct, because a closure that a generic function returns is wrapped in a new heap object each time.
    private struct Wake: Sendable { let call: @Sendable () -> Void }
    private struct Sound: Sendable { let lead: @Sendable () -> HostSpan? }
    private struct Begun: Sendable { let call: @Sendable (Int) -> Void }

    /// Whether frames are chosen by their times. The sink that reads the queue must have the same pacing.
    public let pacing: Pacing

    /// - Parameters:
    ///   - capacity: Maximum number of waiting frames; each holds a surface.
    ///   - timebase: The timebase of the film.
    ///   - pacing: The pacing of the sink.
    public init(capacity: Int, timebase: Timebase, pacing: Pacing = .display) {
        self.pacing = pacing
        state = Monitor(PresentationQueueState(capacity: capacity, pacing: pacing))
        link = Monitor(Link(timebase: timebase))
        observe(timebase)
    }

    deinit { link.withLock { $0.observation }?.cancel() }

    // MARK: The decoder's side

    /// Adds a frame at the end. Waits while the queue is full, until `deadline` (CLOCK_MONOTONIC; nil: without a limit).
    ///
    /// - Returns: False when the frame was dropped, because the queue is cancelled, was flushed meanwhile, or the deadline passed.
    @discardableResult
    public func enqueue(_ frame: consuming VideoFrame, waitingUntil deadline: HostTime? = nil) -> Bool {
        enqueue(frame, waitingUntil: deadline, epoch: nil)
    }

    /// - Parameter epoch: The epoch that the frame was decoded in. The frame is dropped if a flush has begun another one. Nil: the current one.
    @discardableResult
    package func enqueue(_ frame: consuming VideoFrame, waitingUntil deadline: HostTime?, epoch: Int?) -> Bool {
        let time = frame.presentationTime
        var frame = Optional(consume frame)
        var epoch = epoch
        let acceptance = state.wait(until: deadline) { state -> Acceptance? in
            if state.isCancelled || epoch ?? state.epoch != state.epoch { return .refused }
            epoch = state.epoch
            guard !state.isFull, let taken = frame.take() else { return nil }
            return state.append(taken) ? .acceptedForSleeper : .accepted
        }
        switch acceptance ?? .refused {
        case .accepted:
            overlay?.expect(time)
            return true
        case .acceptedForSleeper:
            overlay?.expect(time)
            wake()
            return true
        case .refused:
            state.withLock { $0.countDropped(.flushed) }
            return false
        }
    }

    /// Marks the end of the stream: no frame follows. Another frame or a flush removes the mark.
    public func markEndOfStream() { markEndOfStream(epoch: nil) }

    /// - Parameter epoch: The epoch whose end it is. Does nothing if a flush has begun another one. Nil: the current one.
    package func markEndOfStream(epoch: Int?) {
        let isCurrent = state.withLock { state in
            guard epoch ?? state.epoch == state.epoch else { return false }
            state.markEndOfStream()
            return true
        }
        if isCurrent { wake() }
    }

    // MARK: The owner's side

    /// Drops the waiting frames, including that of an `enqueue` that waits. The next frame counts as a first frame again.
    ///
    /// The frame on the display stays unless `removeImage` is true.
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

    /// Drops the waiting frames and refuses every frame until `resume()`, so that no decoding thread waits in `enqueue`.
    public func cancel() {
        let waiting = state.change { state in
            state.setCancelled(true)
            return state.flush(removeImage: false)
        }
        _ = consume waiting
        wake()
    }

    /// Serves another film from now on: drops what waits, takes this timebase, forgets what was set for the film before and counts from zero. The
    /// frame on the display stays.
    package func beginFilm(_ timebase: Timebase) {
        link.withLock { link in
            link.stepped = nil
            link.sound = nil
            link.starving = nil
            link.overlay = nil
            link.begun = nil
        }
        self.timebase = timebase
        let waiting = state.change { $0.beginFilm() }
        _ = consume waiting
        wake()
    }

    /// Accepts frames again.
    public func resume() { state.withLock { $0.setCancelled(false) } }

    /// Shows the next frame, waiting or still to come, whatever the timebase says: a step of a paused film.
    ///
    /// - Parameter shown: Called on the sink's thread with the frame's presentation time when the frame is shown. A later call replaces it.
    public func showNext(_ shown: (@Sendable (MediaTime) -> Void)? = nil) {
        link.withLock { $0.stepped = shown }
        state.withLock { $0.step() }
        wake()
    }

    /// Holds an untimed film, or lets it go on. A sink without refreshes gets the first frame of a film that is held, then one for each
    /// `showNext`, and hears nothing of the end. Steps that were not made are forgotten.
    package func setHeld(_ isHeld: Bool) {
        state.withLock { $0.setHeld(isHeld) }
        if !isHeld { wake() }
    }

    /// The media time that the sink has reached: of the frame taken last, or its end when the end has been told to the sink. Nil before any frame
    /// since the start or a flush.
    package var reached: MediaTime? { state.withLock { $0.reached } }

    /// The first refresh of the display at or after `time`; `time` itself while the refreshes are unknown. Frames of a film that starts there are
    /// shown exactly at their times.
    public func refresh(notBefore time: HostTime) -> HostTime { state.withLock { $0.refresh(notBefore: time) } }

    /// The timebase of the film. A new one takes effect at the next decision.
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

    /// Sets a closure that returns how long before its time the sound was heard (nil: no sound), so that `statistics` includes the offset between
    /// frame and sound. It is called for each frame that is shown, on the sink's thread, without a lock.
    public func setSoundLead(_ lead: (@Sendable () -> HostSpan?)?) { link.withLock { $0.sound = lead.map(Sound.init) } }

    /// Sets a closure that is called when the film's time passes the end of the last frame and no other frame waits, before the end of the stream.
    /// It is called on the sink's thread, without a lock.
    public func onStarving(_ body: (@Sendable () -> Void)?) { link.withLock { $0.starving = body } }

    /// What lies over the film; nil: nothing. Sinks that draw no overlays ignore it.
    package var overlay: (any OverlaySource)? {
        get { link.withLock { $0.overlay } }
        set {
            link.withLock { $0.overlay = newValue }
            wake()
        }
    }

    /// What lies over the film and its overlay, whatever frame is shown; nil: nothing. It stays from one film to the next.
    package var screen: (any ScreenSource)? {
        get { link.withLock { $0.screen } }
        set {
            link.withLock { $0.screen = newValue }
            wake()
        }
    }

    /// The overlay of a frame that may be on the display, or what `screen` shows, has changed.
    package func overlayChanged() { wake() }

    /// The frames from `start` on are of another film, until a flush: they are counted for themselves, and `onBegun` hears of the first of them.
    ///
    /// - Parameter number: Greater than those before; the first film has 0.
    package func follow(_ number: Int, from start: MediaTime) { state.withLock { $0.follow(number, from: start) } }

    /// After a flush: the frames that come are of this film, and none follows it.
    package func resume(_ number: Int) { state.withLock { $0.resume(number) } }

    /// Sets a closure that is called with the number of a film when its first frame has been shown. On the sink's thread, without a lock.
    package func onBegun(_ body: (@Sendable (Int) -> Void)?) { link.withLock { $0.begun = body.map(Begun.init) } }

    /// Whether each frame of the films before this one that has come was shown or dropped, so that what was counted for them is final.
    package func isOver(before number: Int, at now: HostTime) -> Bool { state.withLock { $0.isOver(before: number, at: now) } }

    /// What was counted for the film with this number; nil for one that is long over, or has not begun.
    package func statistics(of number: Int) -> PresentationStatistics? { state.withLock { $0.statistics(of: number) } }

    /// Counts flushes: what was decoded, or reported by a sink, under an earlier epoch is of an old position.
    package var epoch: Int { state.withLock { $0.epoch } }

    /// The epoch of the first frame that a sink got last; nil before any.
    package var firstEpoch: Int? { state.withLock { $0.firstEpoch } }

    /// Whether the sink has been told of the end, and no flush came since.
    package var hasReportedEnd: Bool { state.withLock { $0.hasReportedEnd } }

    /// Number of frames that wait now.
    public var count: Int { state.withLock { $0.count } }

    /// What tells whether frames move, at one moment: how many were taken by the sink or came too late for it, the time of the one that waits to be
    /// the next, and whether there is room for another.
    package var motion: (taken: Int, next: MediaTime?, hasRoom: Bool) {
        state.withLock { ($0.statistics.framesSubmitted + $0.statistics.droppedTotal, $0.nextTime, !$0.isFull) }
    }

    /// What has been shown and dropped so far. Flushes do not reset it.
    public var statistics: PresentationStatistics { state.withLock { $0.statistics } }

    // MARK: The sink's side

    /// Decides what to do for the refresh `interval`. Does not block.
    public func next(for interval: DisplayInterval) -> PresentationDecision {
        while true {
            // A seek sets the clock, then flushes: a clock that was read in the epoch of the frames is theirs, or a later one.
            let epoch = state.withLock { $0.epoch }, mapping = timebase.mapping
            switch state.change({ $0.next(for: interval, mapping: mapping, in: epoch) }) {
            case .outdated: continue
            case .drop(let frame): _ = consume frame
            case .decided(let decision, let step, let isStarving):
                if let step { link.withLock { $0.stepped.take() }?(step) }
                if isStarving { link.withLock { $0.starving }?() }
                return decision
            }
        }
    }

    /// Sets a closure that is called when another call of `next(for:)` could return something else: after a new frame while the sink sleeps, a
    /// flush, the end of the stream, a step, or a change of the timebase. It is called on any thread, without a lock, and possibly once more after
    /// it was replaced by nil.
    public func setWake(_ wake: (@Sendable () -> Void)?) { link.withLock { $0.wake = wake.map(Wake.init) } }

    /// Reports when a frame that `next(for:)` returned was shown. Frames are reported in the order in which they were returned.
    ///
    /// - Parameters:
    ///   - sequence: The frame's number.
    ///   - time: When it was shown, CLOCK_MONOTONIC.
    ///   - refresh: The display's period at that time; nil when it is variable or unknown.
    ///   - flags: How the time was obtained, and whether the display read the frame's own memory; `statistics` counts both.
    public func didPresent(sequence: UInt64, at time: HostTime, refresh: HostSpan? = nil, flags: PresentationFlags = []) {
        let lead = link.withLock { $0.sound }?.lead()
        let begun = state.withLock { state in
            state.didPresent(sequence: sequence, at: time, refresh: refresh, flags: flags, soundLead: lead)
            return state.takeBegun()
        }
        if let begun { tell(begun) }
    }

    /// Reports that a frame that `next(for:)` returned was never shown. It counts as late.
    public func didDiscard(sequence: UInt64) {
        let begun = state.withLock { state in
            state.didDiscard(sequence: sequence)
            return state.takeBegun()
        }
        if let begun { tell(begun) }
    }

    // MARK: Inside

    private enum Acceptance: Sendable { case accepted, acceptedForSleeper, refused }

    private func tell(_ begun: Int) { link.withLock { $0.begun }?.call(begun) }

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
