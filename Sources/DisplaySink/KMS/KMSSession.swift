internal import Media
internal import SurfacePool

/// What the sink's owner and its thread share.
struct KMSSinkState: Sendable {
    struct Wishes: Sendable, Hashable {
        var gravity = Gravity.aspect
        var filmRate = Ratio.unknown
    }

    /// Until a thread takes it.
    var output: KMSSink.Opened?
    var thread: LoopThread?
    var queue: PresentationQueue?
    var isStopping = false
    var wishes = Wishes()
    /// Somebody waits to know what is on the screen.
    var wantsReading = false
    var reading: Result<ScreenReading, SystemError>?
    var conversion: ConversionReport?
    /// Of all runs.
    var bytesCopied = 0

    init(output: KMSSink.Opened) { self.output = output }
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
    private let mode: ModeWish
    private let events: @Sendable (SinkEvent) -> Void

    init(
        _ opened: KMSSink.Opened, _ queue: PresentationQueue, _ state: Monitor<KMSSinkState>, _ bell: EventFD, mode: ModeWish,
        events: @escaping @Sendable (SinkEvent) -> Void
    ) {
        self.opened = opened
        self.queue = queue
        self.state = state
        self.bell = bell
        self.mode = mode
        self.events = events
    }

    /// Shows until stopped, and leaves the monitor as it was.
    func run() {
        let output = opened.output
        let presenter = KMSPresenter(output, queue, events: events)
        presenter.describe = { [events] in events(.detail($0)) }
        do throws(SinkError) {
            try loop(output, presenter)
        } catch {
            events(.failed(error))
        }
        finish(output, presenter)
    }

    private func loop(_ output: KMSOutput, _ presenter: KMSPresenter) throws(SinkError) {
        let hotplug = HotplugWatch()
        let console = Console()
        let copiedBefore = state.withLock { $0.bytesCopied }
        var granted: KMSSinkState.Wishes?
        var isPlugged = true
        var descriptors = [bell.rawValue, output.device.fd, hotplug.fd, console.switchFD, console.keyFD].map {
            PollDescriptor(fd: $0, interest: .readable)
        }
        while true {
            bell.drain()
            if state.withLock({ $0.isStopping }) { return }
            try grant(&granted, output, presenter)
            presenter.isVisible = isPlugged && !console.isAway
            let time = try presenter.step(MonotonicClock.shared.now())
            if !presenter.isFlipping, isReadingWanted() { read(output) }
            state.withLock { state in
                state.conversion = presenter.conversion
                state.bytesCopied = copiedBefore + presenter.bytesCopied
            }
            do throws(SystemError) { _ = try pollDescriptors(&descriptors, until: time) } catch { throw SinkError(.system, error.description) }
            if descriptors[1].ready.contains(.readable) {
                guard output.device.readEvents({ presenter.flipped($0) }) else { throw SinkError(.lost, "\(output.device.path) is gone.") }
            } else if !descriptors[1].ready.isDisjoint(with: [.error, .hangUp]) {
                throw SinkError(.lost, "\(output.device.path) is gone.")
            }
            if hotplug.hasNews(), look(at: output, presenter, &isPlugged) { granted = nil }
            if let move = console.switched() {
                switch move {
                case .away:
                    presenter.isVisible = false
                    // The kernel draws a text console's picture again only for those who had switched to graphics mode.
                    output.restore()
                    output.device.dropMaster()
                    console.yield()
                case .back:
                    console.accept()
                    if !output.device.becomeMaster() { console.isAway = true }
                }
            }
            for key in console.keys() { events(.key(key)) }
        }
    }

    private func isReadingWanted() -> Bool {
        state.withLock { state in
            let isWanted = state.wantsReading
            state.wantsReading = false
            return isWanted
        }
    }

    /// Answers `KMSSink.readBack`.
    private func read(_ output: KMSOutput) {
        let reading = Result { () throws(SystemError) in try output.readBack() }
        state.change { $0.reading = reading }
    }

    /// Something was plugged in or out. True when the mode is to be chosen again.
    private func look(at output: KMSOutput, _ presenter: KMSPresenter, _ isPlugged: inout Bool) -> Bool {
        let wasPlugged = isPlugged
        isPlugged = output.probe()
        if isPlugged != wasPlugged {
            events(.notice("\(output.connector.description) was \(isPlugged ? "plugged in" : "unplugged")."))
            events(isPlugged ? .displayReturned : .displayLost)
        } else if isPlugged, output.isLinkBad {
            output.forget()
        }
        return isPlugged && !wasPlugged
    }

    /// Passes the owner's wishes on.
    private func grant(_ granted: inout KMSSinkState.Wishes?, _ output: KMSOutput, _ presenter: KMSPresenter) throws(SinkError) {
        let wishes = state.withLock { $0.wishes }
        guard wishes != granted, !presenter.isFlipping else { return }
        if wishes.gravity != presenter.gravity {
            presenter.gravity = wishes.gravity
            output.forget()
        }
        if wishes.filmRate != granted?.filmRate {
            _ = try output.chooseMode(wish: mode, filmSize: presenter.filmSize, filmRate: wishes.filmRate)
        }
        granted = wishes
    }

    private func finish(_ output: KMSOutput, _ presenter: KMSPresenter) {
        let limit = MonotonicClock.shared.now() + Self.flipPatience
        var descriptors = [PollDescriptor(fd: output.device.fd, interest: .readable)]
        while presenter.isFlipping, (try? pollDescriptors(&descriptors, until: limit)) == 1, output.device.readEvents({ presenter.flipped($0) }) {}
        output.restore()
        presenter.destroy()
        withExtendedLifetime(opened) {}
    }
}
