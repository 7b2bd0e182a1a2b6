package import AudioSink
internal import Decoding
internal import Demuxing
internal import Dispatch
public import DisplaySink
public import Media
internal import SampleQueue
internal import Sandbox
internal import SurfacePool

/// Plays a film: opens a file or URL, shows its pictures on a sink and plays its sound, in sync.
///
///     let player = Player(sink: try WaylandSink()) { event in … }
///     try player.open("film.mkv")
///
/// Playing starts by itself as soon as the first picture is on the display, unless configured otherwise.
///
/// Thread-safety: all members may be called from any thread. Commands return at once and take effect in the order given;
/// events are delivered one after the other on a queue of the player's own, where every member but `close` may be called.
public final class Player: Sendable {
    private let sink: any DisplaySink
    let configuration: PlayerConfiguration
    private let onEvent: @Sendable (PlayerEvent) -> Void
    /// Everything that changes `state` runs here, so that events and commands have one order.
    let transport = DispatchQueue(label: "player.transport")
    private let events = DispatchQueue(label: "player.events")
    let state: Monitor<State>
    private let startedAt = MonotonicClock.shared.now()
    private let cancellation = AssetCancellation()

    struct State: Sendable {
        var transport: TransportState
        var media: OpenedMedia?
        var rate: Double
        var volume: Double
        var isMuted = false
        var firstFrameAt: HostTime?
        var endedAt: HostTime?
        /// Seeks that the feeder has yet to carry out; readiness reported before the last of them is about an old position.
        var pendingSeeks = 0
        var seekTarget: MediaTime?
        var finalStatistics: PlaybackStatistics?
        /// Why nothing more comes of the film, should it be played to its end from here.
        var loss: AssetError?
        var isClosed = false
    }

    /// Starts the processes that playing with `configuration` will need, so that they load their libraries meanwhile. A player does so, too:
    /// this is for who has something else to do before making one, such as to connect to a display.
    ///
    /// Does not wait for them; from any thread. A process that cannot be started is told of by the player that needs it.
    public static func prepare(_ configuration: PlayerConfiguration) {
        if configuration.rawCodec == nil { SandboxedReader.prepare(configuration.sandbox) }
        SandboxedSession.prepare(configuration.sandbox, configuration.decoder)
    }

    /// - Parameter onEvent: called for each event.
    public init(
        sink: any DisplaySink, configuration: PlayerConfiguration = PlayerConfiguration(),
        onEvent: @escaping @Sendable (PlayerEvent) -> Void = { _ in }
    ) {
        self.sink = sink
        self.configuration = configuration
        self.onEvent = onEvent
        let transport = TransportState(
            wantsToPlay: !configuration.startsPaused, rate: configuration.rate, loops: configuration.loops,
            pausesWithoutDisplay: configuration.pausesWithoutDisplay)
        Self.prepare(configuration)
        state = Monitor(State(transport: transport, rate: configuration.rate, volume: configuration.volume))
    }

    /// Without the transport queue: nobody can command any more, and the one who lets go last may be a block of that queue.
    deinit { if let media = takeForClosing() { end(media) } }

    /// Opens `location` (a path or a URL that libavformat knows) and begins.
    ///
    /// Blocks while the container's head is read. Errors name the file and the cause.
    public func open(_ location: String) throws(PlayerError) {
        precondition(state.withLock { $0.media == nil }, "a player opens one file")
        let source: OpenedSource
        do { source = try openSource(location) } catch { throw PlayerError(error) }
        let media = OpenedMedia(source, configuration: configuration, sink: sink, handlers: handlers)
        state.withLock { state in
            state.media = media
            state.transport.opened(at: source.beginning, hasVideo: media.display != nil, hasAudio: media.audio != nil)
        }
        if let notice = source.notice { post(.notice(notice)) }
        post(.detail(source.summary))
        sink.setFilmRate(source.frameRate)
        do {
            try media.start()
        } catch {
            close()
            throw PlayerError(error)
        }
    }

    private func openSource(_ location: String) throws(AssetError) -> OpenedSource {
        if let codec = configuration.rawCodec { return try OpenedSource.raw(location, codec: codec) }
        return try OpenedSource.container(
            location, configuration: configuration, hearsSound: sink.pacing == .display, cancellation: cancellation)
    }

    /// Makes an `open` under way on another thread fail soon, as a network that does not answer may need.
    public func cancelOpening() { cancellation.cancel() }

    // MARK: Commands

    public func play() { command { $0.play() } }
    public func pause() { command { $0.pause() } }
    public func togglePlaying() { command { $0.wantsToPlay && $0.phase != .ended ? $0.pause() : $0.play() } }
    /// Shows the picture of `time`, exactly, and goes on from there.
    public func seek(to time: MediaTime) { command { $0.seek(to: time) } }

    /// Moves by `span` from where the film is, or from where an unfinished seek is going.
    public func seek(by span: MediaTime) {
        transport.async { [self] in
            let from = state.withLock { $0.seekTarget } ?? position
            perform(state.withLock { $0.transport.seek(to: from + span) })
        }
    }

    /// Pauses and shows the next picture.
    public func stepForward() {
        transport.async { [self] in
            perform(state.withLock { $0.transport.pause() })
            guard let media = state.withLock({ $0.media }), let display = media.display else { return }
            display.presentation.showNext { time in media.timebase.setTime(time) }
        }
    }

    /// Pauses and shows the picture before this one.
    public func stepBackward() {
        transport.async { [self] in
            perform(state.withLock { $0.transport.pause() })
            guard let media = state.withLock({ $0.media }) else { return }
            let before = position - media.source.frameDuration
            perform(state.withLock { $0.transport.seek(to: before) })
        }
    }

    /// Media seconds per second, above 0.
    public var rate: Double {
        get { state.withLock { $0.rate } }
        set {
            precondition(newValue > 0, "a rate must be above zero; use pause()")
            state.withLock { $0.rate = newValue }
            command { $0.setRate(newValue) }
        }
    }

    /// 0 (silent) to 1 (as recorded).
    public var volume: Double {
        get { state.withLock { $0.volume } }
        set {
            state.withLock {
                $0.volume = newValue; return $0.media?.audio
            }?.volume = newValue
        }
    }

    public var isMuted: Bool {
        get { state.withLock { $0.isMuted } }
        set {
            state.withLock {
                $0.isMuted = newValue; return $0.media?.audio
            }?.isMuted = newValue
        }
    }

    /// Ends playback, joins every thread and gives back everything. Idempotent; must not be called from an event handler.
    public func close() {
        if let media = transport.sync(execute: takeForClosing) { end(media) }
    }

    /// What is to be ended, once.
    private func takeForClosing() -> OpenedMedia? {
        state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed ? nil : state.media
        }
    }

    private func end(_ media: OpenedMedia) {
        media.stop()
        let statistics = gather(media)
        state.withLock { state in
            state.finalStatistics = statistics
            state.media = nil
        }
        OpenedMedia.trimHeap()
    }

    // MARK: Readings

    public var isPlaying: Bool { state.withLock { $0.transport.isPlaying } }
    /// Where the film is, from 0 at its beginning.
    public var position: MediaTime {
        let (media, target) = state.withLock { ($0.media, $0.seekTarget) }
        if let target { return target }
        guard let media else { return .zero }
        let time = max(media.timebase.time, .zero)
        return media.source.duration.isNumeric ? min(time, media.source.duration) : time
    }
    /// Not numeric when the film has no known end.
    public var duration: MediaTime { state.withLock { $0.media?.source.duration } ?? .indefinite }
    /// The title in the file, or the file's name.
    public var title: String { state.withLock { $0.media?.source.title } ?? "" }

    /// What playing did so far; after `close`, what it did in all.
    public var statistics: PlaybackStatistics {
        if let final = state.withLock({ $0.finalStatistics }) { return final }
        guard let media = state.withLock({ $0.media }) else { return PlaybackStatistics() }
        return gather(media)
    }

    /// What plays the sound, for whoever checks it against the pictures.
    package var audioRenderer: AudioRenderer? { state.withLock { $0.media }?.audio }

    public var statusLine: StatusLine {
        let (media, playing, rate, volume, muted) = state.withLock { ($0.media, $0.transport.isPlaying, $0.rate, $0.volume, $0.isMuted) }
        var line = StatusLine(isPlaying: playing, position: position, duration: duration, speed: rate)
        line.isWaiting = state.withLock { $0.transport.phase == .starved }
        if let display = media?.display {
            line.framesDropped = display.presentationStatistics.droppedTotal
            line.bufferedSeconds = display.samples.bufferedDuration.seconds
        }
        if let media, media.audio != nil {
            line.volume = Int((volume * 100).rounded())
            line.isMuted = muted
        }
        return line
    }

    private func gather(_ media: OpenedMedia) -> PlaybackStatistics {
        let (first, ended) = state.withLock { ($0.firstFrameAt, $0.endedAt) }
        return media.statistics(began: startedAt, firstFrameAt: first, endedAt: ended)
    }
}

// MARK: - Carrying out

extension Player {
    func post(_ event: PlayerEvent) { events.async { [onEvent] in onEvent(event) } }

    func command(_ decide: @escaping @Sendable (inout TransportState) -> [TransportState.Action]) {
        transport.async { [self] in perform(state.withLock { decide(&$0.transport) }) }
    }

    func perform(_ actions: [TransportState.Action]) {
        guard let media = state.withLock({ $0.isClosed ? nil : $0.media }) else { return }
        for action in actions {
            switch action {
            case .startClock(let rate): media.startClock(rate: rate)
            case .stopClock: media.stopClock()
            case .seek(let time):
                state.withLock { state in
                    state.seekTarget = time
                    state.pendingSeeks += 1
                }
                media.stopClock()
                media.feeder.seek(to: time)
            case .finish:
                state.withLock { $0.endedAt = MonotonicClock.shared.now() }
                if let loss = state.withLock({ $0.loss }) { return post(.failed(PlayerError(loss))) }
                post(media.hasPlayedNothing ? .failed(PlayerError(.data, nothingPlayed(media))) : .ended)
            }
        }
    }

    private func nothingPlayed(_ media: OpenedMedia) -> String {
        let location = media.source.location, duration = media.source.duration
        if let start = configuration.startTime, duration.isNumeric, start >= duration {
            return "\(location) ends at \(duration), before \(start), where it was to begin."
        }
        return "\(location): nothing in it could be decoded."
    }
}
