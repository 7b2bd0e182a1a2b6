public import Media
public import SurfacePool

/// A monitor without any desktop: the kernel's display device is driven directly (KMS, atomic).
///
/// Pictures are scanned out from the very memory that the decoder wrote wherever a plane takes it. Times are those of the kernel's
/// flip events. The console is as it was when the sink is stopped; and when the process is killed, since the kernel then puts it back.
///
/// Thread-safety: as the protocols say.
public final class KMSSink: DisplaySink, WindowControl, FilmRateUser {
    /// What the viewer chooses.
    public struct Options: Sendable, Hashable {
        /// A socket (`HDMI-A-1`, `card1-HDMI-A-1`), a monitor's name or a device's path; nil: the first monitor found.
        public var connector: String?
        public var mode = ModeWish()
        public init(connector: String? = nil, mode: ModeWish = ModeWish()) {
            self.connector = connector
            self.mode = mode
        }
    }

    public let name = "kms"
    public let pacing = Pacing.display
    /// 3: on the glass, on its way there, and kept for a monitor that was unplugged.
    public let surfaceHoldCount = 3
    public let preferredAllocator: any SurfaceAllocator
    /// The monitor and its device, for lists.
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
        let output = try Self.open(options)
        summary = "\(output.connector.description) of \(output.device.path) (\(output.device.driver)), \(output.mode)"
        preferredAllocator = SurfaceAllocators.best()
        state = Monitor(KMSSinkState(output: Opened(output)))
    }

    deinit { stop() }

    private static func open(_ options: Options) throws(SinkError) -> KMSOutput {
        let found = try KMSSearch.find(options.connector)
        return try KMSOutput(found, wish: options.mode, filmSize: PixelSize(width: 0, height: 0), filmRate: .unknown)
    }

    /// What was opened, handed from the opening thread to the sink's.
    struct Opened: @unchecked Sendable {
        let output: KMSOutput
        init(_ output: KMSOutput) { self.output = output }
    }

    // MARK: DisplaySink

    public func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        let kept = state.withLock { state in
            precondition(state.thread == nil, "a sink is started once at a time")
            return state.output.take()
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
        let session = KMSSession(opened, queue, state, bell, mode: options.mode, events: events)
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

    /// What is on the screen, read back by the device, once no flip is under way; for tests. The sink must be running.
    package func readBack() throws(SystemError) -> ScreenReading {
        state.change { state in
            state.wantsReading = true
            state.reading = nil
        }
        bell.signal()
        return try state.wait { $0.reading }!.get()
    }

    // MARK: What is asked

    public func setFilmRate(_ rate: Ratio) { wish { $0.wishes.filmRate = rate } }
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

/// A sink that drives a monitor in the film's rhythm.
public protocol FilmRateUser: AnyObject, Sendable {
    /// Tells the film's pictures a second, exact; before the first of them is shown. Unknown: any rhythm will do.
    func setFilmRate(_ rate: Ratio)
}
