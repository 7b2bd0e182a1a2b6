internal import AudioSink
internal import CScanout
internal import Decoding
internal import DisplaySink
internal import FrameExport
internal import Media
internal import Player
internal import Sandbox

/// What `scanout_player *` points to: a player and the events that the program has not fetched yet.
final class PlayerHandle: Handle {
    let player: Player
    let events: EventBox
    /// What the program was told of the film's texts.
    let strings = FilmStrings()
    /// The subtitles' picture that the program got last; nil: none.
    let subtitlePixels = Monitor<SubtitlePixels?>(nil)

    private let exporters: [FrameExporter]
    private let sound: AudioExporter?
    private let opening = Monitor(Opening.none)

    /// How far an opening has come that the program does not wait for.
    private enum Opening: Sendable {
        /// There is none, or it has ended and its exporters with it.
        case none
        case underWay
        /// It has failed, and the exporters are being ended.
        case failing
    }

    /// Makes a player with the sink of a `scanout_output` number.
    init(output: UInt32, _ configuration: PlayerConfiguration) throws(PlayerError) {
        let sink: (any DisplaySink)?, events: EventBox
        do throws(SinkError) { sink = try makeSink(output) } catch { throw PlayerError(error) }
        guard let sink else { throw PlayerError(.invalidArgument, "There is no output number \(output).") }
        do throws(SystemError) { events = try EventBox() } catch { throw PlayerError(.system, error.description) }
        self.events = events
        player = Player(sink: sink, configuration: configuration) { event in
            if let news = News(event) { events.post(news) }
        }
        exporters = configuration.exporters
        sound = configuration.audioExporter
        // The previous film ended the exporters; they accept frames again, and forget how it ended.
        for exporter in exporters {
            exporter.resume()
            if exporter.claim() { exporter.release() }
        }
        sound?.renew()
    }

    /// Opens `film`, and blocks until that is done.
    func open(_ film: FilmLocation) throws(PlayerError) { try player.open(film) }

    /// Opens `film` meanwhile; an event says how it went.
    func beginOpening(_ film: FilmLocation) {
        opening.withLock { $0 = .underWay }
        player.beginOpening(film) { [self] in opened($0) }
    }

    private func opened(_ result: Result<Void, PlayerError>) {
        switch result {
        case .success:
            opening.withLock { $0 = .none }
            events.post(News(kind: SCANOUT_EVENT_OPENED))
        case .failure(let error):
            events.post(News(kind: SCANOUT_EVENT_FAILED, result: scanout_result(error), text: error.description))
            endExporters()
        }
    }

    /// Ends the exporters of a film that was never opened; once.
    private func endExporters() {
        let isMine = opening.withLock { opening in
            guard case .underWay = opening else { return false }
            opening = .failing
            return true
        }
        if isMine {
            // One that serves another film belongs to that.
            for exporter in exporters where exporter.claim() {
                exporter.cancel()
                exporter.release()
            }
            if let sound, sound.claim() { sound.release() }
            opening.change { $0 = .none }
        } else {
            // After this they may serve another film.
            let _: Void? = opening.wait { if case .none = $0 { () } else { nil } }
        }
    }

    func close() {
        player.close()
        endExporters()
    }
}

extension PlayerConfiguration {
    /// Nil when a number is out of range.
    init?(_ options: scanout_options) {
        guard let specification = unsafe DecoderSpecification(forC: options.decoder, on: options.render_node),
            let exporters = unsafe ExporterHandle.list(options.exporters, options.exporter_count),
            let sound = unsafe SoundHandle.exporter(options.sound), let sandbox = unsafe SandboxOptions(forC: options.sandbox),
            let preferences = unsafe TrackPreferences(options), unsafe options.reserved == 0,
            let files = unsafe PathText.list(forC: options.subtitle_files, options.subtitle_file_count)
        else { return nil }
        self.init()
        guard unsafe take(options.network) else { return nil }
        self.sandbox = sandbox
        tracks = preferences
        decoder = specification
        self.exporters = exporters
        audioExporter = sound
        threads = unsafe Int(min(options.threads, 64))
        startsPaused = unsafe options.starts_paused != 0
        playsAudio = unsafe options.is_silent == 0
        subtitles.isTakenByProgram = unsafe options.takes_subtitles != 0
        subtitles.files = files
        subtitles.delay = unsafe MediaTime(nanoseconds: options.subtitle_delay)
        loops = unsafe options.loops != 0
        let start = unsafe options.start_time, length = unsafe options.play_duration
        if start > 0 { startTime = MediaTime(nanoseconds: start) }
        if length > 0 { playDuration = MediaTime(nanoseconds: length) }
    }
}

extension TrackPreferences {
    /// Nil when a number is out of range.
    init?(_ options: scanout_options) {
        guard let video = unsafe Choice(forC: options.video_track), let audio = unsafe Choice(forC: options.audio_track),
            let subtitles = unsafe Choice(forC: options.subtitle_track)
        else { return nil }
        self.init()
        self.video = video
        self.audio = audio
        self.subtitles = subtitles
        unsafe audioLanguages = Self.languages(options.audio_languages)
        unsafe subtitleLanguages = Self.languages(options.subtitle_languages)
    }

    private static func languages(_ text: UnsafePointer<CChar>?) -> [String] {
        guard let text = unsafe text else { return [] }
        return unsafe String(cString: text).split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init)
    }
}

extension TrackPreferences.Choice {
    /// 0: automatic, -1: none, else the number; nil below.
    fileprivate init?(forC number: Int32) {
        switch number {
        case 0: self = .automatic
        case -1: self = .none
        case 1...: self = .number(Int(number))
        default: return nil
        }
    }
}
