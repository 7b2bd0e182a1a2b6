package import Demuxing
package import DisplaySink
public import Media
internal import Subtitles

extension Player {
    /// How many tracks of subtitles the film has, with the files that belong to it; 0 where none can be shown.
    public var subtitleCount: Int { engine?.tracks.count ?? 0 }

    /// The files whose subtitles are counted after the film's own tracks.
    package var subtitleFiles: [(path: String, language: String?)] {
        (engine?.tracks ?? []).compactMap { track in track.path.map { ($0, track.language) } }
    }

    /// The number of the track of subtitles that is shown, counted from 1; nil: none. Numbers without a track show none. A choice for a film that is
    /// being opened is made when that is open.
    ///
    /// Where the film's subtitles are fetched apart from it (HLS, DASH), those that were not shown before are fetched from the present position on,
    /// to which the player seeks.
    public var subtitleNumber: Int? {
        get { engine?.chosen.map { $0 + 1 } }
        set { whenOpen { [self] in choose(subtitles: newValue) } }
    }

    private func choose(subtitles number: Int?) {
        guard let engine else { return }
        engine.chosen = number.flatMap { engine.tracks.indices.contains($0 - 1) ? $0 - 1 : nil }
        let track = engine.chosen.flatMap { engine.tracks[$0].filmTrack }
        let isFetched = storage.withLock({ $0.pipeline })?.container?.chooseText(track) ?? false
        if isFetched { seek(by: MediaTime.zero) }
    }

    /// Goes to the next track of subtitles, or with -1 to the one before. After the last one none is shown. A notice says which.
    public func cycleSubtitles(by step: Int) { whenOpen { [self] in moveSubtitles(by: step) } }

    private func moveSubtitles(by step: Int) {
        guard let engine, !engine.tracks.isEmpty else { return post(.notice("The film has no subtitles.")) }
        let count = engine.tracks.count + 1, next = ((subtitleNumber ?? 0) + step % count + count) % count
        choose(subtitles: next == 0 ? nil : next)
        guard next > 0 else { return post(.notice("Subtitles: none.")) }
        let name = engine.tracks[next - 1].name
        post(.notice("Subtitles: \(next) of \(count - 1)\(name.isEmpty ? "" : " (\(name))")."))
    }

    /// Whether the chosen subtitles are shown.
    public var showsSubtitles: Bool {
        get { settings.withLock { $0.subtitles.isVisible } }
        set { changeSettings { $0.subtitles.isVisible = newValue } }
    }

    /// How much later than their times subtitles come; below zero: earlier. Counted in milliseconds.
    public var subtitleDelay: MediaTime {
        get { MediaTime(value: settings.withLock { $0.subtitles.delay }, timescale: 1000) }
        set { if newValue.isNumeric { changeSettings { $0.subtitles.delay = newValue.converted(to: 1000).value } } }
    }

    /// The height of subtitles of text in percent: 100 is at the lower edge, 0 at the upper one.
    public var subtitlePosition: Double {
        get { settings.withLock { $0.subtitles.position } }
        set { if newValue.isFinite { changeSettings { $0.subtitles.position = min(max(newValue, 0), 150) } } }
    }

    /// How many times as large as usual subtitles of text are, 0.1 to 10.
    public var subtitleScale: Double {
        get { settings.withLock { $0.subtitles.scale } }
        set { if newValue.isFinite { changeSettings { $0.subtitles.scale = min(max(newValue, 0.1), 10) } } }
    }

    /// The subtitles of the frame of this time for a frame of this size, as the display shows them; nil: there are none, or they are not drawn by
    /// `deadline`. Blocks.
    package func subtitleImage(at time: MediaTime, on canvas: OverlayCanvas, until deadline: HostTime) -> OverlayImage? {
        engine?.shown(at: time, on: canvas, until: deadline)?.image
    }

    /// What is on at a time of the film, usually that of a frame in hand: text, and a picture for `canvas` unless that is nil.
    ///
    /// Everything that was read before the frame counts, so that the answer for the frame in hand is what a window shows over it. While nothing
    /// changes the answer is at hand at once; otherwise a thread of the player's draws it, and this blocks, until `deadline` (nil: without limit).
    ///
    /// - Returns: nil: the film has no subtitles or nobody takes them (`SubtitleOptions.isTakenByProgram`), no film is open, or the answer did not
    ///   come in time. Where nothing is on, `lines` is empty.
    public func subtitles(at time: MediaTime, on canvas: SubtitleCanvas? = nil, until deadline: HostTime?) -> ShownSubtitles? {
        engine?.shown(at: time, on: canvas?.overlay, until: deadline).map(ShownSubtitles.init)
    }

    /// The same, without blocking a thread.
    public func subtitles(at time: MediaTime, on canvas: SubtitleCanvas? = nil) async -> ShownSubtitles? {
        guard let engine else { return nil }
        return await withCheckedContinuation { continuation in
            engine.show(at: time, on: canvas?.overlay) { continuation.resume(returning: $0.map(ShownSubtitles.init)) }
        }
    }

    /// What is on at the film's position, as `PlayerEvent.subtitlesChanged` told it last; nil where that is not reported.
    public var shownSubtitles: ShownSubtitles? {
        storage.withLock { $0.pipeline }?.subtitleWatch?.shown.map(ShownSubtitles.init)
    }

    /// Whether the program takes them itself.
    package var takesSubtitles: Bool { configuration.subtitles.isTakenByProgram }

    /// Whether the film's subtitles are read: a thread, and with a sandbox a process, do that.
    package var readsSubtitles: Bool { engine != nil }

    private var engine: SubtitleEngine? { storage.withLock { $0.pipeline }?.subtitles }
}

extension AssetTrack {
    /// Whether it holds subtitles that `PlayerConfiguration.tracks` counts.
    package var isShownSubtitle: Bool { SubtitleTrack(self) != nil }
}
