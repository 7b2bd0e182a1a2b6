package import Demuxing
package import DisplaySink
internal import Glibc
package import Media
package import SampleQueue
package import Sandbox

/// Shows one of a film's tracks of subtitles: decodes them all, draws the chosen one on a thread of its own, ahead of the frames, and hands the
/// images to the display.
///
///     demux thread ── add(sample) ──► ┌ subtitles thread ┐
///     decode thread ── expect(time) ► │ decode, lay out, │ ── image(at: time) ──► present thread
///                                     └ draw             ┘
///
/// Thread-safety: all of it. No call blocks but `stop`.
package final class SubtitleEngine: OverlaySource {
    /// What is known of the film.
    package struct Film: Sendable {
        /// The size of its frames as they are coded; 0 by 0 when unknown.
        package var storage: PixelSize
        /// What the film brings for its styled text.
        package var fonts: [AttachedFont]

        package init(storage: PixelSize, fonts: [AttachedFont] = []) {
            self.storage = storage
            self.fonts = fonts
        }
    }

    /// What the engine reports, on its own thread.
    package struct Handlers: Sendable {
        /// The image of a frame that may be on the display has changed.
        package var changed: @Sendable () -> Void
        /// Something else is on at some moment than before: another track, a line that has been read. Also on the thread that changes settings.
        package var relined: (@Sendable () -> Void)?
        /// A sentence for the viewer.
        package var notice: @Sendable (String) -> Void

        package init(
            changed: @escaping @Sendable () -> Void, relined: (@Sendable () -> Void)? = nil, notice: @escaping @Sendable (String) -> Void
        ) {
            self.changed = changed
            self.relined = relined
            self.notice = notice
        }
    }

    enum Order: Sendable {
        case sample(SampleBuffer)
        case choose(Int?)
        case seek
        /// Tell what is on, and draw it for this canvas, which need not be the display's; nil: draw nothing.
        case show(at: Int64, OverlayCanvas?, Reply)
    }

    /// Called once; with nil where the engine ends.
    struct Reply: Sendable { let call: @Sendable (DrawnSubtitles?) -> Void }

    struct State: Sendable {
        var orders: [Order] = []
        var timeline = OverlayTimeline()
        var answers = SubtitleAnswers()
        var canvas: OverlayCanvas?
        var settings: SubtitleSettings
        var chosen: Int?
        /// Counts what makes drawn images wrong.
        var generation = 0
        /// The thread carries orders out.
        var isObeying = false
        var isStopping = false
    }

    private enum Job: Sendable {
        case stop
        case obey([Order])
        case draw(at: Int64, OverlayCanvas, SubtitleSettings, generation: Int)
    }

    /// 4096: a film has some hundred samples between two moments in which the thread runs. More are dropped.
    private static let mostOrders = 4096

    package let tracks: [SubtitleTrack]
    private let handlers: Handlers
    let state: Monitor<State>
    private let thread = Monitor<LoopThread?>(nil)

    /// Starts nothing yet.
    ///
    /// - Parameters:
    ///   - chosen: The index of the track to show; nil: none.
    ///   - sandbox: Where text, fonts and images are read and drawn.
    package init(
        tracks: [SubtitleTrack], chosen: Int?, settings: SubtitleSettings, film: Film, sandbox: SandboxOptions = SandboxOptions(),
        handlers: Handlers
    ) {
        self.tracks = tracks
        self.sandbox = sandbox
        self.handlers = handlers
        self.film = film
        state = Monitor(State(orders: [.choose(chosen)], settings: settings, chosen: chosen))
    }

    private let film: Film
    private let sandbox: SandboxOptions

    deinit { stop() }

    package func start() {
        let made = LoopThread(name: "subtitles") { [state, handlers, tracks, film, sandbox] in
            let drawing = SubtitleDrawings.make(tracks, film, sandbox, notice: handlers.notice) { state.withLock { $0.isStopping } }
            while Self.work(state, drawing, handlers) {}
        }
        thread.withLock { $0 = made }
    }

    /// Ends the thread. Idempotent.
    package func stop() {
        state.change { $0.isStopping = true }
        thread.withLock { $0.take() }?.join()
        let left = state.withLock { state in
            defer { state.orders = [] }
            return state.orders
        }
        for case .show(_, _, let reply) in left { reply.call(nil) }
    }

    // MARK: The player's side

    /// A sample of one of the film's tracks of subtitles.
    package func add(_ sample: SampleBuffer) { order(.sample(sample)) }

    /// The film goes on elsewhere. What was read stays.
    package func seek() {
        state.change { state in
            state.timeline.forgetFrames()
            state.orders.append(.seek)
        }
    }

    /// The index of the track that is shown; nil: none.
    package var chosen: Int? {
        get { state.withLock { $0.chosen } }
        set {
            state.change { state in
                guard newValue != state.chosen else { return }
                state.chosen = newValue
                state.orders.append(.choose(newValue))
            }
        }
    }

    package var settings: SubtitleSettings {
        get { state.withLock { $0.settings } }
        set {
            let isNew = state.change { state in
                guard newValue != state.settings else { return false }
                state.settings = newValue
                state.generation += 1
                state.timeline.forgetImages()
                state.answers.forgetAll()
                return true
            }
            if isNew { handlers.relined?() }
        }
    }

    /// False: it is dropped.
    @discardableResult
    func order(_ order: Order) -> Bool {
        state.change { state in
            guard state.orders.count < Self.mostOrders, !state.isStopping else { return false }
            state.orders.append(order)
            return true
        }
    }

    // MARK: OverlaySource

    package func setCanvas(_ canvas: OverlayCanvas) {
        let isNew = state.withLock { state in
            guard canvas != state.canvas else { return false }
            state.canvas = canvas
            state.generation += 1
            state.timeline.forgetImages()
            return true
        }
        if isNew { state.wakeWaiters() }
    }

    package func expect(_ time: MediaTime) {
        guard let time = Self.milliseconds(time) else { return }
        let mustDraw = state.withLock { state in
            state.timeline.expect(time)
            return state.timeline.next != nil
        }
        if mustDraw { state.wakeWaiters() }
    }

    package func image(at time: MediaTime) -> OverlayImage? {
        guard let time = Self.milliseconds(time) else { return nil }
        let (image, mustDraw) = state.withLock { state in
            let image = state.timeline.image(at: time)
            return (image, state.timeline.next != nil)
        }
        if mustDraw { state.wakeWaiters() }
        return image
    }

    /// The image of the frame of this time, from everything that the engine was given before. Waits for it, until `deadline`; then the answer is
    /// that of `image(at:)`.
    package func drawnImage(at time: MediaTime, until deadline: HostTime) -> OverlayImage? {
        _ = image(at: time)
        guard let count = Self.milliseconds(time) else { return nil }
        let _: Void? = state.wait(until: deadline) { $0.orders.isEmpty && !$0.isObeying && $0.timeline.isDrawn(at: count) ? () : nil }
        return image(at: time)
    }

    /// Milliseconds of the film, as events are counted; nil when the time is not known.
    static func milliseconds(_ time: MediaTime) -> Int64? { time.isNumeric ? time.converted(to: 1000).value : nil }

    // MARK: The thread

    /// One step; false at the end.
    private static func work(_ state: Monitor<State>, _ drawing: any SubtitleDrawing, _ handlers: Handlers) -> Bool {
        let job = state.wait { state -> Job? in
            if state.isStopping { return .stop }
            if !state.orders.isEmpty {
                defer { state.orders = [] }
                state.isObeying = true
                return .obey(state.orders)
            }
            guard let canvas = state.canvas, let time = state.timeline.next else { return nil }
            return .draw(at: time, canvas, state.settings, generation: state.generation)
        }
        switch job {
        case nil, .stop: return false
        case .obey(let orders):
            let (settings, generation) = state.withLock { ($0.settings, $0.generation) }
            let spans = orders.flatMap { order -> [Range<Int64>] in
                guard case .show(let time, let canvas, let reply) = order else { return drawing.obey(order) }
                let drawn = Self.drawn(at: time, canvas, settings, drawing)
                reply.call(state.withLock { $0.keep(drawn, on: canvas, generation) })
                return []
            }
            state.change { state in
                state.isObeying = false
                for span in spans {
                    let start = added(span.lowerBound, settings.delay), end = added(span.upperBound, settings.delay)
                    state.timeline.forget(from: start, to: end)
                    state.answers.forget(from: start, to: end)
                }
            }
            if !spans.isEmpty { handlers.relined?() }
        // A frame on the display may need another image now; it is drawn next.
        case .draw(let time, let canvas, let settings, let generation):
            let (image, until) = drawing.draw(at: time - settings.delay, canvas, settings)
            let span = OverlayTimeline.Span(from: time, until: max(time + 1, added(until, settings.delay)), image: image)
            let isNews = state.change { $0.generation == generation && $0.timeline.add(span) }
            if isNews { handlers.changed() }
        }
        return true
    }

    /// Beyond all times it stays there.
    static func added(_ time: Int64, _ delay: Int64) -> Int64 {
        if time == .min || time == .max { return time }
        let (sum, isTooMuch) = time.addingReportingOverflow(delay)
        return isTooMuch ? time : sum
    }
}
