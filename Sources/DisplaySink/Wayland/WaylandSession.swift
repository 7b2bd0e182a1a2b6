internal import Media
internal import SurfacePool

/// What the sink's owner and its thread share.
struct WaylandSinkState: Sendable {
    /// What the window is to be like.
    struct Wishes: Sendable, Hashable {
        var title = ""
        var gravity = Gravity.aspect
        /// nil: while the timebase moves.
        var isPlaying: Bool?
    }

    /// Until a thread takes it.
    var connection: WaylandConnection?
    var thread: LoopThread?
    var queue: PresentationQueue?
    var isStopping = false
    var wishes = Wishes()
    /// Asked for and not yet passed on.
    var wantsFullscreen: Bool?
    var isFullscreen = false
    var conversion: ConversionReport?
    /// Of all runs.
    var bytesCopied = 0
}

/// One run of the sink, from `start` to `stop` or to the compositor's end: the loop that everything happens in.
///
/// Thread-safety: `run` is called once, on the sink's thread.
final class WaylandSession: Sendable {
    /// 250 ms: a compositor that repaints at all has given back every buffer of a window by then.
    private static let releasePatience = HostSpan.milliseconds(250)

    private let connection: WaylandConnection
    private let queue: PresentationQueue
    private let state: Monitor<WaylandSinkState>
    private let bell: EventFD
    private let exactColors: Bool
    private let events: @Sendable (SinkEvent) -> Void

    init(
        _ connection: WaylandConnection, _ queue: PresentationQueue, _ state: Monitor<WaylandSinkState>, _ bell: EventFD, exactColors: Bool,
        events: @escaping @Sendable (SinkEvent) -> Void
    ) {
        self.connection = connection
        self.queue = queue
        self.state = state
        self.bell = bell
        self.exactColors = exactColors
        self.events = events
    }

    /// Shows until stopped, and leaves nothing behind.
    func run() {
        let buffers = WaylandBuffers(connection, exactColors: exactColors)
        let presenter = WaylandPresenter(connection, queue, buffers, events: events) { [self] in makeWindow($0) }
        let input = WaylandInput(connection) { [events] in events(.key($0)) }
        input.toggleFullscreen = { [state] in state.change { $0.wantsFullscreen = !($0.wantsFullscreen ?? $0.isFullscreen) } }
        input.dragged = { serial in if let window = presenter.window, !window.isDecorated { window.beginMove(serial) } }
        let copiedBefore = state.withLock { $0.bytesCopied }
        var granted: WaylandSinkState.Wishes?
        var isConnected = true
        while isConnected {
            bell.drain()
            if state.withLock({ $0.isStopping }) { break }
            if let window = presenter.window { grant(&granted, window) }
            let now = MonotonicClock.shared.now()
            let times = (presenter.step(now), input.step(now))
            state.withLock { state in
                state.conversion = buffers.conversion
                state.bytesCopied = copiedBefore + buffers.bytesCopied
            }
            isConnected = connection.pump(until: times.0.map { min($0, times.1 ?? $0) } ?? times.1)
            buffers.collect()
        }
        if !isConnected { events(.failed(SinkError(.lost, connection.errorSentence))) }
        input.destroy()
        presenter.destroy()
        // The window is gone, and with it the compositor's reason to hold a buffer.
        let limit = MonotonicClock.shared.now() + Self.releasePatience
        while isConnected, buffers.isAnyHeld, MonotonicClock.shared.now() < limit {
            bell.drain()
            isConnected = connection.pump(until: limit)
            buffers.collect()
        }
        buffers.destroy()
        connection.close()
        // `buffers` goes here, and with it the last uses: those of a compositor that is gone or does not answer.
        withExtendedLifetime(buffers) {}
    }

    private func makeWindow(_ natural: PixelSize) -> WaylandWindow? {
        let (wishes, isFullscreen) = state.change { state in (state.wishes, state.wantsFullscreen.take() ?? false) }
        let window = WaylandWindow(
            connection, natural: natural, title: wishes.title, gravity: wishes.gravity, isFullscreen: isFullscreen)
        window?.closeRequested = { [events] in events(.closeRequested) }
        window?.resized = { [events] in events(.resized($0)) }
        return window
    }

    /// Passes the owner's wishes on to the window, and what the compositor made of them back.
    private func grant(_ granted: inout WaylandSinkState.Wishes?, _ window: WaylandWindow) {
        let (wishes, isFullscreen) = state.withLock { state in
            state.isFullscreen = window.isFullscreen
            return (state.wishes, state.wantsFullscreen.take())
        }
        if let isFullscreen { window.setFullscreen(isFullscreen) }
        window.setInhibiting(wishes.isPlaying ?? queue.timebase.mapping.isMoving)
        guard wishes != granted else { return }
        if wishes.title != granted?.title { window.setTitle(wishes.title) }
        window.gravity = wishes.gravity
        granted = wishes
    }
}
