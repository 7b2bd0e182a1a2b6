internal import AudioSink
internal import CLinux
internal import Decoding
internal import Demuxing
internal import DisplaySink
internal import Media
internal import SampleQueue
internal import Sandbox
internal import Subtitles

/// Plays one opened film: holds its feeder, video path, sound path and the timebase they share.
///
/// It carries out what `TransportState` decides.
final class PlaybackPipeline: Sendable {
    struct Handlers: Sendable {
        /// The source is at the new position, and nothing from there has been delivered yet. On the feeder's thread.
        var repositioned: @Sendable (MediaTime, _ serial: UInt64) -> Void
        var sourceFailed: @Sendable (AssetError) -> Void
        var seekFailed: @Sendable (AssetError, _ serial: UInt64) -> Void
        var display: @Sendable (DisplayQueue.Event) -> Void
        /// The first sound is decoded and the device open.
        var audioReady: @Sendable () -> Void
        /// The end of the sound has been heard.
        var audioFinished: @Sendable () -> Void
        /// The film's time runs and nothing is left to show, or to hear.
        var starving: @Sendable () -> Void
        /// A sentence for the viewer.
        var notice: @Sendable (String) -> Void
        /// There is no sound, or none from now on, for this reason.
        var audioLost: @Sendable (AudioError) -> Void
        /// A film that was to follow without a gap is shown. On any thread, and possibly more than once.
        var filmBegan: @Sendable (_ number: Int) -> Void
        /// What follows the film is to be said.
        var nextWanted: @Sendable () -> Void
        /// Other subtitles are on at the film's position than before. On any thread.
        var subtitlesChanged: @Sendable (DrawnSubtitles) -> Void
        /// Another tenth of what is to be fetched ahead of a film on a web server is there, or was read. On any thread.
        var cacheChanged: @Sendable (PlaybackStatistics.Network) -> Void
        /// Counts how often the film begins again. On the feeder's thread.
        var countLoops: @Sendable (JoiningSource.LoopStep) -> Bool
    }

    /// The film that plays: of several without a gap the one that is shown.
    var source: OpenedSource { joining?.shown.opened ?? first }
    private let first: OpenedSource
    /// What reads that film; nil for what has no container, and for stills.
    var container: AssetSource? { source.samples as? AssetSource }
    private let startedAt: HostTime?
    let timebase: Timebase
    let display: DisplayQueue?
    let audio: AudioRenderer?
    private let audioClaim: AudioExporterClaim
    let feeder: SampleFeeder
    /// Reads films that follow each other without a gap; nil for a film that is followed by nothing, or by a film that is opened when it has ended.
    let joining: JoiningSource?
    /// Nil for a film without subtitles, and for a sink that shows none.
    var subtitles: SubtitleEngine? { joining.map(\.shown.subtitles) ?? ownSubtitles }
    let ownSubtitles: SubtitleEngine?
    /// Nil where no program takes them, or there is no clock.
    let subtitleWatch: SubtitleWatch?
    let sandbox: SandboxOptions
    let link: PipelineLink
    /// Of films that follow each other: what was decoded for each.
    let accounts = Monitor(FilmAccounts())
    /// Bytes that the sink had copied when the film that is shown began.
    let copiedBefore = Monitor(0)
    /// Why the film's only track, which is sound, cannot be played; nil when there is something to play.
    let obstacle: AudioError?
    /// How often a live film has jumped to have its latency again.
    let liveJumps = Monitor(0)
    /// Tells when the film that follows is to be shown.
    let nextTimer = Monitor<TimebaseTimer?>(nil)
    let handlers: Handlers
    private let threads = Monitor(Threads())

    private struct Threads: Sendable {
        var isRunning = false
        /// Waits for the sound device.
        var waiter: LoopThread?
    }

    init(_ opened: OpenedSource, configuration: PlayerConfiguration, sink: any DisplaySink, handlers: Handlers) {
        var source = opened
        first = opened
        startedAt = configuration.startedAt
        sandbox = configuration.sandbox
        self.handlers = handlers
        let timebase = Timebase()
        let beginning = source.resumedAt ?? source.beginning
        timebase.setTime(beginning)
        self.timebase = timebase
        // Exporters and untimed sinks get the film's own times; its end and its beginning are a flush to them.
        let isSeamless = sink.pacing == .display && configuration.exporters.isEmpty && !configuration.takesAllSound
        let joinsOn = isSeamless && configuration.joins && configuration.audioExporter == nil && source.canJoin
        let link = PipelineLink()
        self.link = link
        subtitleWatch =
            configuration.subtitles.isTakenByProgram && sink.pacing == .display && source.videoTrack != nil
            ? SubtitleWatch(link, report: handlers.subtitlesChanged) : nil
        let ownSubtitles = Self.subtitles(of: source, configuration.subtitles.settings, configuration.sandbox, link, handlers)
        self.ownSubtitles = ownSubtitles
        joining =
            joinsOn || (isSeamless && source.canLoop)
            ? JoiningSource(
                source, subtitles: ownSubtitles, joins: joinsOn, loops: configuration.loops, timebase: timebase,
                handlers: .init(
                    wanted: handlers.nextWanted, joined: { number, start in link.pipeline?.joined(number, start) },
                    resumed: { number in link.pipeline?.resumed(number) }, count: handlers.countLoops)) : nil
        if let joining { source.samples = joining }
        var queues: [(track: Int, queue: SampleQueue)] = []
        if let track = source.videoTrack {
            var options = DecoderOptions()
            options.threads = configuration.threads
            options.specification = configuration.decoder
            let display = DisplayQueue(
                sink: sink, options: options, sandbox: configuration.sandbox, timebase: timebase,
                watermarks: Self.watermarks(of: source), isPrompt: source.camera != nil, deinterlacing: configuration.deinterlacing,
                exporters: configuration.exporters, onEvent: handlers.display)
            display.presentation.onStarving(handlers.starving)
            display.hold()
            queues.append((joining == nil ? track : JoiningSource.video, display.samples))
            self.display = display
        } else {
            display = nil
        }
        let audioClaim = AudioExporterClaim(configuration.audioExporter, from: beginning > .zero ? beginning : .negativeInfinity)
        var audio: AudioRenderer?
        var obstacle: AudioError?
        // A film with sound may follow.
        if source.audio != nil || (joinsOn && configuration.playsAudio && configuration.tracks.audio != .none) {
            let queue = SampleQueue(controlTimebase: timebase)
            do throws(AudioError) {
                let renderer = try AudioRenderer(
                    expecting: source.audio?.format, queue: queue, device: configuration.audioDevice, timebase: timebase,
                    exporter: audioClaim.exporter, sandbox: configuration.sandbox)
                renderer.onFailure = { error in
                    timebase.setSource(MonotonicClock.shared)
                    handlers.audioLost(error)
                }
                renderer.onFinish = handlers.audioFinished
                renderer.onStarving = handlers.starving
                queues.append((joining == nil ? source.audio?.track ?? JoiningSource.audio : JoiningSource.audio, queue))
                display?.presentation.setSoundLead { [weak renderer] in renderer?.lead }
                audio = renderer
                // Of a film with frames their decoder says it.
                if display == nil, configuration.sandbox.policy == .decoder {
                    do throws(SandboxError) { _ = try SandboxProgram.decoder.find(configuration.sandbox.decoderPath) } catch {
                        handlers.notice("Decoding without a sandbox: \(error).")
                    }
                }
            } catch {
                if display == nil { obstacle = error } else { handlers.audioLost(error) }
            }
        }
        // A program that waits for sound learns that there is none.
        if audio == nil { audioClaim.release() }
        self.audio = audio
        self.audioClaim = audioClaim
        self.obstacle = obstacle
        // Others would only count frames.
        if sink.drawsOverlays { display?.presentation.overlay = joining.map(JoiningOverlay.init) ?? ownSubtitles }
        Self.follow(source, handlers)
        source.camera?.follow(onNotice: handlers.notice)
        source.live?.follow({ [timebase] in timebase.rate > 0 ? timebase.time : nil }, onNotice: handlers.notice)
        source.composed?.follow({ [timebase] in timebase.rate > 0 ? timebase.time : nil }, onNotice: handlers.notice)
        feeder = SampleFeeder(
            source: source.samples, queues: queues, latency: source.live?.manner.target.map { MediaTime(seconds: $0) },
            isPrompt: source.camera != nil,
            handlers: .init(
                repositioned: handlers.repositioned, failed: handlers.sourceFailed, other: { ownSubtitles?.add($0) },
                seekFailed: handlers.seekFailed))
        link.pipeline = self
        joining?.begin(takesSound: audio != nil)
        if joinsOn { watchFilms() }
    }

    /// Frames that are decoded hold surfaces, so that one waits to be taken. Of a camera's two may, so that the feeder need not be woken to take the
    /// next one: where processors are short that would be too late.
    private static func watermarks(of source: OpenedSource) -> Watermarks {
        guard source.camera != nil || source.composed != nil else { return Watermarks() }
        let isKnown = source.camera != nil && source.frameDuration.isNumeric && source.frameDuration > .zero
        let seconds = isKnown ? source.frameDuration.seconds * 1.5 : 0.001
        return Watermarks(lowSeconds: seconds, highSeconds: seconds)
    }

    /// Starts every thread. Time is stopped until `startClock`.
    func start() throws(SinkError) {
        if let conflict = audioClaim.conflict { throw conflict }
        try display?.start()
        threads.withLock { $0.isRunning = true }
        ownSubtitles?.start()
        subtitleWatch?.check()
        feeder.start()
        guard let audio else { return }
        timebase.setSource(audio.clock)
        audio.start()
        let waiter = LoopThread(name: "audio-ready") { [handlers] in
            if audio.waitUntilReady(until: nil) { handlers.audioReady() }
        }
        threads.withLock { $0.waiter = waiter }
    }

    /// Starts the clock at its current time, as soon as the sound can be heard: the sound device needs a moment to start.
    ///
    /// The clock starts at a refresh of the display, so that a film whose frame rate divides the refresh rate shows every frame exactly at its time.
    ///
    /// A film that has no clock, because its sink is untimed, goes on.
    func startClock(rate: Double) {
        source.samples.setHeld(false)
        if display?.isUntimed == true { return release() }
        let hasSound = audio.map { $0.phase == .ready && !$0.hasFinished } ?? false
        let soonest = MonotonicClock.shared.now() + (hasSound ? audio?.startLatency ?? .zero : .zero)
        let start = display?.presentation.refresh(notBefore: soonest) ?? soonest
        timebase.setRate(rate, time: timebase.time, atHostTime: timebase.clock.relation.fromReference(start))
    }

    func stopClock() {
        source.samples.setHeld(true)
        timebase.setRate(0)
        display?.hold()
    }

    /// Lets the frames go that a film without a clock holds: at the end its clients take what is left.
    func release() { display?.endHold() }

    /// The media time of the film: the clock's, or, without one, that of the frames taken.
    var position: MediaTime { joining?.filmTime(at: time) ?? time }

    /// The time of the stream of frames, in which one film follows the other.
    var time: MediaTime { display?.reached ?? timebase.time }

    /// What is fetched of the film that plays is told from now on.
    static func follow(_ source: OpenedSource, _ handlers: Handlers) {
        let length = source.length
        source.progress.follow(handlers.notice)
        source.progress.onTenth { [weak progress = source.progress] in
            if let network = progress.flatMap({ PlaybackStatistics.Network($0, length: length) }) { handlers.cacheChanged(network) }
        }
    }

    /// Seconds that a live film is behind its sender; nil for other films, before anything has come, and where frames are taken as they come.
    var latency: Double? { display?.isUntimed == true ? nil : source.live?.latency(of: timebase.time) }

    /// Discards the samples, frames and sound of the old position. On the feeder's thread, before it delivers samples of the new one.
    ///
    /// - Parameter serial: The seek that the new position follows.
    func reposition(to time: MediaTime, serial: UInt64) {
        timebase.setTime(time)
        subtitles?.seek()
        subtitleWatch?.check()
        display?.flush(removeImage: false, serial: serial)
        audio?.flush(serial: serial, target: time)
    }

    /// The seek `serial` has failed, and the film goes on.
    func adopt(_ serial: UInt64) {
        display?.adopt(serial)
        audioClaim.exporter?.adopt(serial)
    }

    /// Whether neither a frame nor any sound was decoded.
    var hasPlayedNothing: Bool {
        decoded().report?.framesDecoded ?? 0 == 0 && (source.audio == nil || (audio?.statistics.framesPlayed ?? 0) == 0)
    }

    /// Ends every thread and releases every resource. Does nothing before `start`.
    func stop() {
        let (wasRunning, waiter) = threads.withLock { threads in
            defer { threads = Threads() }
            return (threads.isRunning, threads.waiter)
        }
        guard wasRunning else { return }
        feeder.stop()
        subtitleWatch?.stop()
        ownSubtitles?.stop()
        for film in joining?.films ?? [] { film.subtitles?.stop() }
        display?.stop()
        audio?.stop()
        audioClaim.release()
        waiter?.join()
    }

    /// Gives freed memory back to the kernel. Decoders free megabytes on many threads, which leaves the heap fragmented: without this the process
    /// grew by 60 MB over a thousand films.
    static func trimHeap() { clinux_trim_heap() }

    /// What playing has done and cost so far.
    /// - Parameters:
    ///   - film: one that was shown without a gap before; nil: the one that is shown.
    ///   - began: when the player was made, or the film was first shown.
    func statistics(of film: JoiningSource.Film? = nil, began: HostTime, firstFrameAt: HostTime?, endedAt: HostTime?) -> PlaybackStatistics {
        let source = film?.opened ?? source, number = film?.number ?? joining?.shown.number ?? 0
        let now = MonotonicClock.shared.now()
        var result = PlaybackStatistics()
        result.file = source.location.withoutPasswords
        result.network = .init(source.progress, length: source.length)
        if let live = source.live {
            result.live = .init(target: live.manner.target, latency: latency, jumps: liveJumps.withLock { $0 }, reconnections: live.reconnections)
            result.live?.latencyByDate = latencyByDate
        }
        result.wallSeconds = ((endedAt ?? now) - began).seconds
        result.cpuSeconds = ProcessUsage.cpuSeconds
        result.peakRSSBytes = ProcessUsage.peakRSSBytes
        result.startupMilliseconds = firstFrameAt.map { ($0 - (number == 0 ? startedAt ?? began : began)).seconds * 1000 }
        if let sound = audio?.statistics { (result.soundSandbox, result.soundDecoderDeaths) = (sound.sandbox, sound.decoderDeaths) }
        guard let display else { return result }
        let shown = display.presentation.statistics(of: number) ?? PresentationStatistics()
        result.add(display, decoded(for: number), shown, sinkCopied: display.sink.bytesCopied - copiedBefore.withLock { $0 })
        if let camera = source.camera {
            result.camera = camera.statistics
            result.camera?.delay = result.captureDelay
            result.bytesCopied += Int64(camera.bytesCopied)
        }
        if let composed = source.composed {
            result.composition = composed.report.map { PlaybackStatistics.Composition($0) }
            result.bytesWritten += Int64(composed.bytesWritten)
            result.bytesCopied += Int64(composed.bytesCopied)
            result.conversion = result.conversion ?? composed.conversion
        }
        if shown.framesWithSound > 0 {
            result.avOffset = .init(mean: shown.meanSoundOffset / 1000, max: shown.maximumSoundOffset / 1000)
        }
        return result
    }
}
