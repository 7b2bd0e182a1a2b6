internal import Demuxing
internal import DisplaySink
internal import Media
internal import OnScreen
internal import PlaySupport
internal import Player
internal import RemoteControl

/// What tells the viewer of the player, over the films of one display.
///
/// Thread-safety: the session's thread.
struct ScreenDesk {
    /// Nil: the sink shows nothing over the film.
    private let overlay: ScreenOverlay?
    private var state: ScreenState

    /// - Parameter gesture: Called on the display's thread.
    init(_ sink: any DisplaySink, _ options: PlayOptions, gesture: @escaping @Sendable (ScreenOverlay.Gesture) -> Void) {
        state = ScreenState(level: options.osdLevel, hasBar: options.osdBar, span: .milliseconds(Int64(options.osdDuration)))
        guard sink.drawsOverlays, let display = sink as? LastingSink else {
            overlay = nil
            return
        }
        let made = ScreenOverlay(changed: { [weak display] in display?.screenChanged() }, gesture: gesture)
        display.screen = made
        overlay = made
    }

    /// Whether anything can be shown.
    var isThere: Bool { overlay != nil }

    /// How much is shown by itself, 0 to 3.
    var level: Int {
        get { state.level }
        set { state.level = newValue }
    }

    /// Shows what a command has done.
    mutating func show(_ reply: ScreenReply) {
        let now = MonotonicClock.shared.now()
        if let text = reply.text { state.say(text, at: now) }
        if reply.hasBar { state.showBar(at: now) }
    }

    /// Shows a text for so many seconds, or as long as any.
    mutating func show(_ text: String, seconds: Double?, level: Int) {
        state.say(text, for: seconds.map { .milliseconds(Int64($0 * 1000)) }, fromLevel: level, at: MonotonicClock.shared.now())
    }

    /// The pointer has moved over the film, or drags the bar.
    mutating func point() { state.point(at: MonotonicClock.shared.now()) }

    /// Shows the page of statistics for a while, or until this is called again.
    mutating func showStatistics(toggles: Bool) { toggles ? state.togglePage() : state.showPage(at: MonotonicClock.shared.now()) }

    mutating func tick(_ player: Player) {
        guard let overlay else { return }
        let film = ScreenState.Film(
            bar: { Self.bar(player) },
            page: { StatisticsPage.lines(player.statistics, StatisticsPage.Moment(player)).map { ScreenContent.Line($0.label, $0.text) } })
        overlay.show(state.content(at: MonotonicClock.shared.now(), film))
    }

    func stop() { overlay?.stop() }

    private static func bar(_ player: Player) -> ScreenBar {
        let position = player.position.seconds, duration = player.duration
        return ScreenBar(
            isPlaying: player.isPlaying, position: position, duration: duration.isNumeric ? duration.seconds : nil,
            chapters: player.chapters.map(\.range.start.seconds), buffered: position + player.bufferedDuration.seconds)
    }
}
