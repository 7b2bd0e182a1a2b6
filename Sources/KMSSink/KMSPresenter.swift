internal import DisplaySink
internal import Glibc
internal import Media
internal import SurfacePool

/// Shows what the presentation queue decides on one monitor or several: one flip of each in flight, timed by the first one's flips before.
///
/// While a monitor is gone the others go on. While all are gone or another program's turn, the film goes on unseen: pictures are taken at their times and dropped, the last of
/// them is shown when the monitor is back.
///
/// Thread-safety: belongs to the device's thread.
final class KMSPresenter {
    /// A flip that takes longer than this never comes: the device hangs.
    private static let flipPatience = HostSpan.seconds(5)
    /// How long the status may wait for the film's next picture.
    private static let patienceOfStatus = HostSpan.milliseconds(50)
    /// How long after a refused commit another is worth trying.
    private static let retry = HostSpan.milliseconds(2)

    /// A frame, from the commit that shows it to the end of the flips that replace it.
    private struct Held: ~Copyable {
        var frame: VideoFrame
        /// What the processor made of it.
        var dumbs: [DumbPicture]
        var isDirect: Bool
        var committed: HostTime
        /// The CRTCs whose flips are awaited.
        var awaited: Set<UInt32>
        /// Its flip's time counts.
        var leader: UInt32
        /// The same picture again, because of what lies over it.
        var isRepeat: Bool
        /// Counts commits.
        var use: UInt64
        var witness: (any PictureWitness)?

        /// What the processor made may be written again.
        borrowing func release() { for dumb in dumbs { dumb.isHeld = false } }

        /// What the device reads.
        borrowing func memory() -> [UInt8] { dumbs.isEmpty ? unsafe frame.surface.withUnsafeBytes { unsafe Array($0) } : dumbs.flatMap(\.bytes) }

        deinit { witness?.ended(use: use, memory()) }
    }

    private let monitors: KMSMonitors
    private let queue: PresentationQueue
    private let events: @Sendable (SinkEvent) -> Void
    private let ways: KMSWays
    private var pacer = CommitPacer()
    private var onGlass: Held?
    private var flipping: Held?
    /// Not shown yet: there is no monitor to show it on.
    private var unseen: VideoFrame?
    /// The CRTC whose refreshes the pacer's clock follows.
    private var leader: UInt32?
    private var count: UInt64 = 0
    private var lastSequence: UInt32?
    private var uses: UInt64 = 0
    var witness: (any PictureWitness)?
    /// To be shown over the film.
    var status: PlaybackStatus?
    /// What is over it, as far as there is a place.
    private var shownStatus: PlaybackStatus?
    /// The choice of ways with which the device would not have it.
    private var overlayRefused: Int?
    /// Whether there are monitors that are ours to use.
    var isVisible = true { didSet { if isVisible != oldValue { visibilityChanged() } } }

    init(_ monitors: KMSMonitors, _ ways: KMSWays, _ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) {
        self.monitors = monitors
        self.ways = ways
        self.queue = queue
        self.events = events
        follow()
    }

    /// Whether a flip's event is awaited.
    var isFlipping: Bool { flipping != nil }

    /// Ends every use. To be called when the monitors show something else.
    func destroy() {
        flipping = nil
        onGlass = nil
        unseen = nil
        ways.destroy()
    }

    // MARK: Steps

    /// Does what is due at `now`; the time of the next thing to do, nil for none. Throws when the device is gone.
    func step(_ now: HostTime) throws(SinkError) -> HostTime? {
        if let committed = flipping?.committed {
            let limit = committed + Self.flipPatience
            guard now < limit else { throw SinkError(.lost, "\(monitors.device) does not finish showing a picture.") }
            return limit
        }
        if isVisible, let frame = unseen.take() { return try show(frame, isFirst: false, now, pacer.clock.interval(at: now)) }
        if isVisible, onGlass != nil, monitors.plugged.contains(where: { $0.lit == nil }) { return try showAgain(now, isRepeat: false) }
        if pacer.earliestCommit > now { return pacer.earliestCommit }
        while true {
            let interval = pacer.interval(at: now)
            switch queue.next(for: interval) {
            case .show(let frame, let isFirst): return try show(frame, isFirst: isFirst, now, interval)
            case .keep(let time):
                // Soon another picture brings it along.
                if isVisible, onGlass != nil, status != shownStatus, time.map({ $0 > now + Self.patienceOfStatus }) ?? true {
                    return try showAgain(now, isRepeat: true)
                }
                return time.map { pacer.wakeTime(forFrameDueAt: $0, now: now, interval: interval) }
            case .removeImage:
                unseen = nil
                monitors.showBlack()
                onGlass = nil
            case .finished: events(.finished)
            }
        }
    }

    /// A commit took effect on one monitor; when it has on all, the picture before it is nobody's any more.
    func flipped(_ flip: KMSDevice.Flip) {
        guard flipping?.awaited.remove(flip.crtc) != nil else { return }
        if flip.crtc == flipping?.leader { lit(flip) }
        endFlip()
    }

    /// The leader shows the picture: it is seen.
    private func lit(_ flip: KMSDevice.Flip) {
        guard let committed = flipping?.committed, let isDirect = flipping?.isDirect, let sequence = flipping?.frame.sequence else { return }
        // The kernel counts in 32 bits.
        count += UInt64(lastSequence.map { flip.sequence &- $0 } ?? flip.sequence)
        lastSequence = flip.sequence
        pacer.clock.add(RefreshClock.Feedback(time: flip.time, refresh: period, sequence: count, committed: committed))
        var flags: PresentationFlags = [.vsync, .hardwareClock, .hardwareCompletion]
        if isDirect { flags.insert(.zeroCopy) }
        if flipping?.isRepeat == true { return }
        witness?.lit(sequence: sequence, at: flip.time, refresh: count)
        queue.didPresent(sequence: sequence, at: flip.time, refresh: pacer.clock.period, flags: flags)
    }

    /// All monitors show the new picture, or are gone.
    private func endFlip() {
        guard flipping?.awaited.isEmpty == true, let shown = flipping.take() else { return }
        onGlass?.release()
        onGlass = consume shown
    }

    // MARK: Showing

    private func show(
        _ frame: consuming VideoFrame, isFirst: Bool, isRepeat: Bool = false, _ now: HostTime, _ interval: DisplayInterval
    ) throws(SinkError) -> HostTime? {
        pacer.didCommit(for: interval, at: now)
        guard isVisible else {
            if let old = unseen.take() { queue.didDiscard(sequence: old.sequence) }
            unseen = consume frame
            if isFirst { events(.firstFrameShown(now)) }
            return pacer.earliestCommit
        }
        guard let pictures = try ways.prepare(frame) else {
            queue.didDiscard(sequence: frame.sequence)
            return now + pacer.margin
        }
        if status != shownStatus || shownStatus != nil { layStatus(over: pictures) }
        let wasDark = pictures.contains { $0.output.lit == nil }
        let committed = MonotonicClock.shared.now()
        let wasJoint = monitors.isJoint, outcome = monitors.show(pictures)
        if wasJoint, !monitors.isJoint { ways.reportJoint(pictures.map(\.output)) }
        guard !outcome.accepted.isEmpty else { return try refused(outcome, frame, isFirst: isFirst, now) }
        try ways.refuse(outcome)
        let shown = Set(outcome.accepted.map(\.crtc.id))
        let dumbs = pictures.filter { shown.contains($0.output.crtc.id) }.compactMap(\.picture.dumb)
        for dumb in dumbs { dumb.isHeld = true }
        follow()
        flipping = Held(
            frame: frame, dumbs: dumbs, isDirect: dumbs.isEmpty, committed: committed, awaited: shown,
            leader: leader.flatMap { shown.contains($0) ? $0 : nil } ?? outcome.accepted[0].crtc.id, isRepeat: isRepeat, use: uses, witness: witness)
        uses += 1
        if let witness, let use = flipping?.use, let memory = flipping?.memory() { witness.committed(use: use, memory) }
        if wasDark { restartClock() }
        if isFirst { events(.firstFrameShown(committed)) }
        return committed + Self.flipPatience
    }

    private func showAgain(_ now: HostTime, isRepeat: Bool) throws(SinkError) -> HostTime? {
        guard let frame = onGlass?.frame.copy() else { return nil }
        return try show(frame, isFirst: false, isRepeat: isRepeat, now, pacer.clock.interval(at: now))
    }

    /// Puts the status over pictures that are about to be shown, where the device has a place for it.
    private func layStatus(over pictures: KMSMonitors.Pictures) {
        shownStatus = status
        if status != nil, overlayRefused == ways.choices { return }
        var isNew = false, lacking: [String] = []
        for (output, picture) in pictures {
            let had = output.overlay != nil
            let hasPlace = (try? output.showStatus(status, over: picture)) ?? false
            if !hasPlace { lacking.append(output.connector.name) }
            if !had, output.overlay != nil { isNew = true }
        }
        if !lacking.isEmpty {
            if lacking.count == pictures.count { overlayRefused = ways.choices }
            ways.describe("The status is not shown on \(lacking.joined(separator: " and ")): no free plane with opacity lies above the film.")
        }
        guard isNew, let refusal = monitors.test(pictures).refused.first else { return }
        overlayRefused = ways.choices
        for (output, _) in pictures { output.removeOverlay() }
        ways.describe("The status is not shown: \(monitors.device) refuses it over the film (\(unsafe String(cString: strerror(refusal.code)))).")
    }

    /// The device would not take a commit whose like it had agreed to.
    private func refused(
        _ outcome: KMSMonitors.Outcome, _ frame: consuming VideoFrame, isFirst: Bool, _ now: HostTime
    ) throws(SinkError) -> HostTime? {
        switch outcome.hindrance {
        case EBUSY:
            // Somebody else's flip is under way: soon again.
            if isFirst { events(.firstFrameShown(now)) }
            if let old = unseen.take() { queue.didDiscard(sequence: old.sequence) }
            unseen = consume frame
            return now + Self.retry
        case EACCES, EPERM:
            // Another program has become master, or a switch of consoles is under way.
            if isFirst { events(.firstFrameShown(now)) }
            unseen = consume frame
            isVisible = false
            return nil
        case ENODEV: throw SinkError(.lost, "\(monitors.device.path) is gone.")
        default:
            try ways.refuse(outcome)
            monitors.forget()
            return try show(frame, isFirst: isFirst, now, pacer.clock.interval(at: now))
        }
    }

    // MARK: Coming and going

    /// Monitors were plugged in or out.
    func monitorsChanged() {
        // The events of those that are gone may never come.
        flipping?.awaited.formIntersection(monitors.plugged.map(\.crtc.id))
        endFlip()
        follow()
    }

    private func visibilityChanged() {
        monitors.forget()
        // Its event may never come: what was on its way counts as shown until something replaces it.
        if let lost = flipping.take() {
            queue.didDiscard(sequence: lost.frame.sequence)
            onGlass?.release()
            onGlass = consume lost
        }
    }

    /// The first monitor that is there gives the rhythm.
    private func follow() {
        guard let first = monitors.plugged.first, first.crtc.id != leader else { return }
        leader = first.crtc.id
        restartClock()
    }

    private var first: KMSOutput? { monitors.outputs.first { $0.crtc.id == leader } }
    private var period: HostSpan? { first?.isVariable == true ? nil : first?.mode.period }

    /// The refreshes of a mode that was just set have another phase.
    private func restartClock() {
        if first?.isVariable == true { pacer.clock = .variable } else { pacer.clock.reset(nominalPeriod: period) }
        lastSequence = nil
    }
}
