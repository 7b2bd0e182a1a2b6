package import AudioSink
internal import Decoding
internal import Demuxing
internal import Dispatch
public import DisplaySink
internal import Media
internal import SampleQueue
internal import Sandbox
internal import SoundDecoding
internal import SurfacePool

/// Plays a film: opens a file or a URL, shows its frames on a sink and plays its sound, in sync.
///
///     let player = Player(sink: try WaylandSink())
///     try await player.open("film.mkv")
///     for await event in player.events { if case .ended = event { break } }
///
/// Playback begins by itself as soon as the first frame is on the display, unless the configuration says otherwise.
///
/// Thread-safety: all members may be called from any thread. Commands return at once and take effect in the order in which they are given;
/// only `open`, the asynchronous `seek` and `close` wait.
public final class Player: Sendable {
    let sink: any DisplaySink
    let configuration: PlayerConfiguration
    /// Everything that changes `storage` runs here, so that events and commands have one order.
    let transport = DispatchQueue(label: "player.transport")
    private let hub: EventHub
    let storage: Monitor<Storage>
    /// May be held when `storage` is asked for, not the other way round.
    let settings: Monitor<ViewerSettings>
    let succession = Monitor(Succession())

    struct Storage: Sendable {
        var transport: TransportState
        var pipeline: PlaybackPipeline?
        var rate: Double
        /// When the player was made, or the film first shown that follows without a gap.
        var beganAt = MonotonicClock.shared.now()
        var firstFrameAt: HostTime?
        var endedAt: HostTime?
        /// Seeks that the feeder has not carried out yet; until the last of them is, readiness reported by sinks is about an old position.
        var pendingSeeks = 0
        var seekTarget: MediaTime?
        var lastSeek: UInt64 = 0
        /// The newest seek that a caller was given a number for, and the newest that the feeder was told of.
        var issuedSerial: UInt64 = 0, performedSerial: UInt64 = 0
        /// The seek whose first frame is not on the display yet.
        var unreportedSerial: UInt64?
        var seekWaiters: [SeekWaiter] = []
        /// Seeks whose tasks were cancelled before they began.
        var cancelledSeeks: Set<UInt64> = []
        var finalStatistics: PlaybackStatistics?
        /// The reader's failure, reported when everything read before it has been played.
        var loss: AssetError?
        /// The first frame for which the system had no memory or descriptor.
        var shortage: DecodingError?
        /// The film that is being opened.
        var opening: Opening?
        /// The film that is opened to follow without a gap, and the thread that opens it.
        var next: (opening: Opening, thread: LoopThread)?
        /// The next film is not to be opened.
        var refusesOpening = false
        /// What came while the film was being opened: seeks, with their numbers, and choices of tracks.
        var deferred: [(serial: UInt64?, body: @Sendable () -> Void)] = []
        var hasFailed = false
        var isClosed = false
        var stalls = Stalls()
        /// The state that was reported last.
        var announcedState = PlayerState.idle
    }

    /// Starts the processes that playing with `configuration` needs, so that they load their libraries while the program does something else,
    /// such as connecting to a display. Making a player does the same.
    ///
    /// Does not wait. If a process cannot be started, the player that needs it reports that.
    public static func prepare(_ configuration: PlayerConfiguration) {
        if configuration.rawCodec == nil { SandboxedReader.prepare(configuration.sandbox) }
        SandboxedSession.prepare(configuration.sandbox, configuration.decoder)
    }

    /// Makes a player that shows its film on `sink`.
    public convenience init(sink: any DisplaySink, configuration: PlayerConfiguration = PlayerConfiguration()) {
        self.init(sink: sink, configuration: configuration) { _ in }
    }

    /// Makes a player that calls `onEvent` for each event, for callers without Swift's concurrency.
    ///
    /// - Parameter onEvent: called on a queue of the player's own, for one event after the other. It may call every member but `close`.
    package init(
        sink: any DisplaySink, configuration: PlayerConfiguration = PlayerConfiguration(), onEvent: @escaping @Sendable (PlayerEvent) -> Void
    ) {
        self.sink = sink
        self.configuration = configuration
        hub = EventHub(onEvent)
        let transport = TransportState(
            wantsToPlay: !configuration.startsPaused, rate: configuration.rate, loops: configuration.loopCount,
            pausesWithoutDisplay: configuration.pausesWithoutDisplay)
        Self.prepare(configuration)
        if configuration.playsAudio, sink.pacing == .display || configuration.takesAllSound { SoundProcessLaunch.prepare(configuration.sandbox) }
        storage = Monitor(Storage(transport: transport, rate: configuration.rate))
        settings = Monitor(ViewerSettings(configuration))
    }

    /// Not on the transport queue: no command can come any more, and the last reference may be that of a block on that queue.
    deinit {
        if let pipeline = takeForClosing() { end(pipeline) }
        hub.finish()
    }

    /// A new stream of what happens from now on, in order. Ask for it before `open` to miss nothing.
    ///
    /// Each stream gets every event and keeps those that nobody has fetched. A stream that is asked for after the end or a failure begins with
    /// that event. Every stream ends when the player is closed.
    public var events: AsyncStream<PlayerEvent> { hub.stream() }

    /// Ends playback, joins every thread and releases every resource. Idempotent.
    ///
    /// Blocks for some milliseconds. Waiting seeks throw `notOpen`, and the event streams end.
    public func close() {
        let pipeline = transport.sync(execute: takeForClosing)
        endSeeks(.failure(.notOpen))
        if let pipeline { end(pipeline) } else { endOpening() }
        announceState()
        hub.finish()
    }

    /// The pipeline to be ended; returns it once.
    private func takeForClosing() -> PlaybackPipeline? {
        storage.withLock { storage in
            defer { storage.isClosed = true }
            return storage.isClosed ? nil : storage.pipeline
        }
    }

    private func end(_ pipeline: PlaybackPipeline) {
        endNext()
        pipeline.stop()
        let statistics = gather(pipeline)
        storage.withLock { storage in
            storage.finalStatistics = statistics
            storage.pipeline = nil
        }
        PlaybackPipeline.trimHeap()
    }

    /// What plays the sound, for tests that compare it with the frames.
    package var audioRenderer: AudioRenderer? { storage.withLock { $0.pipeline }?.audio }

    func gather(_ pipeline: PlaybackPipeline) -> PlaybackStatistics {
        gather(pipeline, nil)
    }

    /// - Parameter film: one that was shown without a gap before; nil: the one that is shown.
    func gather(_ pipeline: PlaybackPipeline, _ film: JoiningSource.Film?) -> PlaybackStatistics {
        let (began, first, ended, stalls) = storage.withLock { ($0.beganAt, $0.firstFrameAt, $0.endedAt, $0.stalls) }
        var statistics = pipeline.statistics(of: film, began: began, firstFrameAt: first, endedAt: ended)
        statistics.stalls = stalls.count
        statistics.stalledSeconds = stalls.time(at: MonotonicClock.shared.now()).seconds
        return statistics
    }

    /// Why what the sink has put out is not whole; to be asked after `close`.
    package var outputFailure: SinkError? { sink.failure }

    func post(_ event: PlayerEvent) { hub.post(event) }
    func nameFilm(_ name: String) { hub.name(name) }
    func log(_ level: Log.Level, _ sentence: String) { hub.log(level, sentence) }

    /// Runs `body` when every event so far has been delivered.
    func afterEvents(_ body: @escaping @Sendable () -> Void) { hub.perform(body) }

    /// Reports the state if it differs from the one reported last.
    func announceState() {
        let now = MonotonicClock.shared.now()
        let news = storage.withLock { storage -> PlayerState? in
            storage.stalls.note(storage.transport.phase == .starved && !storage.isClosed, at: now)
            let state = storage.publicState
            guard state != storage.announcedState else { return nil }
            storage.announcedState = state
            return state
        }
        if let news { post(.stateChanged(news)) }
    }
}
