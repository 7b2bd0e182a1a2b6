package import Media
package import PixelConversion
package import SurfacePool

/// Keeps a display running while one film follows another: the window stays open, a monitor keeps its mode, and the last frame of a film stays
/// until the first of the next one replaces it.
///
/// A film starts and stops this sink as it does any other; the display behind it starts with the first film and stops with `end` or with the last
/// reference. What the viewer does reaches `viewer`, also between two films.
///
/// Thread-safety: as the protocol requires. One film at a time.
package final class LastingSink: DisplaySink {
    private let sink: any DisplaySink
    private let queue: PresentationQueue
    private let viewer: @Sendable (SinkEvent) -> Void
    private let state = Monitor(State())

    private struct State: Sendable {
        var film: Handler?
        var isRunning = false
        var isDisplayLost = false
        /// Why the display cannot continue.
        var loss: SinkError?
        /// Bytes that conversions for earlier films have written.
        var copiedBefore = 0
    }

    private struct Handler: Sendable { let call: @Sendable (SinkEvent) -> Void }

    /// - Parameters:
    ///   - sink: a sink with refreshes; owned by this one from now on.
    ///   - capacity: how many decoded frames may wait for their refresh.
    ///   - viewer: gets keys and the request to close the window, and between two films what the display has to say. Called on the sink's thread.
    package init(_ sink: any DisplaySink, capacity: Int, viewer: @escaping @Sendable (SinkEvent) -> Void) {
        precondition(sink.pacing == .display, "only a display shows something between two films")
        self.sink = sink
        self.viewer = viewer
        queue = PresentationQueue(capacity: capacity, timebase: Timebase())
        queue.cancel()
    }

    deinit { end() }

    /// The queue through which every film reaches the display, made ready for a film with this timebase. The film before must have stopped.
    package func queue(for timebase: Timebase) -> PresentationQueue {
        state.withLock { precondition($0.film == nil, "the display shows one film at a time") }
        queue.beginFilm(timebase)
        return queue
    }

    /// Draws what tells the viewer of the player, over every film; nil: nothing does.
    package var screen: (any ScreenSource)? {
        get { queue.screen }
        set { queue.screen = newValue }
    }

    /// Takes the last frame of the film before from the display. Between two films.
    package func blank() { queue.flush(removeImage: true) }

    /// What `screen` shows has changed.
    package func screenChanged() { queue.overlayChanged() }

    /// Why the display is gone for good; nil while it is not.
    package var loss: SinkError? { state.withLock { $0.loss } }

    /// Stops the display: closes the window, or gives the monitor back. Idempotent.
    package func end() {
        sink.stop()
        state.withLock { $0.isRunning = false }
    }

    // MARK: DisplaySink

    /// Shows a film, on the display that runs already unless this is the first.
    ///
    /// - Parameter queue: what `queue(for:)` has returned.
    package func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        precondition(queue === self.queue, "a film takes the queue that the sink gives it")
        let copied = sink.bytesCopied
        let (wasRunning, isDisplayLost, loss) = state.withLock { state in
            defer { state.isRunning = true }
            state.copiedBefore = copied
            state.film = Handler(call: events)
            return (state.isRunning, state.isDisplayLost, state.loss)
        }
        do throws(SinkError) {
            if let loss { throw loss }
            if !wasRunning { try sink.start(queue) { [weak self] in self?.receive($0) } }
        } catch {
            state.withLock { state in
                state.film = nil
                state.loss = state.loss ?? error
            }
            throw error
        }
        if isDisplayLost { events(.displayLost) }
    }

    /// Ends the film, not the display: what waited is dropped, and the frame on the glass stays. Idempotent.
    package func stop() {
        queue.cancel()
        state.withLock { $0.film = nil }
    }

    private func receive(_ event: SinkEvent) {
        let film = state.withLock { state -> Handler? in
            switch event {
            case .displayLost: state.isDisplayLost = true
            case .displayReturned: state.isDisplayLost = false
            case .failed(let error): state.loss = error
            default: break
            }
            return state.film
        }
        switch event {
        case .key, .closeRequested: viewer(event)
        default: if let film { film.call(event) } else { viewer(event) }
        }
    }

    package var name: String { sink.name }
    package var pacing: Pacing { sink.pacing }
    package var surfaceHoldCount: Int { sink.surfaceHoldCount }
    package var preferredAllocator: any SurfaceAllocator { sink.preferredAllocator }
    package var conversion: ConversionReport? { sink.conversion }
    /// Bytes written for the film that plays, or that played last.
    package var bytesCopied: Int { sink.bytesCopied - state.withLock { $0.copiedBefore } }
    package func setFilmRate(_ rate: Ratio) { sink.setFilmRate(rate) }
    package var window: (any WindowControl)? { sink.window }
    package var drawsOverlays: Bool { sink.drawsOverlays }
    package var readsTerminal: Bool { sink.readsTerminal }
    package var failure: SinkError? { sink.failure }
}
