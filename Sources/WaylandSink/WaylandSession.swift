internal import DisplaySink
internal import Media
internal import PixelConversion
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
    /// Passed on, and not yet so.
    var awaitedFullscreen: Bool?
    var isFullscreen = false
    var conversion: ConversionReport?
    /// Of all runs.
    var bytesCopied = 0

    /// A window that covered its monitor comes back so.
    mutating func beginWindow() {
        conversion = nil
        if isFullscreen { wantsFullscreen = wantsFullscreen ?? true }
        isFullscreen = false
        awaitedFullscreen = nil
    }

    /// The opposite of what was asked for last, whether the compositor has got there or not.
    mutating func toggleFullscreen() { wantsFullscreen = !(wantsFullscreen ?? awaitedFullscreen ?? isFullscreen) }

    /// What is to be passed on to a window that is like this now.
    mutating func takeFullscreen(_ isFullscreen: Bool) -> Bool? {
        self.isFullscreen = isFullscreen
        if awaitedFullscreen == isFullscreen { awaitedFullscreen = nil }
        guard let wanted = wantsFullscreen.take() else { return nil }
        awaitedFullscreen = wanted
        return wanted
    }
}

/// One run of the sink, from `start` to `stop` or to the compositor's end: the loop that everything happens in.
///
/// Thread-safety: `run` is called once, on the sink's thread.
final class WaylandSession: Sendable {
    /// What does not change from `start` to `stop`.
    struct Setup: Sendable {
        /// The socket's name; nil: what `WAYLAND_DISPLAY` names.
        var display: String?
        var exactColors: Bool?
        var reconnects: Bool
        var queue: PresentationQueue
        var state: Monitor<WaylandSinkState>
        var bell: EventFD
        var allocator: SteeredAllocator
        var events: @Sendable (SinkEvent) -> Void
    }

    /// 250 ms: a compositor that repaints at all has given back every buffer of a window by then.
    private static let releasePatience = HostSpan.milliseconds(250)

    private let setup: Setup

    init(_ setup: Setup) { self.setup = setup }

    /// Shows until stopped, and leaves nothing behind.
    func run(_ connection: WaylandConnection) {
        var connection = connection
        var picture: VideoFrame?
        while let sentence = serve(connection, &picture) {
            guard setup.reconnects else { return setup.events(.failed(SinkError(.lost, sentence))) }
            setup.events(.detail("Wayland: \(sentence); the film goes on and waits for a compositor."))
            setup.events(.displayLost)
            setup.state.change { $0.beginWindow() }
            let waiting = WaylandAbsence(setup, picture.take())
            guard let found = waiting.wait() else { return }
            picture = waiting.takePicture()
            connection = found
            setup.events(.detail("Wayland: connected again."))
            setup.events(.displayReturned)
        }
    }

    /// Shows on one compositor until it is gone, which the returned sentence says, or until stopped.
    ///
    /// - Parameter picture: To begin with, and afterwards the one that was on the screen.
    private func serve(_ connection: WaylandConnection, _ picture: inout VideoFrame?) -> String? {
        let (queue, state, bell, events) = (setup.queue, setup.state, setup.bell, setup.events)
        connection.note = { events(.detail("Wayland: \($0).")) }
        let buffers = WaylandBuffers(connection, exactColors: setup.exactColors)
        _ = setup.allocator.follow(connection.offer)
        connection.offerChanged = { [allocator = setup.allocator, unowned connection] in
            buffers.forgetWays()
            if allocator.follow(connection.offer) { connection.note?("makes pictures in \(allocator.name) memory from now on") }
        }
        let presenter = WaylandPresenter(connection, queue, buffers, keepsLast: setup.reconnects, first: picture.take(), events: events) {
            [self] in makeWindow(connection, $0)
        }
        let input = WaylandInput(connection) { events(.key($0)) }
        input.toggleFullscreen = { state.change { $0.toggleFullscreen() } }
        input.dragged = { drag in if let window = presenter.window, !window.isDecorated { window.begin(drag) } }
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
        let sentence = isConnected ? nil : connection.errorSentence
        picture = presenter.takeLast()
        connection.offerChanged = nil
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
        return sentence
    }

    private func makeWindow(_ connection: WaylandConnection, _ natural: PixelSize) -> WaylandWindow? {
        let (wishes, isFullscreen) = setup.state.withLock { ($0.wishes, $0.takeFullscreen(false) ?? false) }
        let window = WaylandWindow(
            connection, natural: natural, title: wishes.title, gravity: wishes.gravity, isFullscreen: isFullscreen)
        window?.closeRequested = { [events = setup.events] in events(.closeRequested) }
        window?.resized = { [events = setup.events] in events(.resized($0)) }
        if let window { unsafe connection.followOffer(for: window.film.proxy) }
        return window
    }

    /// Passes the owner's wishes on to the window, and what the compositor made of them back.
    private func grant(_ granted: inout WaylandSinkState.Wishes?, _ window: WaylandWindow) {
        let (wishes, isFullscreen) = setup.state.withLock { ($0.wishes, $0.takeFullscreen(window.isFullscreen)) }
        if let isFullscreen { window.setFullscreen(isFullscreen) }
        window.setInhibiting(wishes.isPlaying ?? setup.queue.timebase.mapping.isMoving)
        guard wishes != granted else { return }
        if wishes.title != granted?.title { window.setTitle(wishes.title) }
        window.gravity = wishes.gravity
        granted = wishes
    }
}
