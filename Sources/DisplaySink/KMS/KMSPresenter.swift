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
    /// The refresh of a mode that does not say.
    private static let usualPeriod = HostSpan.nanoseconds(16_666_667)
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

        /// What the processor made may be written again.
        borrowing func release() { for dumb in dumbs { dumb.isHeld = false } }
    }

    /// What the choice of a way depends on.
    private struct Kind: Hashable {
        var layout: SurfaceLayout
        var memory: SurfaceMemory.Kind
        var visible: PixelRect
        /// Without gaps in the colours.
        var attributes: PictureAttributes
        var mode: DisplayMode
        var place: MonitorWall.Place
        /// The monitor's.
        var light: EDID.Light
        var gravity: Gravity
    }

    private struct Known {
        var kind: Kind
        var choice: PlaneChoice
    }

    private let monitors: KMSMonitors
    private let queue: PresentationQueue
    private let events: @Sendable (SinkEvent) -> Void
    private let framebuffers: KMSFramebuffers
    /// By the size that the film is fitted to.
    private var converters: [PixelSize: KMSConverter] = [:]
    private var clock: RefreshClock
    private var onGlass: Held?
    private var flipping: Held?
    /// Not shown yet: there is no monitor to show it on.
    private var unseen: VideoFrame?
    /// The refresh that the last commit was made for.
    private var committedFor = HostTime.distantPast
    /// For each monitor.
    private var known: [Known?]
    /// The CRTC whose refreshes `clock` follows.
    private var leader: UInt32?
    private var count: UInt64 = 0
    private var lastSequence: UInt32?
    var gravity = Gravity.aspect
    /// To be shown over the film.
    var status: PlaybackStatus?
    /// What is over it, as far as there is a place.
    private var shownStatus: PlaybackStatus?
    private var isOverlayRefused = false
    /// Whether there are monitors that are ours to use.
    var isVisible = true { didSet { if isVisible != oldValue { visibilityChanged() } } }
    /// What has to be copied, and why.
    private(set) var conversion: ConversionReport?
    /// What is shown how, in a sentence; told when it changes.
    var describe: (String) -> Void = { _ in }
    var bytesCopied: Int { converters.values.reduce(0) { $0 + $1.bytesCopied } }

    init(_ monitors: KMSMonitors, _ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) {
        self.monitors = monitors
        self.queue = queue
        self.events = events
        known = monitors.outputs.map { _ in nil }
        framebuffers = KMSFramebuffers(monitors.device)
        clock = RefreshClock()
        follow()
    }

    /// Whether a flip's event is awaited.
    var isFlipping: Bool { flipping != nil }

    /// The size of the film on square pixels; nothing before the first picture.
    var filmSize: PixelSize {
        known.lazy.compactMap { $0?.kind }.first.map { $0.attributes.displaySize(of: $0.visible.size) } ?? PixelSize(width: 0, height: 0)
    }

    /// Ends every use. To be called when the monitors show something else.
    func destroy() {
        flipping = nil
        onGlass = nil
        unseen = nil
        framebuffers.destroy()
        for converter in converters.values { converter.destroy() }
    }

    // MARK: Steps

    /// Does what is due at `now`; the time of the next thing to do, nil for none. Throws when the device is gone.
    func step(_ now: HostTime) throws(SinkError) -> HostTime? {
        if let committed = flipping?.committed {
            let limit = committed + Self.flipPatience
            guard now < limit else { throw SinkError(.lost, "\(device) does not finish showing a picture.") }
            return limit
        }
        if isVisible, let frame = unseen.take() { return try show(frame, isFirst: false, now, clock.interval(at: now)) }
        if isVisible, onGlass != nil, monitors.plugged.contains(where: { $0.lit == nil }) { return try showAgain(now, isRepeat: false) }
        if committedFor - clock.lead + marginAfterRefresh > now { return committedFor - clock.lead + marginAfterRefresh }
        while true {
            // Two pictures are never made for the same refresh.
            let interval = clock.interval(at: max(now, committedFor - clock.lead + .nanoseconds(1)))
            switch queue.next(for: interval) {
            case .show(let frame, let isFirst): return try show(frame, isFirst: isFirst, now, interval)
            case .keep(let time):
                // Soon another picture brings it along.
                if isVisible, onGlass != nil, status != shownStatus, time.map({ $0 > now + Self.patienceOfStatus }) ?? true {
                    return try showAgain(now, isRepeat: true)
                }
                return time.map { chance(for: $0, now, interval) }
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
        clock.add(RefreshClock.Feedback(time: flip.time, refresh: period, sequence: count, committed: committed))
        var flags: PresentationFlags = [.vsync, .hardwareClock, .hardwareCompletion]
        if isDirect { flags.insert(.zeroCopy) }
        if flipping?.isRepeat == true { return }
        queue.didPresent(sequence: sequence, at: flip.time, refresh: clock.period, flags: flags)
    }

    /// All monitors show the new picture, or are gone.
    private func endFlip() {
        guard flipping?.awaited.isEmpty == true, let shown = flipping.take() else { return }
        onGlass?.release()
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
        _ frame: consuming VideoFrame, isFirst: Bool, isRepeat: Bool = false, _ now: HostTime, _ interval: DisplayInterval
    ) throws(SinkError) -> HostTime? {
        committedFor = max(interval.deadline, now)
        guard isVisible else {
            if let old = unseen.take() { queue.didDiscard(sequence: old.sequence) }
            unseen = consume frame
            if isFirst { events(.firstFrameShown(now)) }
            return committedFor + marginAfterRefresh
        }
        guard let pictures = try prepare(frame) else {
            queue.didDiscard(sequence: frame.sequence)
            return now + marginAfterRefresh
        }
        if status != shownStatus || shownStatus != nil { layStatus(over: pictures) }
        let wasDark = pictures.contains { $0.output.lit == nil }
        let committed = MonotonicClock.shared.now()
        let outcome = monitors.show(pictures)
        guard !outcome.accepted.isEmpty else { return try refused(outcome, frame, isFirst: isFirst, now) }
        try refuse(outcome)
        let shown = Set(outcome.accepted.map(\.crtc.id))
        let dumbs = pictures.filter { shown.contains($0.output.crtc.id) }.compactMap(\.picture.dumb)
        for dumb in dumbs { dumb.isHeld = true }
        follow()
        flipping = Held(
            frame: frame, dumbs: dumbs, isDirect: dumbs.isEmpty, committed: committed, awaited: shown,
            leader: leader.flatMap { shown.contains($0) ? $0 : nil } ?? outcome.accepted[0].crtc.id, isRepeat: isRepeat)
        if wasDark { restartClock() }
        if isFirst { events(.firstFrameShown(committed)) }
        return committed + Self.flipPatience
    }

    private func showAgain(_ now: HostTime, isRepeat: Bool) throws(SinkError) -> HostTime? {
        guard let frame = onGlass?.frame.copy() else { return nil }
        return try show(frame, isFirst: false, isRepeat: isRepeat, now, clock.interval(at: now))
    }

    /// Puts the status over pictures that are about to be shown, where the device has a place for it.
    private func layStatus(over pictures: KMSMonitors.Pictures) {
        shownStatus = status
        if status != nil, isOverlayRefused { return }
        var isNew = false, lacking: [String] = []
        for (output, picture) in pictures {
            let had = output.overlay != nil
            let hasPlace = (try? output.showStatus(status, over: picture)) ?? false
            if !hasPlace { lacking.append(output.connector.name) }
            if !had, output.overlay != nil { isNew = true }
        }
        if !lacking.isEmpty {
            isOverlayRefused = lacking.count == pictures.count
            describe("The status is not shown on \(lacking.joined(separator: " and ")): no free plane with opacity lies above the film.")
        }
        guard isNew, let refusal = monitors.test(pictures).refused.first else { return }
        isOverlayRefused = true
        for (output, _) in pictures { output.removeOverlay() }
        describe("The status is not shown: \(device) refuses it over the film (\(unsafe String(cString: strerror(refusal.code)))).")
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
            try refuse(outcome)
            monitors.forget()
            return try show(frame, isFirst: isFirst, now, clock.interval(at: now))
        }
    }

    /// Takes the next way for the monitors that cannot show theirs as tried.
    private func refuse(_ outcome: KMSMonitors.Outcome) throws(SinkError) {
        for (output, code) in outcome.refused {
            let reason = unsafe String(cString: strerror(code))
            guard let index = index(of: output), case .direct? = known[index]?.choice.current else {
                throw SinkError(.unsupported, "\(device) cannot show a picture on \(output.connector.name): \(reason).")
            }
            known[index]?.choice.refuse(reason)
            output.forget()
            report(output)
        }
    }

    // MARK: Ways

    /// The frame on framebuffers for each monitor, by the best ways that the device agrees to; nil when it cannot be shown at all.
    private func prepare(_ frame: borrowing VideoFrame) throws(SinkError) -> KMSMonitors.Pictures? {
        var fresh = consider(frame), converted: [PixelSize: DumbPicture] = [:]
        while true {
            var pictures: KMSMonitors.Pictures = []
            for output in monitors.plugged {
                guard let picture = try picture(frame, on: output, &converted) else { return nil }
                pictures.append((output, picture))
            }
            guard !fresh.isEmpty else { return pictures }
            let wasJoint = monitors.isJoint
            let outcome = monitors.test(pictures)
            // What the monitor is told about light may be what the device does not take.
            let told = outcome.refused.filter { output, _ in
                pictures.contains { $0.output === output && isSignalToBlame($0) }
            }
            for (output, code) in told {
                describe("\(output.connector.description) is told nothing of the film's light: \(unsafe String(cString: strerror(code))).")
            }
            if !told.isEmpty { continue }
            let refused = outcome.refused.filter { output, _ in pictures.contains { $0.output === output && $0.picture.isDirect } }
            guard outcome.hindrance == nil, !refused.isEmpty else {
                for output in fresh { report(output) }
                if wasJoint, pictures.count > 1 { reportJoint(pictures.map(\.output)) }
                return pictures
            }
            for (output, code) in refused {
                if let index = index(of: output) { known[index]?.choice.refuse(unsafe String(cString: strerror(code))) }
                if !fresh.contains(where: { $0 === output }) { fresh.append(output) }
            }
        }
    }

    /// Whether the device takes a picture once the monitor is told nothing of its light; then it is told nothing.
    private func isSignalToBlame(_ picture: KMSMonitors.Pictures.Element) -> Bool {
        let signal = picture.output.signal
        guard picture.output.giveUpSignal() else { return false }
        if monitors.test([picture]).refused.isEmpty { return true }
        picture.output.tell(signal)
        return false
    }

    /// Begins a choice for each monitor on which nothing like the frame was shown before, and gives these monitors.
    private func consider(_ frame: borrowing VideoFrame) -> [KMSOutput] {
        let surface = frame.surface
        var attributes = frame.attributes
        attributes.color = attributes.color.resolved(for: surface.layout.format, size: frame.visible.size)
        let places = monitors.places
        var fresh: [KMSOutput] = []
        for (index, output) in monitors.outputs.enumerated() where output.isPlugged {
            let place = places[index]
            let kind = Kind(
                layout: surface.layout, memory: surface.memoryKind, visible: frame.visible, attributes: attributes, mode: output.mode, place: place,
                light: output.connector.light, gravity: gravity)
            guard known[index]?.kind != kind else { continue }
            let wish = PlaneWish(
                format: surface.layout.format.opaqueFourCC, pixelFormat: surface.layout.format, modifier: surface.layout.modifier,
                isDMABuf: surface.isDMABuf, buffer: surface.layout.size, visible: frame.visible, attributes: attributes, screen: place.canvas,
                part: place.part == PixelRect(place.canvas) ? nil : place.part, gravity: gravity)
            known[index] = Known(kind: kind, choice: PlaneChoice(wish, output.planes.map(\.offer)))
            fresh.append(output)
            isOverlayRefused = false
            if let lack = output.chooseSignal(for: attributes) { describe("\(output.connector.description): \(lack).") }
        }
        return fresh
    }

    /// The frame on a framebuffer for one monitor, by the way chosen for it; nil when libswscale cannot read it.
    private func picture(
        _ frame: borrowing VideoFrame, on output: KMSOutput, _ converted: inout [PixelSize: DumbPicture]
    ) throws(SinkError) -> KMSOutput.Picture? {
        guard let index = index(of: output), let place = known[index]?.kind.place else { return nil }
        while case .direct(let direct)? = known[index]?.choice.current {
            do throws(SystemError) {
                let framebuffer = try framebuffers.framebuffer(for: frame.surface, as: frame.pixelFormat.opaqueFourCC!)
                return KMSOutput.Picture(framebuffer, direct, waitingFor: KMSOutput.Fence(writing: frame.surface.fd))
            } catch {
                known[index]?.choice.refuse(error.description)
            }
        }
        do throws(SystemError) {
            if case .nothing? = known[index]?.choice.current {
                let black = try output.blackPicture()
                return KMSOutput.Picture(black, part: PixelRect(black.size))
            }
            if let dumb = converted[place.canvas] { return KMSOutput.Picture(dumb, part: place.part) }
            let converter = converters[place.canvas] ?? KMSConverter(monitors.device)
            converters[place.canvas] = converter
            guard let dumb = try converter.convert(frame, screen: place.canvas, gravity: gravity) else { return nil }
            converted[place.canvas] = dumb
            return KMSOutput.Picture(dumb, part: place.part)
        } catch {
            throw SinkError(.unsupported, "\(device) takes no picture: \(error.description).")
        }
    }

    private func index(of output: KMSOutput) -> Int? { monitors.outputs.firstIndex { $0 === output } }

    /// For sentences.
    private var device: String { "\(monitors.device.path) (\(monitors.device.driver))" }

    private func report(_ output: KMSOutput) {
        guard let index = index(of: output), let known = known[index] else { return }
        let format = known.kind.layout.format.rawValue, why = known.choice.reasons.joined(separator: "; ")
        let screen = "\(output.connector.description) of \(device) at \(output.mode)\(output.signalDescription)"
        conversion = nil
        for case .some(let known) in self.known where known.choice.current == .converted {
            conversion = ConversionReport(
                from: known.kind.layout.format.rawValue, to: PixelFormat.bgr0.rawValue, why: known.choice.reasons.joined(separator: "; "))
        }
        switch known.choice.current {
        case .direct(let direct):
            let place = direct.placement.destination, source = direct.placement.source
            let part =
                known.kind.place.part == PixelRect(known.kind.place.canvas)
                ? "\(known.kind.visible.size)" : "\(source.width >> 16)x\(source.height >> 16) of \(known.kind.visible.size)"
            describe(
                "\(screen): \(format) straight on the \(direct.kind == .primary ? "primary" : "overlay") plane \(direct.plane), "
                    + "\(part) \(direct.isScaled ? "scaled to" : "as") \(place.size) at \(place.x),\(place.y)"
                    + (why.isEmpty ? "." : " (\(why))."))
        case .converted: describe("\(screen): \(format) converted to \(PixelFormat.bgr0.rawValue), because \(why).")
        case .nothing: describe("\(screen): black, beside the film.")
        }
    }

    private func reportJoint(_ outputs: [KMSOutput]) {
        let names = outputs.map(\.connector.name).joined(separator: " and ")
        describe(monitors.isJoint ? "\(names) change in one commit." : "\(names) change in a commit each: the device refuses them in one.")
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
        if first?.isVariable == true { clock = .variable } else { clock.reset(nominalPeriod: period) }
        lastSequence = nil
    }
}
