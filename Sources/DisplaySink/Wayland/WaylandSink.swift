internal import CWaylandClient
internal import Media
public import SurfacePool

/// A window on a Wayland desktop.
///
/// Pictures are shown from the very memory that the decoder wrote wherever the compositor takes it; the compositor crops, scales and
/// turns them. Times come from `wp_presentation`.
///
/// Thread-safety: as the protocols say.
public final class WaylandSink: DisplaySink, WindowControl {
    /// What the window is to be like.
    private struct Wishes: Sendable {
        var title = ""
        var isFullscreen = false
        var gravity = Gravity.aspect
        /// nil: while the timebase moves.
        var isPlaying: Bool?
    }

    private struct State: Sendable {
        var connection: WaylandConnection?
        var thread: LoopThread?
        var queue: PresentationQueue?
        var isStopping = false
        var wishes = Wishes()
        var isFullscreen = false
        var conversion: ConversionReport?
        var bytesCopied = 0
    }

    public let name = "wayland"
    public let pacing = Pacing.display
    /// 3: on the glass, committed for the next refresh, and replaced but not yet released.
    public let surfaceHoldCount = 3
    public let preferredAllocator: any SurfaceAllocator
    /// What the compositor offers, in a few words for a list of displays.
    public let summary: String
    private let display: String?
    private let bell: EventFD
    private let state: Monitor<State>

    /// Connects to a compositor. The window comes with the first picture.
    ///
    /// Throws `.noDisplay` when there is no compositor, `.unsupported` when it lacks what every usual one has.
    ///
    /// - Parameter display: The name of its socket, in `XDG_RUNTIME_DIR` or with its whole path; nil: what `WAYLAND_DISPLAY` names.
    public init(display: String? = nil) throws(SinkError) {
        self.display = display
        do throws(SystemError) { bell = try EventFD() } catch { throw SinkError(.system, error.description) }
        let connection = try WaylandConnection(display, bell: bell)
        let usable = connection.dmabufFormats.isEmpty ? nil : SurfaceAllocators.best()
        preferredAllocator = usable ?? MemfdAllocator()
        summary = connection.summary
        state = Monitor(State(connection: connection))
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
            state.conversion = nil
        }
        queue.setWake { [bell] in bell.signal() }
        let thread = LoopThread(name: "present") { [self] in run(connection, queue, events) }
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

    public var isFullscreen: Bool { state.withLock { $0.isFullscreen } }
    public func setTitle(_ title: String) { wish { $0.wishes.title = title } }
    public func setFullscreen(_ isFullscreen: Bool) { wish { $0.wishes.isFullscreen = isFullscreen } }
    public func toggleFullscreen() { wish { $0.wishes.isFullscreen.toggle() } }
    public func setGravity(_ gravity: Gravity) { wish { $0.wishes.gravity = gravity } }
    public func setPlaying(_ isPlaying: Bool) { wish { $0.wishes.isPlaying = isPlaying } }

    private func wish(_ change: @Sendable (inout State) -> Void) {
        state.change { change(&$0) }
        bell.signal()
    }

    // MARK: The thread

    private func run(_ connection: WaylandConnection, _ queue: PresentationQueue, _ events: @escaping @Sendable (SinkEvent) -> Void) {
        let buffers = WaylandBuffers(connection)
        var granted = Wishes()
        let presenter = WaylandPresenter(connection, queue, buffers, events: events) { natural in
            let wishes = self.state.withLock { $0.wishes }
            let window = WaylandWindow(connection, natural: natural, title: wishes.title, gravity: wishes.gravity)
            window?.closeRequested = { events(.closeRequested) }
            window?.resized = { events(.resized($0)) }
            return window
        }
        let input = WaylandInput(connection) { events(.key($0)) }
        input.toggleFullscreen = { self.toggleFullscreen() }
        input.dragged = { serial in if let window = presenter.window, !window.isDecorated { window.beginMove(serial) } }
        var isConnected = true
        while isConnected {
            bell.drain()
            let (wishes, isStopping) = state.withLock { ($0.wishes, $0.isStopping) }
            if isStopping { break }
            if let window = presenter.window {
                grant(wishes, &granted, window, isMoving: queue.timebase.mapping.isMoving)
                state.withLock { state in
                    // The compositor, or its user, has decided otherwise.
                    if state.isFullscreen != window.isFullscreen { state.isFullscreen = window.isFullscreen }
                }
            }
            let now = MonotonicClock.shared.now()
            let times = [presenter.step(now), input.step(now)].compactMap { $0 }
            state.withLock { state in
                state.conversion = buffers.conversion
                state.bytesCopied = buffers.bytesCopied
            }
            isConnected = connection.pump(until: times.min())
        }
        if !isConnected { events(.failed(SinkError(.lost, connection.errorSentence))) }
        input.destroy()
        presenter.destroy()
        buffers.destroy()
        connection.close()
        // `buffers` goes here, and with it the last uses: nobody reads the memory any more.
        withExtendedLifetime(buffers) {}
    }

    private func grant(_ wishes: Wishes, _ granted: inout Wishes, _ window: WaylandWindow, isMoving: Bool) {
        if wishes.title != granted.title { window.setTitle(wishes.title) }
        if wishes.isFullscreen != granted.isFullscreen { window.setFullscreen(wishes.isFullscreen) }
        window.setInhibiting(wishes.isPlaying ?? isMoving)
        window.gravity = wishes.gravity
        granted = wishes
    }
}
