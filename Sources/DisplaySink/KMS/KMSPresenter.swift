internal import Glibc
internal import Media
internal import SurfacePool

/// Shows what the presentation queue decides on one monitor: one flip in flight, timed by the flips before.
///
/// While the monitor is gone or another program's turn, the film goes on unseen: pictures are taken at their times and dropped, the last of
/// them is shown when the monitor is back.
///
/// Thread-safety: belongs to the device's thread.
final class KMSPresenter {
    /// The refresh of a mode that does not say.
    private static let usualPeriod = HostSpan.nanoseconds(16_666_667)
    /// A flip that takes longer than this never comes: the device hangs.
    private static let flipPatience = HostSpan.seconds(5)
    /// How long after a refused commit another is worth trying.
    private static let retry = HostSpan.milliseconds(2)

    /// A frame, from the commit that shows it to the end of the flip that replaces it.
    private struct Held: ~Copyable {
        var frame: VideoFrame
        var dumb: DumbPicture?
        var isDirect: Bool
        var committed: HostTime
    }

    /// What the choice of a way depends on.
    private struct Kind: Hashable {
        var layout: SurfaceLayout
        var memory: SurfaceMemory.Kind
        var visible: PixelRect
        /// Without gaps in the colours.
        var attributes: PictureAttributes
        var mode: DisplayMode
        var gravity: Gravity
    }

    private let output: KMSOutput
    private let queue: PresentationQueue
    private let events: @Sendable (SinkEvent) -> Void
    private let framebuffers: KMSFramebuffers
    private let converter: KMSConverter
    private var clock: RefreshClock
    private var onGlass: Held?
    private var flipping: Held?
    /// Not shown yet: there is no monitor to show it on.
    private var unseen: VideoFrame?
    /// The refresh that the last commit was made for.
    private var committedFor = HostTime.distantPast
    private var known: (kind: Kind, choice: PlaneChoice)?
    private var count: UInt64 = 0
    private var lastSequence: UInt32?
    var gravity = Gravity.aspect
    /// Whether there is a monitor that is ours to use.
    var isVisible = true { didSet { if isVisible != oldValue { visibilityChanged() } } }
    /// What has to be copied, and why.
    private(set) var conversion: ConversionReport?
    /// What is shown how, in a sentence; told when it changes.
    var describe: (String) -> Void = { _ in }
    var bytesCopied: Int { converter.bytesCopied }

    init(_ output: KMSOutput, _ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) {
        self.output = output
        self.queue = queue
        self.events = events
        framebuffers = KMSFramebuffers(output.device)
        converter = KMSConverter(output.device)
        clock = RefreshClock(nominalPeriod: output.mode.period)
    }

    /// Whether a flip's event is awaited.
    var isFlipping: Bool { flipping != nil }

    /// The size of the film on square pixels; nothing before the first picture.
    var filmSize: PixelSize {
        known.map { $0.kind.attributes.displaySize(of: $0.kind.visible.size) } ?? PixelSize(width: 0, height: 0)
    }

    /// Ends every use. To be called when the monitor shows something else.
    func destroy() {
        flipping = nil
        onGlass = nil
        unseen = nil
        framebuffers.destroy()
        converter.destroy()
    }

    // MARK: Steps

    /// Does what is due at `now`; the time of the next thing to do, nil for none. Throws when the device is gone.
    func step(_ now: HostTime) throws(SinkError) -> HostTime? {
        if let committed = flipping?.committed {
            let limit = committed + Self.flipPatience
            guard now < limit else { throw SinkError(.lost, "\(output.device.path) (\(output.device.driver)) does not finish showing a picture.") }
            return limit
        }
        if isVisible, let frame = unseen.take() { return try show(frame, isFirst: false, now, clock.interval(at: now)) }
        if isVisible, output.lit == nil, onGlass != nil { return try showAgain(now) }
        if committedFor - clock.lead + marginAfterRefresh > now { return committedFor - clock.lead + marginAfterRefresh }
        while true {
            // Two pictures are never made for the same refresh.
            let interval = clock.interval(at: max(now, committedFor - clock.lead + .nanoseconds(1)))
            switch queue.next(for: interval) {
            case .show(let frame, let isFirst): return try show(frame, isFirst: isFirst, now, interval)
            case .keep(nil): return nil
            case .keep(.some(let time)): return chance(for: time, now, interval)
            case .removeImage:
                unseen = nil
                output.showBlack()
                onGlass = nil
            case .finished: events(.finished)
            }
        }
    }

    /// A commit took effect: the picture before it is nobody's any more.
    func flipped(_ flip: KMSDevice.Flip) {
        guard flip.crtc == output.crtc.id, let shown = flipping.take() else { return }
        // The kernel counts in 32 bits.
        count += UInt64(lastSequence.map { flip.sequence &- $0 } ?? flip.sequence)
        lastSequence = flip.sequence
        let period = output.mode.period
        clock.add(RefreshClock.Feedback(time: flip.time, refresh: period, sequence: count, committed: shown.committed))
        var flags: PresentationFlags = [.vsync, .hardwareClock, .hardwareCompletion]
        if shown.isDirect { flags.insert(.zeroCopy) }
        queue.didPresent(sequence: shown.frame.sequence, at: flip.time, refresh: clock.period, flags: flags)
        onGlass?.dumb?.isHeld = false
        onGlass = consume shown
    }

    /// So long after a refresh a commit surely belongs to the next.
    private var marginAfterRefresh: HostSpan {
        HostSpan(nanoseconds: min(1_000_000, (clock.period ?? Self.usualPeriod).nanoseconds / 8))
    }

    /// When to ask again for a picture that is to light up at `time`: just after the refresh before, never in the past.
    private func chance(for time: HostTime, _ now: HostTime, _ interval: DisplayInterval) -> HostTime {
        guard let period = clock.period else { return max(time - clock.lead, now + .milliseconds(1)) }
        let refresh = clock.refresh(atOrAfter: time)
        let early = min(refresh - period + marginAfterRefresh, clock.commitDeadline(for: refresh) - .microseconds(500))
        // Too late for that one already: as soon as the answer can differ.
        return early > now ? early : max(interval.deadline - clock.lead, now) + .microseconds(100)
    }

    // MARK: Showing

    private func show(
        _ frame: consuming VideoFrame, isFirst: Bool, _ now: HostTime, _ interval: DisplayInterval
    ) throws(SinkError) -> HostTime? {
        committedFor = max(interval.deadline, now)
        guard isVisible else {
            if let old = unseen.take() { queue.didDiscard(sequence: old.sequence) }
            unseen = consume frame
            if isFirst { events(.firstFrameShown(now)) }
            return committedFor + marginAfterRefresh
        }
        guard let picture = try prepare(frame) else {
            queue.didDiscard(sequence: frame.sequence)
            return now + marginAfterRefresh
        }
        let wasLit = output.lit != nil
        let committed = MonotonicClock.shared.now()
        let result = output.show(picture)
        guard result == 0 else { return try refused(result, frame, picture, isFirst: isFirst, now) }
        picture.dumb?.isHeld = true
        flipping = Held(frame: frame, dumb: picture.dumb, isDirect: picture.direct != nil, committed: committed)
        if !wasLit { restartClock() }
        if isFirst { events(.firstFrameShown(committed)) }
        return committed + Self.flipPatience
    }

    private func showAgain(_ now: HostTime) throws(SinkError) -> HostTime? {
        guard let frame = onGlass?.frame.copy() else { return nil }
        return try show(frame, isFirst: false, now, clock.interval(at: now))
    }

    /// The device would not take a commit whose like it had agreed to.
    private func refused(
        _ code: Int32, _ frame: consuming VideoFrame, _ picture: KMSOutput.Picture, isFirst: Bool, _ now: HostTime
    ) throws(SinkError) -> HostTime? {
        switch code {
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
        case ENODEV: throw SinkError(.lost, "\(output.device.path) is gone.")
        default:
            guard picture.direct != nil else {
                throw SinkError(
                    .unsupported,
                    "\(output.device.path) (\(output.device.driver)) cannot show a picture on \(output.connector.name): \(unsafe String(cString: strerror(code)))."
                )
            }
            known?.choice.refuse(unsafe String(cString: strerror(code)))
            report()
            output.forget()
            return try show(frame, isFirst: isFirst, now, clock.interval(at: now))
        }
    }

    /// The frame on a framebuffer, by the best way that the device agrees to; nil when it cannot be shown at all.
    private func prepare(_ frame: borrowing VideoFrame) throws(SinkError) -> KMSOutput.Picture? {
        let surface = frame.surface
        var attributes = frame.attributes
        attributes.color = attributes.color.resolved(for: surface.layout.format, size: frame.visible.size)
        let kind = Kind(
            layout: surface.layout, memory: surface.memoryKind, visible: frame.visible, attributes: attributes, mode: output.mode, gravity: gravity)
        var isNew = false
        if known?.kind != kind {
            let wish = PlaneWish(
                format: surface.layout.format.opaqueFourCC, pixelFormat: surface.layout.format, modifier: surface.layout.modifier,
                isDMABuf: surface.isDMABuf, buffer: surface.layout.size, visible: frame.visible, attributes: attributes, screen: output.mode.size,
                gravity: gravity)
            known = (kind, PlaneChoice(wish, output.planes.map(\.offer)))
            isNew = true
        }
        while case .direct(let direct) = known!.choice.current {
            do throws(SystemError) {
                let framebuffer = try framebuffers.framebuffer(for: surface, as: surface.layout.format.opaqueFourCC!)
                let picture = KMSOutput.Picture(framebuffer: framebuffer, direct: direct)
                let refusal = isNew ? output.test(picture) : 0
                if refusal == 0 || refusal == EACCES || refusal == EBUSY {
                    if isNew { report() }
                    return picture
                }
                known!.choice.refuse(unsafe String(cString: strerror(refusal)))
            } catch {
                known!.choice.refuse(error.description)
            }
            isNew = true
        }
        if isNew { report() }
        do throws(SystemError) {
            guard let dumb = try converter.convert(frame, screen: output.mode.size, gravity: gravity) else { return nil }
            return KMSOutput.Picture(framebuffer: dumb.framebuffer, direct: nil, dumb: dumb)
        } catch {
            throw SinkError(.unsupported, "\(output.device.path) (\(output.device.driver)) takes no picture: \(error.description).")
        }
    }

    private func report() {
        guard let known else { return }
        let format = known.kind.layout.format.rawValue, why = known.choice.reasons.joined(separator: "; ")
        let screen = "\(output.connector.description) of \(output.device.path) (\(output.device.driver)) at \(output.mode)"
        switch known.choice.current {
        case .direct(let direct):
            conversion = nil
            let place = direct.placement.destination
            describe(
                "\(screen): \(format) straight on the \(direct.kind == .primary ? "primary" : "overlay") plane \(direct.plane), "
                    + "\(known.kind.visible.size) \(direct.isScaled ? "scaled to" : "as") \(place.size) at \(place.x),\(place.y)"
                    + (why.isEmpty ? "." : " (\(why))."))
        case .converted:
            conversion = ConversionReport(from: format, to: PixelFormat.bgr0.rawValue, why: why)
            describe("\(screen): \(format) converted to \(PixelFormat.bgr0.rawValue), because \(why).")
        }
    }

    // MARK: Coming and going

    private func visibilityChanged() {
        output.forget()
        // Its event may never come: what was on its way counts as shown until something replaces it.
        if let lost = flipping.take() {
            queue.didDiscard(sequence: lost.frame.sequence)
            onGlass?.dumb?.isHeld = false
            onGlass = consume lost
        }
    }

    /// The refreshes of a mode that was just set have another phase.
    private func restartClock() {
        clock.reset(nominalPeriod: output.mode.period)
        lastSequence = nil
    }
}
