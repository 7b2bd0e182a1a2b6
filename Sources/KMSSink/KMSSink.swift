public import DisplaySink
public import Media
public import PixelConversion
public import SurfacePool

/// Shows frames on one or several monitors without a desktop, by atomic mode setting (KMS).
///
/// A frame is scanned out from the memory that the decoder wrote if a plane accepts it. Presentation times are those of the kernel's flip events.
/// The console is restored when the sink is stopped; if the process is killed, the kernel restores it.
///
/// Thread-safety: as the protocols require.
public final class KMSSink: DisplaySink, WindowControl {
    /// Which monitors to use, and how.
    public struct Options: Sendable, Hashable {
        /// Each is a connector (`HDMI-A-1`, `card1-HDMI-A-1`), a monitor's name or a device's path. Empty: the first monitor found. Several
        /// connectors must belong to one device.
        public var connectors: [String]
        /// The mode of each monitor.
        public var mode: ModeRequest
        /// How several monitors share the film.
        public var arrangement: MonitorArrangement
        /// Whether a single monitor uses VRR.
        public var variableRefresh: VariableRefresh
        /// How films in PQ or HLG are shown on monitors that are not told of it; nil: as if they were in standard dynamic range, without a copy.
        public var toneMapping: ToneMapping?
        /// Creates options. The default is the first monitor, in the mode that it prefers, at a refresh rate that suits the film.
        public init(
            connectors: [String] = [], mode: ModeRequest = ModeRequest(), arrangement: MonitorArrangement = .mirror,
            variableRefresh: VariableRefresh = .auto, toneMapping: ToneMapping? = ToneMapping()
        ) {
            self.connectors = connectors
            self.mode = mode
            self.arrangement = arrangement
            self.variableRefresh = variableRefresh
            self.toneMapping = toneMapping
        }
    }

    /// `kms`.
    public let name = "kms"
    /// Always `.display`: a frame is chosen for each refresh of the first monitor that is plugged in.
    public let pacing = Pacing.display
    /// 3: on the screen, pending, and kept for a monitor that is unplugged.
    public let surfaceHoldCount = heldFrames
    static let heldFrames = 3
    /// The machine's best allocator, as found when the sink was created.
    public let preferredAllocator: any SurfaceAllocator
    /// The monitors and their device, for messages.
    public let summary: String
    /// Of the monitors that were found when the sink was created.
    public let displaySize: PixelSize?
    private let options: Options
    private let probe: (any SinkProbe)?
    private let thread: PresentThread
    private let state: Monitor<KMSSinkState>

    /// Opens the device and finds the monitors. They do not change before the first frame.
    ///
    /// Throws `.noDisplay` when there is no such device or monitor or it cannot be used, `.unsupported` when the monitor has no such mode.
    public convenience init(_ options: Options = Options()) throws(SinkError) { try self.init(options, probe: nil) }

    /// - Parameter probe: Observes the memory that is shown and reads the monitors back; for tests.
    package init(_ options: Options, probe: (any SinkProbe)?) throws(SinkError) {
        self.options = options
        self.probe = probe
        thread = try PresentThread()
        let monitors = try Self.open(options)
        let names = monitors.outputs.map { "\($0.connector.description) (\($0.mode))" }.joined(separator: " and ")
        let way = monitors.device.seat.map { "opened by \($0.manager), on \($0.name)" } ?? "opened directly"
        summary = "\(names) of \(monitors.device.path) (\(monitors.device.driver)), \(way)"
        displaySize = monitors.outputs.map(\.mode.size).max { $0.width * $0.height < $1.width * $1.height }
        preferredAllocator = SurfaceAllocators.best()
        state = Monitor(KMSSinkState(opened: Opened(monitors)))
    }

    deinit { stop() }

    private static func open(_ options: Options) throws(SinkError) -> KMSMonitors {
        if let missing = LateLibrary.missing("drm", "udev", "seat", "xkbcommon") {
            throw SinkError(.noDisplay, "cannot use a monitor: \(missing)")
        }
        return try KMSMonitors(ConnectorSearch.find(options.connectors), options)
    }

    /// What `init` opened, passed to the sink's thread.
    struct Opened: @unchecked Sendable {
        let monitors: KMSMonitors
        init(_ monitors: KMSMonitors) { self.monitors = monitors }
    }

    // MARK: DisplaySink

    /// Starts the thread that shows the frames of `queue`. Opens the device again after an earlier run; throws as `init` does when that fails.
    public func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        try thread.start(queue) { () throws(SinkError) in
            let kept = state.withLock { $0.opened.take() }
            let opened: Opened
            if let kept { opened = kept } else { opened = Opened(try Self.open(options)) }
            state.withLock { $0.conversion = nil }
            let session = KMSSession(opened, queue, state, thread, options, preferredAllocator, probe, events: events)
            return { session.run() }
        }
    }

    /// Stops the thread, which restores the monitors and the console, and joins it. Idempotent.
    public func stop() { thread.stop() }

    /// The conversion to RGB of frames that no plane accepts; nil: none.
    public var conversion: ConversionReport? { state.withLock { $0.conversion } }
    /// Bytes written by conversions since the sink was created.
    public var bytesCopied: Int { state.withLock { $0.bytesCopied } }

    // MARK: WindowControl

    /// The sink itself, for `setFraming`; its other controls have no effect.
    public var window: (any WindowControl)? { self }
    /// Always true: subtitles and messages are shown on an overlay plane, where one is free.
    public var drawsOverlays: Bool { true }
    /// Always true: keys come from the terminal on standard input, or from the seat's keyboards.
    public var readsTerminal: Bool { true }
    /// Sets the frame rate by which the monitors' modes are chosen. Unknown: any refresh rate fits.
    public func setFilmRate(_ rate: Ratio) { change { $0.settings.filmRate = rate } }
    /// Sets which part of the frames is shown, how they are turned, and how they fit the monitors.
    public func setFraming(_ framing: Framing) { change { $0.settings.framing = framing } }
    /// Changes the brightness and colours of frames before they are scanned out.
    public func setColorBalance(_ balance: ColorBalance) { change { $0.settings.balance = balance } }
    /// Always false: there are no windows, and `setFullscreen` has no effect.
    public var isFullscreen: Bool { false }
    /// Has no effect: there is no window.
    public func setTitle(_ title: String) {}
    /// Has no effect: the film always covers its monitors.
    public func setFullscreen(_ isFullscreen: Bool) {}
    /// Has no effect: the film always covers its monitors.
    public func toggleFullscreen() {}
    /// Has no effect: the sink does not manage idle screens.
    public func setPlaying(_ isPlaying: Bool) {}

    private func change(_ change: @Sendable (inout KMSSinkState) -> Void) {
        state.change { change(&$0) }
        thread.wakeup.signal()
    }
}
