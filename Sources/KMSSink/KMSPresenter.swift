internal import DisplaySink
internal import Glibc
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Shows the presentation queue's frames on one or several monitors. One flip per monitor is pending at a time; the first monitor's flips give the
/// timing.
///
/// While a monitor is unplugged, the others continue. While none is available, because all are unplugged or another session is active, playback
/// continues unseen: frames are taken at their times and dropped, and the last one is shown when a monitor is back.
///
/// Thread-safety: belongs to the device's thread.
final class KMSPresenter {
    /// 5 s: after this time without a flip event the device counts as hung.
    private static let flipPatience = HostSpan.seconds(5)
    /// 50 ms: what lies over the film waits this long for the next frame before it gets a commit of its own, so that it never delays a frame.
    private static let overlayPatience = HostSpan.milliseconds(50)
    /// 2 ms: a commit that was refused with EBUSY is tried again after this time.
    private static let retry = HostSpan.milliseconds(2)

    /// A frame, from the commit that shows it until all flips that replace it have completed.
    private struct Held: ~Copyable {
        var frame: VideoFrame
        /// The same with its colours as the viewer wants them: its memory is on the screen.
        var content: VideoFrame
        /// What the frame was converted into, and black.
        var drawn: [DrawnImage]
        /// What lies over it.
        var overlays: [DrawnImage]
        var isDirect: Bool
        var committed: HostTime
        /// The CRTCs whose flip events are pending.
        var awaited: Set<UInt32>
        /// The CRTC whose flip time counts as the frame's presentation time.
        var leader: UInt32
        /// The frame is shown again, because what lies over it changed.
        var isRepeat: Bool
        /// Counts commits, for probes.
        var use: UInt64
        var probe: (any SinkProbe)?

        /// The bytes that the device reads.
        borrowing func memory() -> [UInt8] {
            drawn.isEmpty ? unsafe content.surface.withUnsafeBytes { unsafe Array($0) } : drawn.flatMap(\.bytes)
        }

        deinit { probe?.ended(use: use, memory()) }
    }

    private let monitors: KMSMonitors
    private let queue: PresentationQueue
    private let events: @Sendable (SinkEvent) -> Void
    private let planner: ScanoutPlanner
    let balancer: DisplayBalancer
    /// The frame on the screen has other colours than it is to have.
    private var isStale = false
    private var pacer = CommitPacer()
    private var onScreen: Held?
    private var flipping: Held?
    /// Due, but not shown, because no monitor is available.
    private var unshown: VideoFrame?
    /// The CRTC whose refreshes the pacer's clock follows.
    private var leader: UInt32?
    private var count: UInt64 = 0
    private var lastSequence: UInt32?
    private var uses: UInt64 = 0
    var probe: (any SinkProbe)?
    private var overlays: OverlayPresenter
    /// Whether a monitor is plugged in and the session is active.
    var isVisible = true { didSet { if isVisible != oldValue { visibilityChanged() } } }

    init(
        _ monitors: KMSMonitors, _ planner: ScanoutPlanner, _ balancer: DisplayBalancer, _ queue: PresentationQueue,
        events: @escaping @Sendable (SinkEvent) -> Void
    ) {
        self.monitors = monitors
        self.planner = planner
        self.balancer = balancer
        self.queue = queue
        self.events = events
        overlays = OverlayPresenter(monitors, planner, events: events)
        follow()
    }

    /// How brightness and colours are changed, of the frame on the screen, too.
    var balance: ColorBalance {
        get { balancer.balance }
        set {
            guard newValue != balancer.balance else { return }
            balancer.balance = newValue
            isStale = true
        }
    }

    /// Whether a flip event is pending.
    var isFlipping: Bool { flipping != nil }

    /// Ends every use. Called after the monitors show something else.
    func destroy() {
        flipping = nil
        onScreen = nil
        unshown = nil
        planner.destroy()
    }

    // MARK: Steps

    /// Does what is due at `now`. Returns when to call again; nil: after an event. Throws when the device is gone.
    func step(_ now: HostTime) throws(SinkError) -> HostTime? {
        if let committed = flipping?.committed {
            let limit = committed + Self.flipPatience
            guard now < limit else { throw SinkError(.lost, "\(monitors.device) did not complete a page flip in time.") }
            return limit
        }
        if isVisible, let frame = unshown.take() { return try show(frame, isFirst: false, now, pacer.clock.interval(at: now)) }
        if isVisible, onScreen != nil, monitors.plugged.contains(where: { $0.current == nil }) { return try showAgain(now, isRepeat: false) }
        let wanted = overlays.wanted(queue)
        if pacer.earliestCommit > now { return pacer.earliestCommit }
        while true {
            let interval = pacer.interval(at: now)
            switch queue.next(for: interval) {
            case .show(let frame, let isFirst): return try show(frame, isFirst: isFirst, now, interval)
            case .keep(let time):
                // The film's next frame shows it if that comes soon.
                if isVisible, onScreen != nil, isStale || overlays.mustShow(wanted), time.map({ $0 > now + Self.overlayPatience }) ?? true {
                    return try showAgain(now, isRepeat: true)
                }
                return time.map { pacer.wakeTime(forFrameDueAt: $0, now: now, interval: interval) }
            case .removeImage:
                unshown = nil
                monitors.showBlack()
                onScreen = nil
                overlays.removeFrame()
            case .finished: events(.finished)
            }
        }
    }

    /// A commit took effect on one monitor. When it has on all, the use of the previous frame ends.
    func flipped(_ flip: KMSDevice.Flip) {
        guard flipping?.awaited.remove(flip.crtc) != nil else { return }
        if flip.crtc == flipping?.leader { lit(flip) }
        endFlip()
    }

    /// The leading monitor shows the frame.
    private func lit(_ flip: KMSDevice.Flip) {
        guard let committed = flipping?.committed, let isDirect = flipping?.isDirect, let sequence = flipping?.frame.sequence else { return }
        // The kernel counts in 32 bits.
        count += UInt64(lastSequence.map { flip.sequence &- $0 } ?? flip.sequence)
        lastSequence = flip.sequence
        pacer.clock.add(RefreshClock.Feedback(time: flip.time, refresh: period, sequence: count, committed: committed))
        var flags: PresentationFlags = [.vsync, .hardwareClock, .hardwareCompletion]
        if isDirect { flags.insert(.zeroCopy) }
        if flipping?.isRepeat == true { return }
        probe?.lit(sequence: sequence, at: flip.time, refresh: count)
        queue.didPresent(sequence: sequence, at: flip.time, refresh: pacer.clock.period, flags: flags)
    }

    /// Ends the use of the previous frame when all monitors show the new one, or are unplugged.
    private func endFlip() {
        guard flipping?.awaited.isEmpty == true, let shown = flipping.take() else { return }
        onScreen = consume shown
    }

    // MARK: Showing

    private func show(
        _ frame: consuming VideoFrame, isFirst: Bool, isRepeat: Bool = false, _ now: HostTime, _ interval: DisplayInterval
    ) throws(SinkError) -> HostTime? {
        pacer.didCommit(for: interval, at: now)
        guard isVisible else {
            if let old = unshown.take() { queue.didDiscard(sequence: old.sequence) }
            unshown = consume frame
            if isFirst { events(.firstFrameShown(now)) }
            return pacer.earliestCommit
        }
        guard let content = balancer.balanced(frame), var buffers = try planner.prepare(content) else {
            queue.didDiscard(sequence: frame.sequence)
            return now + pacer.margin
        }
        isStale = false
        overlays.cover(&buffers, content, queue)
        let wasDark = buffers.contains { $0.output.current == nil }
        let committed = MonotonicClock.shared.now()
        let wasJoint = monitors.isJoint, outcome = monitors.show(buffers)
        if wasJoint, !monitors.isJoint { planner.reportJoint(buffers.map(\.output)) }
        guard !outcome.accepted.isEmpty else { return try refused(outcome, buffers, frame, isFirst: isFirst, now) }
        try refuse(outcome, buffers)
        overlays.didShow()
        let shown = Set(outcome.accepted.map(\.crtc.id))
        let shownBuffers = buffers.filter { shown.contains($0.output.crtc.id) }.map(\.buffer), drawn = shownBuffers.compactMap(\.drawn)
        follow()
        flipping = Held(
            frame: frame, content: content, drawn: drawn, overlays: shownBuffers.compactMap { $0.overlay?.drawn },
            isDirect: drawn.isEmpty && balancer.report == nil,
            committed: committed, awaited: shown,
            leader: leader.flatMap { shown.contains($0) ? $0 : nil } ?? outcome.accepted[0].crtc.id, isRepeat: isRepeat, use: uses, probe: probe)
        uses += 1
        if let probe, let use = flipping?.use, let memory = flipping?.memory() { probe.committed(use: use, memory) }
        if wasDark { restartClock() }
        if isFirst { events(.firstFrameShown(committed)) }
        return committed + Self.flipPatience
    }

    private func showAgain(_ now: HostTime, isRepeat: Bool) throws(SinkError) -> HostTime? {
        guard let frame = onScreen?.frame.copy() else { return nil }
        return try show(frame, isFirst: false, isRepeat: isRepeat, now, pacer.clock.interval(at: now))
    }

    /// Refused monitors do without what lies over the film, or get another plan.
    private func refuse(_ outcome: KMSMonitors.Outcome, _ buffers: KMSMonitors.Buffers) throws(SinkError) {
        var outcome = outcome
        outcome.refused = overlays.refuse(outcome, buffers)
        try planner.refuse(outcome)
    }

    /// The device refused a commit although it had accepted a test of the same configuration.
    private func refused(
        _ outcome: KMSMonitors.Outcome, _ buffers: KMSMonitors.Buffers, _ frame: consuming VideoFrame, isFirst: Bool, _ now: HostTime
    ) throws(SinkError) -> HostTime? {
        switch outcome.hindrance {
        case EBUSY:
            // Another flip is pending. Try again soon.
            if isFirst { events(.firstFrameShown(now)) }
            if let old = unshown.take() { queue.didDiscard(sequence: old.sequence) }
            unshown = consume frame
            return now + Self.retry
        case EACCES, EPERM:
            // Another program has become the master, or a console switch is in progress.
            if isFirst { events(.firstFrameShown(now)) }
            unshown = consume frame
            isVisible = false
            return nil
        case ENODEV: throw SinkError(.lost, "\(monitors.device.path) is gone.")
        default:
            try refuse(outcome, buffers)
            monitors.forget()
            return try show(frame, isFirst: isFirst, now, pacer.clock.interval(at: now))
        }
    }

    // MARK: Coming and going

    /// Monitors were plugged in or unplugged.
    func monitorsChanged() {
        // Flip events of unplugged monitors may never come.
        flipping?.awaited.formIntersection(monitors.plugged.map(\.crtc.id))
        endFlip()
        follow()
    }

    private func visibilityChanged() {
        monitors.forget()
        // Its flip event may never come. The frame counts as shown until another one replaces it.
        if let lost = flipping.take() {
            queue.didDiscard(sequence: lost.frame.sequence)
            onScreen = consume lost
        }
    }

    /// The first monitor that is plugged in gives the timing.
    private func follow() {
        guard let first = monitors.plugged.first, first.crtc.id != leader else { return }
        leader = first.crtc.id
        restartClock()
    }

    private var first: KMSOutput? { monitors.outputs.first { $0.crtc.id == leader } }
    private var period: HostSpan? { first?.isVariable == true ? nil : first?.mode.period }

    /// A mode that was just set has another phase.
    private func restartClock() {
        if first?.isVariable == true { pacer.clock = .variable } else { pacer.clock.reset(nominalPeriod: period) }
        lastSequence = nil
    }
}
