internal import Deinterlacing
internal import DisplaySink
internal import Media
internal import PixelConversion
internal import PlaySupport
internal import Player
internal import RemoteControl

/// Films begin where the viewer left them.
extension PlaySession {
    /// The options of the command line by their names: what it says of a film counts more than what was kept.
    private static let given: Set<String> = Set(
        CommandLine.arguments.dropFirst().filter { $0.hasPrefix("--") }.map { word in
            let name = word.dropFirst(2).prefix { $0 != "=" }
            return String(name.hasPrefix("no-") ? name.dropFirst(3) : name)
        })

    /// The film of the list that was left; nil: none was.
    func entryToResume(_ playlist: Playlist) -> Int? {
        isList && options.resume.resumePlayback ? options.watchLater?.first(of: playlist.entries.map(\.location)) : nil
    }

    /// Whether the film begins where it was left.
    func isToResume(_ entry: Playlist.Entry) -> Bool { options.resume.resumePlayback && options.watchLater?.holds(entry.location) == true }

    /// What was kept of the film that is to be played; nil: nothing. A file that makes no sense is said.
    func kept(of entry: Playlist.Entry) -> WatchLaterState? {
        guard options.resume.resumePlayback, let places = options.watchLater else { return nil }
        do throws(PlayerError) { return try places.state(of: entry.location)?.without(Self.given) } catch {
            if !options.quiet { terminal.line(error.description) }
            return nil
        }
    }

    /// Sets everything as it was when the film was left.
    func apply(_ state: WatchLaterState, to configuration: inout PlayerConfiguration, _ screening: inout Screening) {
        configuration.resumption = Resumption(
            time: state.start.map { MediaTime(seconds: $0) }, sound: state.sound, subtitles: state.subtitles)
        (screening.chosenSound, screening.chosenSubtitles) = (state.sound, state.subtitles)
        configuration.audioDelay = state.audioDelay.map { MediaTime(seconds: $0) } ?? configuration.audioDelay
        let framing = screening.framing
        screening.framing.panscan = state.panscan ?? framing.panscan
        screening.framing.zoom = state.zoom ?? framing.zoom
        screening.framing.panX = state.panX ?? framing.panX
        screening.framing.panY = state.panY ?? framing.panY
        screening.framing.orientation.rotation = state.rotation.flatMap { .init(rawValue: Int($0)) } ?? framing.orientation.rotation
        screening.framing.aspectRatio = state.aspectRatio.flatMap { FramingChange.ratio("\($0)") } ?? framing.aspectRatio
        for control in ColorBalance.Control.allCases { screening.balance[control] = state[control] ?? screening.balance[control] }
        configuration.rate = state.speed ?? configuration.rate
        configuration.volume = state.volume.map { VolumeScale.factor(of: min($0, Double(options.volumeMax)) / 100) } ?? configuration.volume
        configuration.deinterlacing = state.deinterlacing.flatMap(Deinterlacing.init) ?? configuration.deinterlacing
        configuration.subtitles.delay = state.subtitleDelay.map { MediaTime(seconds: $0) } ?? configuration.subtitles.delay
        configuration.subtitles.position = state.subtitlePosition ?? configuration.subtitles.position
        configuration.subtitles.scale = state.subtitleScale ?? configuration.subtitles.scale
        configuration.subtitles.isVisible = state.showsSubtitles ?? configuration.subtitles.isVisible
        screening.isMuted = state.isMuted ?? screening.isMuted
        screening.loop.a = state.loopStart.map { MediaTime(seconds: $0) } ?? screening.loop.a
        screening.loop.b = state.loopEnd.map { MediaTime(seconds: $0) } ?? screening.loop.b
    }

    /// The film is open: its place is kept no longer, as the next one to be kept may be another.
    func resumed(_ player: Player, _ screening: inout Screening) {
        guard let state = screening.resumed.take() else { return }
        if let entry = screening.playlist.current { options.watchLater?.forget(entry.location) }
        guard let start = state.start, !options.quiet else { return }
        terminal.line("\(player.title) continues at \(MediaTime(seconds: start).clockText); --no-resume-playback begins anew.")
    }

    /// Keeps where the film is, and what of the settings is not as the options say. Nothing is kept of a film that is not open.
    func keepPlace(of player: Player, _ screening: Screening) {
        guard let film = player.film, let entry = screening.playlist.current else { return }
        guard let places = options.watchLater else { return terminal.line("Where films of this kind are left is not kept.") }
        let usual = PlayerConfiguration(options)
        func changed<Value: Equatable>(_ now: Value, _ usual: Value) -> Value? { now == usual ? nil : now }
        var state = WatchLaterState()
        if film.isSeekable, player.duration.isNumeric, player.state != .ended { state.start = player.position.seconds }
        state.speed = changed(player.rate, usual.rate)
        state.volume = changed(player.volume, usual.volume).map { VolumeScale.volume(of: $0) * 100 }
        state.isMuted = changed(player.isMuted, options.mute)
        state.deinterlacing = changed(player.deinterlacing, usual.deinterlacing)?.rawValue
        let framing = screening.framing, plain = options.framing.framing
        state.panscan = changed(framing.panscan, plain.panscan)
        state.zoom = changed(framing.zoom, plain.zoom)
        (state.panX, state.panY) = (changed(framing.panX, plain.panX), changed(framing.panY, plain.panY))
        state.rotation = changed(framing.orientation.rotation, plain.orientation.rotation).map { Double($0.rawValue) }
        state.aspectRatio = changed(framing.aspectRatio, plain.aspectRatio).map { $0.isKnown ? $0.doubleValue : -1 }
        for control in ColorBalance.Control.allCases { state[control] = changed(screening.balance[control], options.colors.balance[control]) }
        state.audioDelay = changed(player.audioDelay, usual.audioDelay)?.seconds
        (state.sound, state.subtitles) = (screening.chosenSound, screening.chosenSubtitles)
        state.subtitleDelay = changed(player.subtitleDelay, usual.subtitles.delay)?.seconds
        state.subtitlePosition = changed(player.subtitlePosition, usual.subtitles.position)
        state.subtitleScale = changed(player.subtitleScale, usual.subtitles.scale)
        state.showsSubtitles = changed(player.showsSubtitles, usual.subtitles.isVisible)
        state.loopStart = changed(screening.loop.a, options.abLoopA?.time)?.map(\.seconds)
        state.loopEnd = changed(screening.loop.b, options.abLoopB?.time)?.map(\.seconds)
        do throws(PlayerError) {
            let isKept = try places.keep(state, of: entry.location)
            if options.quiet { return }
            terminal.line(isKept ? "Where the film is left is kept." : "Where this film is left is not kept: it cannot be found again.")
        } catch { terminal.line("Where the film is left cannot be kept: \(error.description)") }
    }
}
