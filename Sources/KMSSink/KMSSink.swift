public import DisplaySink
public import Media
public import PixelConversion
public import SurfacePool

/// A monitor without any desktop, or several: the kernel's display device is driven directly (KMS, atomic).
///
/// Pictures are scanned out from the very memory that the decoder wrote wherever a plane takes it. Times are those of the kernel's
/// flip events. The console is as it was when the sink is stopped; and when the process is killed, since the kernel then puts it back.
///
/// Thread-safety: as the protocols say.
public final class KMSSink: DisplaySink, WindowControl, StatusOverlay {
    /// What the viewer chooses.
    public struct Options: Sendable, Hashable {
        /// Each a socket (`HDMI-A-1`, `card1-HDMI-A-1`), a monitor's name or a device's path; none: the first monitor found. Several
        /// belong to one device.
        public var connectors: [String]
        /// Of each monitor.
        public var mode: ModeWish
        /// What each of several monitors shows.
        public var arrangement: MonitorArrangement
        /// Whether a single monitor waits for the pictures.
        public var variableRefresh: VariableRefresh
        public init(
            connectors: [String] = [], mode: ModeWish = ModeWish(), arrangement: MonitorArrangement = .mirror,
            variableRefresh: VariableRefresh = .auto
        ) {
            self.connectors = connectors
            self.mode = mode
            self.arrangement = arrangement
            self.variableRefresh = variableRefresh
        }
    }

    public let name = "kms"
    public let pacing = Pacing.display
    /// 3: on the glass, on its way there, and kept for a monitor that was unplugged.
    public let surfaceHoldCount = 3
    public let preferredAllocator: any SurfaceAllocator
    /// The monitors and their device, for lists.
    public let summary: String
    private let options: Options
    private let bell: EventFD
    private let state: Monitor<KMSSinkState>

    /// Opens the device and finds the monitor; the picture on it does not change before the first frame.
    ///
    /// Throws `.noDisplay` when there is no such device or monitor or it may not be used, `.unsupported` when it has no such mode.
    public init(_ options: Options = Options()) throws(SinkError) {
        self.options = options
        do throws(SystemError) { bell = try EventFD() } catch { throw SinkError(.system, error.description) }
        let monitors = try Self.open(options)
        let names = monitors.outputs.map { "\($0.connector.description) (\($0.mode))" }.joined(separator: " and ")
        let way = monitors.device.seat.map { "opened by \($0.manager), on \($0.name)" } ?? "opened directly"
        summary = "\(names) of \(monitors.device.path) (\(monitors.device.driver)), \(way)"
        preferredAllocator = SurfaceAllocators.best()
        state = Monitor(KMSSinkState(opened: Opened(monitors)))
    }

    deinit { stop() }

    private static func open(_ options: Options) throws(SinkError) -> KMSMonitors {
        try KMSMonitors(KMSSearch.find(options.connectors), options)
    }

    /// What was opened, handed from the opening thread to the sink's.
    struct Opened: @unchecked Sendable {
        let monitors: KMSMonitors
        init(_ monitors: KMSMonitors) { self.monitors = monitors }
    }

    // MARK: DisplaySink

    public func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        let kept = state.withLock { state in
            precondition(state.thread == nil, "a sink is started once at a time")
            return state.opened.take()
        }
        let opened: Opened
        if let kept { opened = kept } else { opened = Opened(try Self.open(options)) }
        state.change { state in
            state.isStopping = false
            state.queue = queue
            state.conversion = nil
        }
        queue.setWake { [bell] in bell.signal() }
        // Not the sink itself: one that everybody has forgotten ends.
        let session = KMSSession(opened, queue, state, bell, options, events: events)
        let thread = LoopThread(name: "present") { session.run() }
        state.change { $0.thread = thread }
    }

    public func stop() {
        let (thread, queue) = state.change { state in
            state.isStopping = true
            return (state.thread.take(), state.queue.take())
        }
        queue?.setWake(nil)
        bell.signal()
        thread?.join()
    }

    public var conversion: ConversionReport? { state.withLock { $0.conversion } }
    public var bytesCopied: Int { state.withLock { $0.bytesCopied } }

    /// Who sees what becomes of the memory shown from the next `start` on; for tests.
    package func setWitness(_ witness: (any PictureWitness)?) { state.withLock { $0.witness = witness } }

    /// What is on a monitor, read back by the device, once no flip is under way; for tests. The sink must be running.
    ///
    /// - Parameter index: The monitor's place in the options.
    package func readBack(_ index: Int = 0) throws(SystemError) -> ScreenReading {
        state.change { state in
            state.wantedReading = index
            state.reading = nil
        }
        bell.signal()
        return try state.wait { $0.reading }!.get()
    }

    // MARK: What is asked

    public var window: (any WindowControl)? { self }
    public var statusOverlay: (any StatusOverlay)? { self }
    /// Keys come from the console, whose terminal is standard input, or from the seat's keyboards.
    public var readsTerminal: Bool { true }
    public func setFilmRate(_ rate: Ratio) { wish { $0.wishes.filmRate = rate } }
    public func showStatus(_ status: PlaybackStatus?) { wish { $0.wishes.status = status } }
    public func setGravity(_ gravity: Gravity) { wish { $0.wishes.gravity = gravity } }
    /// Always: there is nothing else on the monitor.
    public var isFullscreen: Bool { false }
    public func setTitle(_ title: String) {}
    public func setFullscreen(_ isFullscreen: Bool) {}
    public func toggleFullscreen() {}
    public func setPlaying(_ isPlaying: Bool) {}

    private func wish(_ change: @Sendable (inout KMSSinkState) -> Void) {
        state.change { change(&$0) }
        bell.signal()
    }
}
