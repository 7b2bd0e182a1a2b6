public import Media
public import SurfacePool

/// Lends a player's decoded frames to the program's own renderer, without a copy and without slowing the player down.
///
///     let exporter = FrameExporter()
///     configuration.exporters = [exporter]              // of a Player, or of a DisplayQueue
///     …
///     if let frame = exporter.frame(for: vsync) {       // pull: as often as the renderer likes
///         if frame.isNew { … import frame.plane(0).fd … }
///         frame.release(after: fence)
///     }
///
/// *Pull* with `frame(for:)`, which `onFrameAvailable` can announce, or have frames *pushed* with `waitForFrame`, `next()`, `frames` or
/// `deliver`. An exporter has one client; several clients have an exporter each.
///
/// The decoder's side puts the frames in: a `DisplayQueue` does so for the exporters that it was made with; a program with a
/// `DecompressionSession` of its own calls `offer` for each frame and adds `surfaceHoldCount` to `DecoderOptions.holdCount`.
///
/// Thread-safety: all members may be called from any thread; handlers are called with no lock held.
public final class FrameExporter: Sendable {
    private struct Link: Sendable {
        var timebase: Timebase
        var isPaced = true
        var observation: TimebaseObservation?
        var copies: SurfacePool?
    }

    /// What the client needs, as given to `init`.
    public let configuration: FrameExporterConfiguration
    let client: ExportClient
    private let link: Monitor<Link>
    var state: Monitor<FrameExporterState> { client.state }

    /// Makes an exporter that follows no clock yet. Give it to a player or a `DisplayQueue`, or call `connect` and `offer`.
    public init(_ configuration: FrameExporterConfiguration = FrameExporterConfiguration()) {
        self.configuration = configuration
        client = ExportClient(configuration)
        link = Monitor(Link(timebase: Timebase()))
    }

    deinit { link.withLock { $0.observation }?.cancel() }

    /// Surfaces that the exporter and its client may hold: a decoder's pool must have that many more.
    ///
    /// Frames that wait until they are due do not count, as the player holds them too.
    public var surfaceHoldCount: Int {
        let isWaitingCounted = configuration.policy == .makeDecoderWait || configuration.delivery == .whenDecoded
        return configuration.budget + 1 + (isWaitingCounted ? configuration.bound : 1)
    }

    /// What the exporter has done since it was made.
    public var statistics: FrameExporterStatistics { state.withLock { $0.statistics } }

    /// Counts the exporters of this process, from 1; how notices name them.
    public var number: Int { client.number }

    /// Calls `body` with a sentence when the client misbehaves: it has released a frame after a fence that does not signal. On a thread of the
    /// library, with no lock held. There is one handler; a `DisplayQueue` sets it for its exporters.
    public func setNoticeHandler(_ body: (@Sendable (String) -> Void)?) { client.setNoticeHandler(body) }

    // MARK: The decoder's side

    /// Sets the film's clock, and whether frames wait for it, from the next decision on.
    public func connect(to timebase: Timebase, isPaced: Bool) {
        let old = link.withLock { link in
            link.timebase = timebase
            link.isPaced = isPaced
            return link.observation.take()
        }
        old?.cancel()
        let observation = timebase.observe { [weak self] _ in self?.timebaseChanged() }
        link.withLock { $0.observation = observation }
        timebaseChanged()
    }

    /// Queues a frame, with a use of its own. Waits for room only under `.makeDecoderWait`.
    /// - Returns: False when the frame was not taken: the exporter is cancelled, or was flushed meanwhile.
    @discardableResult
    public func offer(_ frame: borrowing VideoFrame) -> Bool { offer(frame, epoch: nil) }

    /// - Parameter epoch: The epoch in which the frame was decoded. The frame is not taken if a flush has begun another one. Nil: the current one.
    @discardableResult
    package func offer(_ frame: borrowing VideoFrame, epoch part: Int?) -> Bool {
        var copy = Optional(frame.copy()), isFirst = true
        if configuration.policy == .makeDecoderWait {
            var epoch: Int?
            // How many waited before it; negative: it was not taken.
            let ahead: Int? = state.wait { state in
                if state.isCancelled || !state.stream.accepts(part) || epoch ?? state.epoch != state.epoch { return -1 }
                epoch = state.epoch
                guard !state.isFull, let taken = copy.take() else { return nil }
                _ = state.append(taken)
                return state.waitingCount - 1
            }
            guard let ahead, ahead >= 0 else { return false }
            isFirst = ahead == 0
        } else {
            let (mapping, _) = reading
            let now = MonotonicClock.shared.now()
            while let outdated = state.withLock({ $0.popOutdated(at: now, mapping) }) { _ = consume outdated }
            var isTaken = false
            let displaced: VideoFrame? = state.withLock { state in
                guard !state.isCancelled, state.stream.accepts(part), let taken = copy.take() else { return nil }
                isTaken = true
                isFirst = state.waitingCount == 0
                return state.append(taken)
            }
            _ = consume displaced
            guard isTaken else { return false }
        }
        // With a frame queued, waiters sleep until that frame is due or there is room for it.
        if isFirst { client.wakeWaiters() }
        client.frameAvailable.call()
        return true
    }

    /// Ends the stream. Another frame, or a flush, begins it again.
    public func markEndOfStream() {
        state.withLock { $0.markEndOfStream() }
        client.wakeWaiters()
        client.frameAvailable.call()
    }

    /// Forgets the frames that nobody has fetched. `frame(for:)` gives the one fetched last until there is another.
    public func flush() {
        let old = state.withLock { $0.flush() }
        client.wakeWaiters()
        _ = consume old
        client.frameAvailable.call()
    }

    /// Takes no more frames and ends every wait, until `resume()`.
    public func cancel() {
        let old = state.withLock { state in
            state.setCancelled(true)
            state.endHold()
            return state.flush()
        }
        client.wakeWaiters()
        _ = consume old
        let current = state.withLock { $0.takeCurrent() }
        _ = consume current
        client.frameAvailable.call()
    }

    /// Ends what `cancel()` began: frames are taken again.
    public func resume() { state.change { $0.setCancelled(false) } }

    // MARK: Pull

    /// The newest frame that is due at `time`, the moment (CLOCK_MONOTONIC) at which what the renderer draws will light up.
    ///
    /// Gives the same frame again while no newer one is due, so a renderer may ask as often as it likes. With `.makeDecoderWait` it gives every
    /// frame once before the next, also one that is late. Nil before the first frame, after a seek until its frame is there, and for a client over
    /// its budget that wants no copies. Never waits for the decoder or the display.
    public func frame(for time: HostTime) -> ExportedFrame? {
        advance(to: time, onlyOne: configuration.policy == .makeDecoderWait)
        return handOut(again: true)
    }

    /// When the next frame is due, for a renderer that sleeps until there is something to draw; a moment in the past when it is due already.
    /// Nil when no frame is queued and while the film stands still; `onFrameAvailable` tells when that changes.
    public var nextTime: HostTime? {
        let (mapping, isPaced) = reading
        return state.withLock { $0.nextTime(mapping, isPaced: isPaced) }
    }

    /// Calls `body` when there may be a frame to fetch: a frame has been put in, the stream has ended, a flush or the film's clock has changed
    /// which frame is due, or a fence that a frame was released with has signalled. Replaces the handler before; nil removes it.
    ///
    /// `body` runs on the thread that causes the change, with no lock held: for a frame the decoder's thread, for a change of the clock the
    /// thread that changed it, and on several threads at once where several things change. It may fetch frames (`frame(for:)`, or
    /// `waitForFrame` with a deadline in the past) and release them. It must not wait, for the renderer's thread or its locks least of all,
    /// since the decoder stands still until it returns; nor may it end the player or call this function. Usually it sets a flag or wakes the
    /// renderer's loop, which fetches the frame. A `FrameServer` sets the handler of its own exporter.
    ///
    /// When this function returns, the handler before is not running any more.
    public func onFrameAvailable(_ body: (@Sendable () -> Void)?) { client.frameAvailable.set(body) }

    // MARK: Inside

    var reading: (mapping: TimebaseMapping, isPaced: Bool) {
        let (timebase, isPaced) = link.withLock { ($0.timebase, $0.isPaced) }
        return (timebase.mapping, isPaced)
    }

    /// Looks for due frames; when to look again.
    @discardableResult
    func advance(to time: HostTime, onlyOne: Bool, keepsFirst: Bool = false) -> HostTime? {
        while true {
            // A seek sets the clock, then flushes: a clock that was read in the epoch of the frames is theirs, or a later one.
            let epoch = state.withLock { $0.epoch }, (mapping, isPaced) = reading
            let waits = isPaced && configuration.delivery == .whenDue
            switch state.change({ $0.advance(to: time, mapping, in: epoch, isPaced: waits, onlyOne: onlyOne, keepsFirst: keepsFirst) }) {
            case .passed(let old): _ = consume old
            case .settled(let next): return next
            case .outdated: continue
            }
        }
    }

    /// Every frame has been fetched, and none follows.
    var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    /// No wait will give a frame: the stream has ended, or the exporter is cancelled.
    package var isOver: Bool { state.withLock { $0.isCancelled || $0.isAtEnd } }

    func handOut(again: Bool) -> ExportedFrame? {
        let (mapping, isPaced) = reading
        var frame: VideoFrame?
        var sequence: UInt64 = 0, serial: UInt64 = 0
        let handout = state.withLock { state -> FrameExporterState.Handout in
            let handout = state.handOut(again: again)
            if handout != .nothing { frame = state.current?.copy() }
            sequence = state.currentNumber
            serial = state.currentSerial
            return handout
        }
        guard let frame else { return nil }
        let description = FrameDescription(frame, sequence: sequence, serial: serial, mapping: isPaced ? mapping : nil)
        switch handout {
        case .nothing: return nil
        case .overBudget:
            guard configuration.overBudget == .copyOut, let copy = copyOut(frame, description, isNew: true) else { return nil }
            state.withLock { $0.countReplaced() }
            return copy
        case .frame(let isNew):
            let hold = FrameHold(description.identity, of: client)
            guard frame.surface.fd >= 0 else { return copyOut(frame, description, isNew: isNew) }
            return ExportedFrame(description, isNew: isNew, use: frame.takeUse(), hold: hold)
        }
    }

    /// A copy in the exporter's own memory, which a client may keep without touching the decoder's. It is linear, whatever the frame is.
    /// Nil where the CPU cannot read the frame.
    private func copyOut(_ frame: borrowing VideoFrame, _ description: FrameDescription, isNew: Bool) -> ExportedFrame? {
        guard frame.surface.isReadable else { return nil }
        let layout = description.layout.linear
        let pool = link.withLock { link -> SurfacePool in
            if let pool = link.copies { return pool }
            let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: configuration.budget)
            link.copies = pool
            return pool
        }
        if pool.layout != layout { pool.retire(layout) }
        guard let writer = try? pool.acquire() else { return nil }
        unsafe frame.surface.withUnsafeBytes { source in
            unsafe writer.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
        }
        let use = writer.finish()
        state.withLock { $0.countCopied(layout.byteCount) }
        var copied = description
        copied.layout = layout
        copied.identity = use.surface.identity
        (copied.isDMABuf, copied.device, copied.memoryKind) = (false, nil, .memfd)
        return ExportedFrame(copied, isNew: isNew, isCopy: true, use: use, hold: FrameHold(nil, of: client))
    }

    private func timebaseChanged() {
        state.withLock { $0.timebaseChanged() }
        client.wakeWaiters()
        client.frameAvailable.call()
    }
}

extension FrameDescription {
    /// - Parameter mapping: Nil for a film without a clock.
    init(_ frame: borrowing VideoFrame, sequence: UInt64, serial: UInt64, mapping: TimebaseMapping?) {
        self.init(
            layout: frame.surface.layout, visible: frame.visible, attributes: frame.attributes, presentationTime: frame.presentationTime,
            duration: frame.duration, hostTime: frame.presentationTime.isNumeric ? mapping?.hostTime(of: frame.presentationTime) : nil,
            identity: frame.surface.identity, sequence: sequence, isDMABuf: frame.surface.isDMABuf, serial: serial, fieldOrder: frame.flags.fieldOrder
        )
        (device, memoryKind) = (frame.surface.device, frame.surface.memoryKind)
        guard !frame.attachments.isEmpty else { return }
        (hdr10Plus, dolbyVisionRPU) = (frame.attachments.hdr10Plus, frame.attachments.dolbyVisionRPU)
    }
}
