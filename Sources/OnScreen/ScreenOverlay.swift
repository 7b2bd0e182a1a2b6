package import DisplaySink
internal import Media
internal import Subtitles

/// Draws what tells the viewer of the player, at the size of the display, on a thread of its own that sleeps while nothing changes.
///
/// The thread begins with the first content, and with it the fonts are looked for.
///
/// Thread-safety: all of it. No call blocks but `stop`.
package final class ScreenOverlay: ScreenSource {
    /// What the viewer does with a pointer or a finger.
    package enum Gesture: Sendable, Hashable {
        /// The pointer moves over the film.
        case moved
        /// The bar is dragged, or pressed, here: a part of the film from 0 to 1.
        case picked(Double)
        /// The play or pause sign is pressed.
        case toggled
    }

    private struct State: Sendable {
        var content: ScreenContent?
        var canvas: OverlayCanvas?
        var image: OverlayImage?
        /// What `image` shows.
        var drawn: Request?
        /// The pointer holds the bar.
        var isHeld = false
        var isStopping = false

        /// The bar as it is shown; nil: it is not.
        var bar: BarLayout? {
            guard let drawn, let bar = drawn.content.bar else { return nil }
            return BarLayout(bar, ScreenLayout(drawn.canvas.size))
        }
    }

    private struct Request: Sendable, Hashable {
        var content: ScreenContent
        var canvas: OverlayCanvas
    }

    private enum Job: Sendable {
        case stop
        case draw(Request)
    }

    private let state = Monitor(State())
    private let thread = Monitor<LoopThread?>(nil)
    private let changed: @Sendable () -> Void
    private let gesture: @Sendable (Gesture) -> Void

    /// - Parameters:
    ///   - changed: `image` is another one. Called on any thread, without a lock.
    ///   - gesture: Called on the display's thread, without a lock.
    package init(changed: @escaping @Sendable () -> Void, gesture: @escaping @Sendable (Gesture) -> Void) {
        self.changed = changed
        self.gesture = gesture
    }

    deinit { stop() }

    /// Shows this, as soon as it is drawn; nil: nothing, at once.
    package func show(_ content: ScreenContent?) {
        let content = content.flatMap { $0.isEmpty ? nil : $0 }
        let (isGone, isNew) = state.change { state in
            guard content != state.content, !state.isStopping else { return (false, false) }
            state.content = content
            if content != nil { return (false, true) }
            state.drawn = nil
            state.isHeld = false
            return (state.image.take() != nil, false)
        }
        if isGone { changed() }
        if isNew { begin() }
    }

    /// Ends the thread. Nothing is shown any more. Idempotent.
    package func stop() {
        state.change { state in
            state.isStopping = true
            (state.content, state.image) = (nil, nil)
        }
        thread.withLock { $0.take() }?.join()
    }

    // MARK: ScreenSource

    package func setCanvas(_ canvas: OverlayCanvas) {
        let isNew = state.withLock { state in
            defer { state.canvas = canvas }
            return state.canvas != canvas
        }
        if isNew { state.wakeWaiters() }
    }

    package var image: OverlayImage? { state.withLock { $0.image } }

    package func follow(_ event: PointerEvent) -> Bool {
        let (isTaken, told) = state.withLock { state -> (Bool, Gesture?) in
            let bar = state.bar
            switch event {
            case .moved(let x, _): return state.isHeld ? (true, bar.map { .picked($0.share(atColumn: x)) }) : (false, .moved)
            case .pressed(let x, let y):
                switch bar?.part(at: (x, y)) {
                case .track:
                    state.isHeld = true
                    return (true, bar.map { .picked($0.share(atColumn: x)) })
                case .sign: return (true, .toggled)
                case .other: return (true, nil)
                case nil: return (false, nil)
                }
            case .released:
                defer { state.isHeld = false }
                return (state.isHeld, nil)
            }
        }
        if let told { gesture(told) }
        return isTaken
    }

    // MARK: The thread

    private func begin() {
        thread.withLock { thread in
            guard thread == nil else { return }
            thread = LoopThread(name: "screen") { [state, changed] in
                let renderer = ScriptRenderer()
                while Self.work(state, renderer, changed) {}
            }
        }
    }

    /// One step; false at the end.
    private static func work(_ state: Monitor<State>, _ renderer: ScriptRenderer?, _ changed: @Sendable () -> Void) -> Bool {
        let job = state.wait { state -> Job? in
            if state.isStopping { return .stop }
            guard let content = state.content, let canvas = state.canvas else { return nil }
            let request = Request(content: content, canvas: canvas)
            return request == state.drawn ? nil : .draw(request)
        }
        guard case .draw(let request)? = job else { return false }
        let image = renderer?.image(ScreenScript.text(request.content, on: request.canvas.size), on: request.canvas)
        let isShown = state.withLock { state in
            // Meanwhile there may be nothing to show.
            guard state.content != nil, !state.isStopping else { return false }
            (state.image, state.drawn) = (image, request)
            return true
        }
        if isShown { changed() }
        return true
    }
}
