public import DisplaySink
internal import Media
public import PixelConversion
public import SurfacePool

/// A window on a Wayland desktop.
///
/// Pictures are shown from the very memory that the decoder wrote wherever the compositor takes it; the compositor crops, scales and
/// turns them. Times come from `wp_presentation`.
///
/// Thread-safety: as the protocols say.
public final class WaylandSink: DisplaySink, WindowControl {
    public let name = "wayland"
    public let pacing = Pacing.display
    /// 3: on the glass, committed for the next refresh, and replaced but not yet released; with `reconnects` one more, for the next window.
    public let surfaceHoldCount: Int
    public var preferredAllocator: any SurfaceAllocator { allocator }
    private let allocator: SteeredAllocator
    /// What the compositor offers, in a few words for a list of displays.
    public let summary: String
    private let display: String?
    private let exactColors: Bool?
    private let reconnects: Bool
    private let bell: EventFD
    private let state: Monitor<WaylandSinkState>

    /// Connects to a compositor. The window comes with the first picture.
    ///
    /// Throws `.noDisplay` when there is no compositor, `.unsupported` when it lacks what every usual one has.
    ///
    /// - Parameters:
    ///   - display: The name of its socket, in `XDG_RUNTIME_DIR` or with its whole path; nil: what `WAYLAND_DISPLAY` names.
    ///   - exactColors: A compositor that cannot be told by which matrix a film is coded (`wp_color_representation_v1`) takes it for BT.601, which
    ///     shows BT.709's 75 % green 33 steps of 255 too bright. True converts films of another matrix there, at the price of a copy of every
    ///     picture; false never copies what the compositor takes; nil copies pictures of up to 2048 × 1152 pixels, where it costs little.
    ///   - reconnects: When the compositor goes away, the film goes on unseen, and in a new window as soon as there is a compositor again.
    ///     Otherwise that is `SinkEvent.failed`.
    public convenience init(display: String? = nil, exactColors: Bool? = nil, reconnects: Bool = false) throws(SinkError) {
        try self.init(display: display, exactColors: exactColors, reconnects: reconnects, memory: SteeredAllocator.Kinds.found())
    }

    /// - Parameter memory: What pictures can be made in.
    package init(display: String?, exactColors: Bool? = nil, reconnects: Bool = false, memory: SteeredAllocator.Kinds) throws(SinkError) {
        self.display = display
        self.exactColors = exactColors
        self.reconnects = reconnects
        surfaceHoldCount = reconnects ? 4 : 3
        do throws(SystemError) { bell = try EventFD() } catch { throw SinkError(.system, error.description) }
        let connection = try WaylandConnection(display, bell: bell)
        allocator = SteeredAllocator(memory, connection.offer)
        summary = connection.summary
        state = Monitor(WaylandSinkState(connection: connection))
    }

    deinit {
        stop()
        state.withLock { $0.connection.take() }?.close()
    }

    // MARK: DisplaySink

    public func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        let kept = state.withLock { state in
            precondition(state.thread == nil, "a sink is started once at a time")
            return state.connection.take()
        }
        let connection: WaylandConnection
        if let kept { connection = kept } else { connection = try WaylandConnection(display, bell: bell) }
        state.change { state in
            state.isStopping = false
            state.queue = queue
            state.beginWindow()
        }
        queue.setWake { [bell] in bell.signal() }
        // Not the sink itself: one that everybody has forgotten ends.
        let session = WaylandSession(
            WaylandSession.Setup(
                display: display, exactColors: exactColors, reconnects: reconnects, queue: queue, state: state, bell: bell, allocator: allocator,
                events: events))
        let thread = LoopThread(name: "present") { session.run(connection) }
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

    // MARK: WindowControl

    public var window: (any WindowControl)? { self }
    public var isFullscreen: Bool { state.withLock { $0.isFullscreen } }
    public func setTitle(_ title: String) { wish { $0.wishes.title = title } }
    public func setFullscreen(_ isFullscreen: Bool) { wish { $0.wantsFullscreen = isFullscreen } }
    public func toggleFullscreen() { wish { $0.toggleFullscreen() } }
    public func setGravity(_ gravity: Gravity) { wish { $0.wishes.gravity = gravity } }
    public func setPlaying(_ isPlaying: Bool) { wish { $0.wishes.isPlaying = isPlaying } }

    private func wish(_ change: @Sendable (inout WaylandSinkState) -> Void) {
        state.change { change(&$0) }
        bell.signal()
    }
}
