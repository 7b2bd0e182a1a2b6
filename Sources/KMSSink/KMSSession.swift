internal import DisplaySink
internal import Media
internal import PixelConversion
internal import SurfacePool

/// What the sink's owner and its thread share.
struct KMSSinkState: Sendable {
    struct Wishes: Sendable, Hashable {
        var gravity = Gravity.aspect
        var filmRate = Ratio.unknown
        var status: PlaybackStatus?
    }

    /// Until a thread takes it.
    var opened: KMSSink.Opened?
    var thread: LoopThread?
    var queue: PresentationQueue?
    var isStopping = false
    var wishes = Wishes()
    /// Somebody waits to know what is on this monitor.
    var wantedReading: Int?
    /// Of a test.
    var witness: (any PictureWitness)?
    var reading: Result<ScreenReading, SystemError>?
    var conversion: ConversionReport?
    /// Of all runs.
    var bytesCopied = 0

    init(opened: KMSSink.Opened) { self.opened = opened }
}

/// One run of the sink, from `start` to `stop` or to the device's end: the loop that everything happens in.
///
/// Thread-safety: `run` is called once, on the sink's thread.
final class KMSSession: Sendable {
    /// The last flip is given this long to finish.
    private static let flipPatience = HostSpan.milliseconds(500)

    private let opened: KMSSink.Opened
    private let queue: PresentationQueue
    private let state: Monitor<KMSSinkState>
    private let bell: EventFD
    private let options: KMSSink.Options
    private let events: @Sendable (SinkEvent) -> Void

    init(
        _ opened: KMSSink.Opened, _ queue: PresentationQueue, _ state: Monitor<KMSSinkState>, _ bell: EventFD,
        _ options: KMSSink.Options,
        events: @escaping @Sendable (SinkEvent) -> Void
    ) {
        self.opened = opened
        self.queue = queue
        self.state = state
        self.bell = bell
        self.options = options
        self.events = events
    }

    /// Shows until stopped, and leaves the monitors as they were.
    func run() {
        let monitors = opened.monitors
        let ways = KMSWays(monitors) { [events] in events(.detail($0)) }
        let presenter = KMSPresenter(monitors, ways, queue, events: events)
        presenter.witness = state.withLock { $0.witness }
        monitors.witness = presenter.witness
        do throws(SinkError) {
            try loop(monitors, ways, presenter)
        } catch {
            events(.failed(error))
        }
        finish(monitors, presenter)
    }

    private func loop(_ monitors: KMSMonitors, _ ways: KMSWays, _ presenter: KMSPresenter) throws(SinkError) {
        let hotplug = HotplugWatch(), device = monitors.device
        let turn = KMSTurn(monitors)
        if let seat = device.seat { events(.detail("\(device.path) is opened by \(seat.manager), on \(seat.name).")) }
        let copiedBefore = state.withLock { $0.bytesCopied }
        var granted: KMSSinkState.Wishes?
        var descriptors = ([bell.rawValue, device.fd, hotplug.fd, turn.newsFD] + turn.keyFDs).map { PollDescriptor(fd: $0, interest: .readable) }
        while true {
            bell.drain()
            if state.withLock({ $0.isStopping }) { return }
            try grant(&granted, monitors, ways, presenter)
            presenter.isVisible = !monitors.plugged.isEmpty && turn.isOurs
            let time = try presenter.step(MonotonicClock.shared.now())
            if !presenter.isFlipping { read(monitors) }
            state.withLock { state in
                state.conversion = ways.conversion
                state.bytesCopied = copiedBefore + ways.bytesCopied
            }
            do throws(SystemError) { _ = try pollDescriptors(&descriptors, until: time) } catch { throw SinkError(.system, error.description) }
            if descriptors[1].ready.contains(.readable) {
                guard device.readEvents({ presenter.flipped($0) }) else { throw SinkError(.lost, "\(device.path) is gone.") }
            } else if !descriptors[1].ready.isDisjoint(with: [.error, .hangUp]) {
                throw SinkError(.lost, "\(device.path) is gone.")
            }
            if hotplug.hasNews(), look(at: monitors, presenter) { granted = nil }
            let isGone = !descriptors[3].ready.isDisjoint(with: [.error, .hangUp, .invalid])
            try turn.look(isGone: isGone) { presenter.isVisible = false }
            for key in turn.keys() { events(.key(key)) }
        }
    }

    /// Answers `KMSSink.readBack`.
    private func read(_ monitors: KMSMonitors) {
        guard let index = state.withLock({ $0.wantedReading.take() }) else { return }
        let reading = Result { () throws(SystemError) in try monitors.outputs[index].readBack() }
        state.change { $0.reading = reading }
    }

    /// Something was plugged in or out. True when modes are to be chosen again.
    private func look(at monitors: KMSMonitors, _ presenter: KMSPresenter) -> Bool {
        let wasVisible = !monitors.plugged.isEmpty
        var isChoiceOpen = false
        for output in monitors.outputs {
            let wasPlugged = output.isPlugged
            output.probe()
            if output.isPlugged != wasPlugged {
                events(.notice("\(output.connector.description) was \(output.isPlugged ? "plugged in" : "unplugged")."))
                if output.isPlugged { isChoiceOpen = true }
            } else if output.isPlugged, output.isLinkBad {
                output.forget()
            }
        }
        let isVisible = !monitors.plugged.isEmpty
        if isVisible != wasVisible { events(isVisible ? .displayReturned : .displayLost) }
        presenter.monitorsChanged()
        return isChoiceOpen
    }

    /// Passes the owner's wishes on.
    private func grant(
        _ granted: inout KMSSinkState.Wishes?, _ monitors: KMSMonitors, _ ways: KMSWays, _ presenter: KMSPresenter
    ) throws(SinkError) {
        let wishes = state.withLock { $0.wishes }
        presenter.status = wishes.status
        guard wishes.gravity != granted?.gravity || wishes.filmRate != granted?.filmRate, !presenter.isFlipping else { return }
        if wishes.gravity != ways.gravity {
            ways.gravity = wishes.gravity
            monitors.forget()
        }
        if wishes.filmRate != granted?.filmRate {
            for output in monitors.plugged {
                _ = try output.chooseMode(wish: options.mode, filmSize: ways.filmSize, filmRate: wishes.filmRate)
                output.isVariable =
                    monitors.outputs.count == 1
                    && options.variableRefresh.isWanted(
                        isCapable: output.isVariableCapable, refresh: output.mode.refresh, filmRate: wishes.filmRate)
            }
        }
        granted = wishes
    }

    private func finish(_ monitors: KMSMonitors, _ presenter: KMSPresenter) {
        let limit = MonotonicClock.shared.now() + Self.flipPatience
        var descriptors = [PollDescriptor(fd: monitors.device.fd, interest: .readable)]
        while presenter.isFlipping, (try? pollDescriptors(&descriptors, until: limit)) == 1, monitors.device.readEvents({ presenter.flipped($0) }) {}
        monitors.restore()
        presenter.destroy()
        withExtendedLifetime(opened) {}
    }
}
