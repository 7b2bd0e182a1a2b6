internal import AudioSink
internal import Decoding
internal import DisplaySink
internal import Media
internal import SampleQueue
internal import Sandbox
internal import Subtitles
internal import SurfacePool

/// Leads from what a pipeline is made of back to it.
///
/// Thread-safety: set before anything runs.
final class PipelineLink: @unchecked Sendable {
    weak var pipeline: PlaybackPipeline?
}

// Films that follow each other without a gap.

extension PlaybackPipeline {
    /// What follows without a gap; false when `next` cannot: its kinds of tracks are others, it has more channels than the sound device was opened
    /// for, or it has sound and that of a film before has failed. Any thread.
    func follow(with next: OpenedSource, _ settings: SubtitleSettings) -> Bool {
        guard let joining, canFollow(next) else { return false }
        let subtitles = Self.subtitles(of: next, settings, sandbox, link, handlers)
        subtitles?.start()
        joining.follow(with: next, subtitles: subtitles)
        return true
    }

    private func canFollow(_ next: OpenedSource) -> Bool {
        guard next.canJoin, (next.videoTrack != nil) == (display != nil) else { return false }
        guard let sound = next.audio else { return true }
        guard let audio else { return false }
        if case .failed = audio.phase { return false }
        return audio.keeps(channelCount: Int(sound.format.channelCount))
    }

    /// Those of the film that is shown, and of those that are to follow it.
    var subtitleEngines: [SubtitleEngine] { joining?.films.compactMap(\.subtitles) ?? ownSubtitles.map { [$0] } ?? [] }

    /// The engine for a film's subtitles, not started; nil: none are shown.
    static func subtitles(
        of source: OpenedSource, _ settings: SubtitleSettings, _ sandbox: SandboxOptions, _ link: PipelineLink, _ handlers: Handlers
    ) -> SubtitleEngine? {
        guard source.videoTrack != nil, let selection = source.subtitles else { return nil }
        return SubtitleEngine(
            tracks: selection.tracks, chosen: selection.chosen, settings: settings, film: source.subtitleFilm, sandbox: sandbox,
            handlers: .init(
                changed: { link.pipeline?.display?.presentation.overlayChanged() }, relined: { link.pipeline?.subtitleWatch?.check() },
                notice: handlers.notice))
    }

    /// Counts what is decoded and shown for each film.
    func watchFilms() {
        guard let display else { return }
        display.presentation.onBegun(handlers.filmBegan)
        display.onMarker { [weak self] marker in
            guard let film = marker.attachments[JoiningSource.filmAttachment] as? Int else { return }
            self?.begin(decodingOf: film)
        }
    }

    private func begin(decodingOf film: Int) {
        guard let display else { return }
        let report = display.restartDecoderReport()
        let hasFrames = accounts.withLock { accounts in
            accounts.begin(film, report: report, written: display.counters.bytesWritten, copied: display.counters.bytesCopied)
            return accounts.hasFrames
        }
        // Of those before nothing could be decoded: no time runs by which this one would begin, and no frame says that it has.
        if film > 0, !hasFrames { handlers.filmBegan(film) }
    }

    /// What was decoded for a film; nil: the one that is shown.
    func decoded(for number: Int? = nil) -> FilmAccounts.Account {
        guard let display else { return FilmAccounts.Account() }
        let number = number ?? joining?.shown.number ?? 0
        return accounts.withLock {
            $0.account(
                of: number, report: display.decoderReport, written: display.counters.bytesWritten, copied: display.counters.bytesCopied)
        }
    }

    /// A film will begin at this time. On the feeder's thread.
    func joined(_ number: Int, _ start: MediaTime) {
        display?.presentation.follow(number, from: start)
        watch(number, from: display == nil ? start : start + doubt)
    }

    private func watch(_ number: Int, from time: MediaTime) {
        let timer = timebase.addTimer(at: time) { [weak self] in
            guard let self else { return }
            // The decoder is late, or the display.
            if !isOver(before: number) { return watch(number, from: timebase.time + doubt) }
            handlers.filmBegan(number)
        }
        nextTimer.withLock { $0 = timer }
    }

    /// A seek: the film `number` goes on. On the feeder's thread.
    func resumed(_ number: Int) {
        nextTimer.withLock { $0.take() }?.cancel()
        display?.presentation.resume(number)
    }

    /// So long after it was to begin a film counts as shown, although the display has said nothing: of its frames none may have been in time. 0.5 s
    /// on the viewer's clock.
    private var doubt: MediaTime { MediaTime(seconds: 0.5 * max(timebase.rate, 1)) }

    /// Whether the decoder has come to this film, and the display is done with those before it.
    private func isOver(before number: Int) -> Bool {
        guard let display else { return true }
        return accounts.withLock { $0.film } >= number && display.presentation.isOver(before: number, at: MonotonicClock.shared.now())
    }

    /// The films after the one that is shown whose turn it is, although the display may have said nothing of them.
    var begunFilms: [Int] { joining?.films.dropFirst().map(\.number).filter(isOver) ?? [] }

    /// Whether the newest film has been read to its end, and some of it is still to be shown: more comes only when it is.
    var hasReadFilm: Bool { joining?.isRead == true && (joining?.films.count ?? 0 > 1 || !feeder.isStarving) }

    /// Whether all of the sound has been heard, to the end of the last film.
    var isHeard: Bool { audio.map { feeder.isTaken(JoiningSource.audio) && $0.hasFinished } ?? true }

    /// Whether the decoder is done with a film that another one follows.
    func isDecoded(_ number: Int) -> Bool { accounts.withLock { $0.film } > number }

    /// Frames of the film that is shown that were not.
    var framesDropped: Int { display?.presentation.statistics(of: joining?.shown.number ?? 0)?.droppedTotal ?? 0 }
}
