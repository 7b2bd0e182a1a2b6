internal import DisplaySink
internal import Media
internal import PixelConversion
internal import SurfacePool

/// What the sink's callers and its thread share.
struct KMSSinkState: Sendable {
    struct Settings: Sendable, Hashable {
        var framing = Framing()
        var balance = ColorBalance()
        var filmRate = Ratio.unknown
    }

    /// What `init` opened, until a thread takes it.
    var opened: KMSSink.Opened?
    var settings = Settings()
    var conversion: ConversionReport?
    /// Since the sink was made.
    var bytesCopied = 0

    init(opened: KMSSink.Opened) { self.opened = opened }
}

/// One run of the sink from `start` to `stop`, or until the device is gone: the event loop.
///
/// Thread-safety: `run` is called once, on the sink's thread.
final class KMSSession: Sendable {
    /// 500 ms: how long the end waits for the last flip.
    private static let flipPatience = HostSpan.milliseconds(500)

    private let opened: KMSSink.Opened
    private let queue: PresentationQueue
    private let state: Monitor<KMSSinkState>
    private let thread: PresentThread
    private let options: KMSSink.Options
    /// Of memory that the device scans out.
    private let allocator: any SurfaceAllocator
    private let observer: (any SinkProbe)?
    private let events: @Sendable (SinkEvent) -> Void

    init(
        _ opened: KMSSink.Opened, _ queue: PresentationQueue, _ state: Monitor<KMSSinkState>, _ thread: PresentThread,
        _ options: KMSSink.Options, _ allocator: any SurfaceAllocator, _ observer: (any SinkProbe)?, events: @escaping @Sendable (SinkEvent) -> Void
    ) {
        self.opened = opened
        self.queue = queue
        self.state = state
        self.thread = thread
        self.options = options
        self.allocator = allocator
        self.observer = observer
        self.events = events
    }

    /// Runs until stopped, then restores the monitors.
    func run() {
        let monitors = opened.monitors
        let planner = ScanoutPlanner(monitors, options.toneMapping) { [events] in events(.detail($0)) }
        let balancer = DisplayBalancer(allocator: allocator, holdCount: KMSSink.heldFrames) { [events] in
            events(.detail("\(monitors.device): \($0)."))
        }
        let presenter = KMSPresenter(monitors, planner, balancer, queue, events: events)
        presenter.probe = observer
        monitors.probe = observer
        observer?.started { [thread] in thread.wakeup.signal() }
        do throws(SinkError) {
            try loop(monitors, planner, presenter)
        } catch {
            events(.failed(error))
        }
        finish(monitors, presenter)
    }

    private func loop(_ monitors: KMSMonitors, _ planner: ScanoutPlanner, _ presenter: KMSPresenter) throws(SinkError) {
        let hotplug = HotplugWatch(), device = monitors.device
        let vtSwitching = VTSwitching(monitors)
        if let seat = device.seat { events(.detail("\(device.path) is opened by \(seat.manager), on \(seat.name).")) }
        let copiedBefore = state.withLock { $0.bytesCopied }
        var applied: KMSSinkState.Settings?
        var descriptors = ([thread.wakeup.rawValue, device.fd, hotplug.fd, vtSwitching.eventFD] + vtSwitching.keyFDs).map {
            PollDescriptor(fd: $0, interest: .readable)
        }
        while true {
            thread.wakeup.drain()
            if thread.isStopping { return }
            try apply(&applied, monitors, planner, presenter)
            presenter.isVisible = !monitors.plugged.isEmpty && vtSwitching.isActive
            let time = try presenter.step(MonotonicClock.shared.now())
            if !presenter.isFlipping, let observer, let index = observer.takeWantedReading() {
                observer.didRead(Result { () throws(SystemError) in try monitors.outputs[index].readBack() })
            }
            state.withLock { state in
                state.conversion = planner.conversion ?? planner.composition ?? presenter.balancer.report
                state.bytesCopied = copiedBefore + planner.bytesCopied + presenter.balancer.bytesCopied
            }
            do throws(SystemError) { _ = try pollDescriptors(&descriptors, until: time) } catch { throw SinkError(.system, error.description) }
            if descriptors[1].ready.contains(.readable) {
                guard device.readEvents({ presenter.flipped($0) }) else { throw SinkError(.lost, "\(device.path) is gone.") }
            } else if !descriptors[1].ready.isDisjoint(with: [.error, .hangUp]) {
                throw SinkError(.lost, "\(device.path) is gone.")
            }
            if hotplug.hasEvents(), probe(monitors, presenter) { applied = nil }
            let isGone = !descriptors[3].ready.isDisjoint(with: [.error, .hangUp, .invalid])
            try vtSwitching.handleEvents(isGone: isGone) { presenter.isVisible = false }
            for key in vtSwitching.keys() { events(.key(key)) }
        }
    }

    /// Handles hot-plug events. True when modes must be chosen again.
    private func probe(_ monitors: KMSMonitors, _ presenter: KMSPresenter) -> Bool {
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

    /// Applies settings that have changed.
    private func apply(
        _ applied: inout KMSSinkState.Settings?, _ monitors: KMSMonitors, _ planner: ScanoutPlanner, _ presenter: KMSPresenter
    ) throws(SinkError) {
        let settings = state.withLock { $0.settings }
        presenter.balance = settings.balance
        guard settings.framing != applied?.framing || settings.filmRate != applied?.filmRate, !presenter.isFlipping else { return }
        if settings.framing != planner.framing {
            planner.framing = settings.framing
            monitors.forget()
        }
        if settings.filmRate != applied?.filmRate {
            for output in monitors.plugged {
                _ = try output.chooseMode(request: options.mode, filmSize: planner.filmSize, filmRate: settings.filmRate)
                output.isVariable =
                    monitors.outputs.count == 1
                    && options.variableRefresh.isWanted(
                        isCapable: output.isVariableCapable, refresh: output.mode.refresh, filmRate: settings.filmRate)
            }
        }
        applied = settings
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
