internal import DisplaySink
internal import Media
internal import PixelConversion
internal import SurfacePool

/// What the sink's callers and its thread share.
struct WaylandSinkState: Sendable {
    /// Settings of the window.
    struct Settings: Sendable, Hashable {
        var title = ""
        var framing = Framing()
        var balance = ColorBalance()
        /// Nil: whether the timebase moves.
        var isPlaying: Bool?
    }

    /// What `init` connected, until a thread takes it.
    var connection: WaylandConnection?
    var settings = Settings()
    var fullscreen = FullscreenState()
    var conversion: ConversionReport?
    /// Since the sink was made.
    var bytesCopied = 0

    /// A window that was in full screen returns in full screen.
    mutating func beginWindow() {
        conversion = nil
        fullscreen.beginWindow()
    }
}

/// One run of the sink from `start` to `stop`, or until the connection is lost: the event loop.
///
/// Thread-safety: `run` is called once, on the sink's thread.
final class WaylandSession: Sendable {
    /// The constants of one run.
    struct Setup: Sendable {
        /// The socket's name; nil: the value of `WAYLAND_DISPLAY`.
        var display: String?
        var exactColors: Bool?
        var toneMapping: ToneMapping?
        var reconnects: Bool
        var queue: PresentationQueue
        var state: Monitor<WaylandSinkState>
        var thread: PresentThread
        var allocator: FeedbackAllocator
        var events: @Sendable (SinkEvent) -> Void
    }

    /// 250 ms: a compositor that repaints has released every buffer of a window by then.
    private static let releasePatience = HostSpan.milliseconds(250)

    private let setup: Setup

    init(_ setup: Setup) { self.setup = setup }

    /// Runs until stopped, and releases everything.
    func run(_ connection: WaylandConnection) {
        var connection = connection
        var frame: VideoFrame?
        while let sentence = serve(connection, &frame) {
            guard setup.reconnects else { return setup.events(.failed(SinkError(.lost, sentence))) }
            setup.events(.detail("Wayland: \(sentence); playback continues and waits for a compositor."))
            setup.events(.displayLost)
            setup.state.change { $0.beginWindow() }
            let waiting = WaylandReconnector(setup, frame.take())
            guard let found = waiting.wait() else { return }
            frame = waiting.takeFrame()
            connection = found
            setup.events(.detail("Wayland: connected again."))
            setup.events(.displayReturned)
        }
    }

    /// Shows frames on one compositor until stopped, or until the connection is lost; then it returns a sentence about the cause.
    ///
    /// - Parameter frame: The frame to begin with; afterwards the one that was on the screen.
    private func serve(_ connection: WaylandConnection, _ frame: inout VideoFrame?) -> String? {
        let (queue, state, thread, events) = (setup.queue, setup.state, setup.thread, setup.events)
        connection.report = { events(.detail("Wayland: \($0).")) }
        let buffers = WaylandBuffers(connection, exactColors: setup.exactColors, toneMapping: setup.toneMapping, allocator: setup.allocator)
        buffers.balance = state.withLock { $0.settings.balance }
        _ = setup.allocator.update(for: connection.offer)
        connection.offerChanged = { [allocator = setup.allocator, unowned connection] in
            buffers.resetPaths()
            if allocator.update(for: connection.offer) { connection.report?("new frames are allocated from \(allocator.name) memory") }
        }
        let presenter = WaylandPresenter(connection, queue, buffers, first: frame.take(), events: events) {
            [self] in makeWindow(connection, $0, $1)
        }
        let input = WaylandInput(connection) { events(.key($0)) }
        input.toggleFullscreen = { state.change { $0.fullscreen.toggle() } }
        input.pointed = { event in
            guard let window = presenter.window, let screen = queue.screen else { return false }
            return screen.follow(event.mapped(window.pixels))
        }
        input.dragged = { drag in if let window = presenter.window, !window.isDecorated { window.begin(drag) } }
        let copiedBefore = state.withLock { $0.bytesCopied }
        var applied: WaylandSinkState.Settings?
        var isConnected = true
        while isConnected {
            thread.wakeup.drain()
            if thread.isStopping { break }
            if let window = presenter.window { apply(&applied, window, presenter) }
            let now = MonotonicClock.shared.now()
            let times = (presenter.step(now), input.step(now))
            if let window = presenter.window { requestFullscreen(window) }
            state.withLock { state in
                state.conversion = buffers.conversion
                state.bytesCopied = copiedBefore + buffers.bytesCopied
            }
            isConnected = connection.pump(until: times.0.map { min($0, times.1 ?? $0) } ?? times.1)
            buffers.collect()
        }
        let sentence = isConnected ? nil : connection.errorSentence
        frame = presenter.takeLast()
        connection.offerChanged = nil
        input.destroy()
        presenter.destroy()
        // Without the window the compositor has no reason to hold a buffer.
        let limit = MonotonicClock.shared.now() + Self.releasePatience
        while isConnected, buffers.isAnyHeld, MonotonicClock.shared.now() < limit {
            thread.wakeup.drain()
            isConnected = connection.pump(until: limit)
            buffers.collect()
        }
        buffers.destroy()
        connection.close()
        // `buffers` is deallocated here, which ends the uses of buffers that the compositor has not released.
        return sentence
    }

    private func makeWindow(_ connection: WaylandConnection, _ visible: PixelRect, _ attributes: FrameAttributes) -> WaylandWindow? {
        let now = MonotonicClock.shared.now()
        let (settings, isFullscreen) = setup.state.withLock { ($0.settings, $0.fullscreen.take(false, now: now) ?? false) }
        let seen = settings.framing.applied(to: visible, attributes)
        let window = WaylandWindow(
            connection, natural: seen.attributes.displaySize(of: seen.visible.size), title: settings.title, framing: settings.framing,
            isFullscreen: isFullscreen)
        window?.closeRequested = { [events = setup.events] in events(.closeRequested) }
        window?.resized = { [events = setup.events] in events(.resized($0)) }
        if let window { unsafe connection.followOffer(for: window.film.proxy) }
        return window
    }

    /// Requests full screen or a window where that is wanted, and reads back which it is.
    ///
    /// Comes after the step that commits what was acknowledged: Weston compares a request with the last state that was committed, and takes one
    /// between `xdg_surface.ack_configure` and that commit for no change.
    private func requestFullscreen(_ window: WaylandWindow) {
        let now = MonotonicClock.shared.now()
        if let isFullscreen = setup.state.withLock({ $0.fullscreen.take(window.isFullscreen, now: now) }) { window.setFullscreen(isFullscreen) }
    }

    /// Applies settings that have changed.
    private func apply(_ applied: inout WaylandSinkState.Settings?, _ window: WaylandWindow, _ presenter: WaylandPresenter) {
        let settings = setup.state.withLock { $0.settings }
        window.setInhibiting(settings.isPlaying ?? setup.queue.timebase.mapping.isMoving)
        guard settings != applied else { return }
        if settings.title != applied?.title { window.setTitle(settings.title) }
        window.framing = settings.framing
        presenter.balance = settings.balance
        applied = settings
    }
}
