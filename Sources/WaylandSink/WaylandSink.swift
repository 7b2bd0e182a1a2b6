public import DisplaySink
public import Media
public import PixelConversion
public import SurfacePool

/// Shows frames in a window of a Wayland desktop.
///
/// The compositor reads a frame from the memory that the decoder wrote if it accepts that memory. It crops, scales and rotates the frame.
/// Presentation times come from `wp_presentation`.
///
/// Thread-safety: as the protocols require.
public final class WaylandSink: DisplaySink, WindowControl {
    /// `wayland`.
    public let name = "wayland"
    /// Always `.display`: a frame is chosen for each refresh of the monitor.
    public let pacing = Pacing.display
    /// 3: on the screen, committed for the next refresh, and replaced but not yet released. With `reconnects` 4: one more is kept for the next
    /// window.
    public let surfaceHoldCount: Int
    /// Allocates memory that the compositor accepts. It follows the compositor's linux-dmabuf feedback while the sink runs.
    public var preferredAllocator: any SurfaceAllocator { allocator }
    private let allocator: FeedbackAllocator
    /// A summary of what the compositor offers, for messages.
    public let summary: String
    /// Of the compositor's monitors when the sink was created.
    public let displaySize: PixelSize?
    private let display: String?
    private let exactColors: Bool?
    private let toneMapping: ToneMapping?
    private let reconnects: Bool
    private let thread: PresentThread
    private let state: Monitor<WaylandSinkState>

    /// Connects to a compositor. The window appears with the first frame.
    ///
    /// Throws `.noDisplay` when there is no compositor, `.unsupported` when it lacks a required interface.
    ///
    /// - Parameters:
    ///   - display: The socket's name in `XDG_RUNTIME_DIR`, or its whole path; nil: the value of `WAYLAND_DISPLAY`.
    ///   - exactColors: A compositor without `wp_color_representation_v1` treats YUV as BT.601, which shows 75 % green of BT.709 33 of 255 steps too
    ///     bright. True converts films with another matrix for such a compositor, which costs a copy per frame. False never converts for this
    ///     reason. Nil converts frames of up to 2048 × 1152 pixels.
    ///   - toneMapping: How films in PQ or HLG are shown where the compositor cannot be told of it, which costs a copy per frame; nil: as if they
    ///     were in standard dynamic range.
    ///   - reconnects: Whether playback continues without a display when the connection is lost, and in a new window when a compositor is available
    ///     again. Otherwise a lost connection is a `SinkEvent.failed`.
    public convenience init(
        display: String? = nil, exactColors: Bool? = nil, toneMapping: ToneMapping? = ToneMapping(), reconnects: Bool = false
    ) throws(SinkError) {
        try self.init(
            display: display, exactColors: exactColors, toneMapping: toneMapping, reconnects: reconnects,
            memory: FeedbackAllocator.Allocators.available())
    }

    /// - Parameter memory: The allocators to choose from.
    package init(
        display: String?, exactColors: Bool? = nil, toneMapping: ToneMapping? = ToneMapping(), reconnects: Bool = false,
        memory: FeedbackAllocator.Allocators
    ) throws(SinkError) {
        self.display = display
        self.exactColors = exactColors
        self.toneMapping = toneMapping
        self.reconnects = reconnects
        surfaceHoldCount = reconnects ? 4 : 3
        thread = try PresentThread()
        let connection = try WaylandConnection(display, wakeup: thread.wakeup)
        allocator = FeedbackAllocator(memory, connection.offer)
        summary = connection.summary
        displaySize = connection.outputs.values.map(\.size).filter { $0.width > 0 }.max { $0.width * $0.height < $1.width * $1.height }
        state = Monitor(WaylandSinkState(connection: connection))
    }

    deinit {
        stop()
        state.withLock { $0.connection.take() }?.close()
    }

    // MARK: DisplaySink

    /// Starts the thread that shows the frames of `queue`. Connects again after an earlier run; throws as `init` does when that fails.
    public func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        try thread.start(queue) { () throws(SinkError) in
            let kept = state.withLock { $0.connection.take() }
            let connection: WaylandConnection
            if let kept { connection = kept } else { connection = try WaylandConnection(display, wakeup: thread.wakeup) }
            state.withLock { $0.beginWindow() }
            let session = WaylandSession(
                WaylandSession.Setup(
                    display: display, exactColors: exactColors, toneMapping: toneMapping, reconnects: reconnects, queue: queue,
                    state: state, thread: thread, allocator: allocator, events: events))
            return { session.run(connection) }
        }
    }

    /// Stops the thread, which destroys the window and closes the connection, and joins it. Idempotent.
    public func stop() { thread.stop() }

    /// The conversion to RGB of frames whose memory or colors the compositor does not accept; nil: none.
    public var conversion: ConversionReport? { state.withLock { $0.conversion } }
    /// Bytes written by conversions since the sink was created.
    public var bytesCopied: Int { state.withLock { $0.bytesCopied } }

    /// True: subtitles lie on a subsurface over the film.
    public var drawsOverlays: Bool { true }

    // MARK: WindowControl

    /// The sink itself.
    public var window: (any WindowControl)? { self }
    /// Whether the window is in full screen, as the compositor last reported.
    public var isFullscreen: Bool { state.withLock { $0.fullscreen.isFullscreen } }
    /// Sets the title of the window (`xdg_toplevel.set_title`).
    public func setTitle(_ title: String) { change { $0.settings.title = title } }
    /// Requests full screen or a window (`xdg_toplevel.set_fullscreen`, `unset_fullscreen`).
    public func setFullscreen(_ isFullscreen: Bool) { change { $0.fullscreen.set(isFullscreen) } }
    /// Requests the opposite of the pending full-screen request, or of the reported state when no request is pending.
    public func toggleFullscreen() { change { $0.fullscreen.toggle() } }
    /// Sets how frames fit the window.
    public func setFraming(_ framing: Framing) { change { $0.settings.framing = framing } }
    /// Changes the brightness and colours of frames before the compositor gets them.
    public func setColorBalance(_ balance: ColorBalance) { change { $0.settings.balance = balance } }
    /// Sets whether the screen is kept from going idle. Before the first call, it is kept from that while the timebase moves.
    public func setPlaying(_ isPlaying: Bool) { change { $0.settings.isPlaying = isPlaying } }

    private func change(_ change: @Sendable (inout WaylandSinkState) -> Void) {
        state.change { change(&$0) }
        thread.wakeup.signal()
    }
}
