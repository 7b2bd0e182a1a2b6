internal import ArgumentParser
internal import Deinterlacing
internal import Demuxing
internal import DisplaySink
internal import FrameExport
internal import Media
internal import MediaControls
internal import PixelConversion
internal import PlaySupport
internal import Player
internal import RemoteControl

/// What remote controls see and order.
extension PlaySession {
    /// The socket of `--input-ipc-server`; nil without that option.
    func makeRemote() throws(PlayerError) -> RemoteServer? {
        guard let path = options.inputIpcServer else { return nil }
        let terminal = terminal, isQuiet = options.quiet
        do {
            return try RemoteServer(path: path) { text in
                if !isQuiet { terminal.line(text) }
            } onMessage: { [inbox] message in
                inbox.change { $0.append(.remote(message)) }
            }
        } catch { throw PlayerError(.cannotCreate, "\(path): cannot obey other programs here: \(error.reason).") }
    }

    /// What desktops see and order; nil where the options leave it out, or nobody watches: films that go into checksums or are not timed.
    func makeControls() -> MediaControls? {
        if case .md5 = options.sink { return nil }
        guard options.mediaControls, !options.untimed else { return nil }
        return try? MediaControls { [inbox] action in inbox.change { $0.append(.ordered(action)) } }
    }

    /// Answers a remote control and carries its commands out; not nil when one ends this film.
    ///
    /// - Parameter player: Of the film; nil until it is open.
    func obey(_ message: RemoteServer.Message, _ player: Player?, _ screening: inout Screening) -> Order? {
        let now = MonotonicClock.shared.now().nanoseconds / 1000
        let seen = screening
        let actions = screening.remote?.take(message, now: now, snapshot(player, seen)) ?? []
        for action in actions { if let order = perform(action, player, &screening) { return order } }
        return nil
    }

    /// Carries out a command of a remote control; not nil when it ends this film.
    func perform(_ action: RemoteAction, _ player: Player?, _ screening: inout Screening) -> Order? {
        let window = screening.sink.window
        // A film that is being opened keeps what it is told.
        let film = player ?? self.player.withLock { $0 }
        switch action {
        case .setPaused(let isPaused): isPaused ? film?.pause() : film?.play()
        case .seek(let time): film?.seek(to: Self.time(time))
        case .seekBy(let span): film?.seek(by: Self.time(span))
        case .seekToLive: film?.seekToLive()
        case .seekToDate(let date): film?.seek(to: date)
        case .stepForward: film?.stepForward()
        case .stepBackward: film?.stepBackward()
        case .setSpeed(let speed): film?.rate = speed
        case .setVolume(let volume): film?.volume = VolumeScale.factor(of: volume)
        case .setMuted(let isMuted): film?.isMuted = isMuted
        case .setFullscreen(let isFullscreen): window?.setFullscreen(isFullscreen)
        case .goToChapter(let index): film?.seek(toChapter: index + 1)
        case .moveChapter(let step): film?.moveChapter(by: step)
        case .setColor(let control, let number): screening.balance[control] = number
        case .setFraming(let change): change.apply(to: &screening.framing)
        case .setAudioDelay(let delay): film?.audioDelay = Self.time(delay)
        case .setSound(let number):
            film?.soundNumber = number
            screening.choseSound(of: player)
        case .cycleSound(let step):
            film?.cycleSound(by: step)
            screening.choseSound(of: player)
        case .setSubtitle(let number):
            film?.subtitleNumber = number
            screening.choseSubtitles(of: player)
        case .cycleSubtitles(let step):
            film?.cycleSubtitles(by: step)
            screening.choseSubtitles(of: player)
        case .setDeinterlacing(let name): film?.deinterlacing = Deinterlacing(rawValue: name) ?? .no
        case .setSubtitlesVisible(let isVisible): film?.showsSubtitles = isVisible
        case .setSubtitleDelay(let delay): film?.subtitleDelay = Self.time(delay)
        case .setSubtitlePosition(let position): film?.subtitlePosition = position
        case .setSubtitleScale(let scale): film?.subtitleScale = scale
        case .setLoopCount(let count):
            screening.loopCount = count
            film?.loopsLeft = count
        case .setListTurns(let turns): screening.edit { $0.turnsLeft = turns }
        case .next(let ends):
            if screening.playlist.hasNext { return .next }
            return ends ? .quit(bySignal: false) : nil
        case .previous: return screening.playlist.hasPrevious ? .previous : nil
        case .play(let index):
            screening.playlist.jump(to: index)
            return .elsewhere
        case .load(let name, let place, let isList):
            guard isList || (PlaylistLoader.isList(name) && options.raw == nil) else { return load([Playlist.Entry(name)], place, &screening) }
            list(name, place, isList: isList)
        case .editList(let edit): return carryOut(edit, &screening)
        case .stop:
            guard options.repetition.idle else { return .quit(bySignal: false) }
            screening.playlist.replace(with: [])
            return .elsewhere
        case .quit(let code):
            screening.wantedCode = code
            return .quit(bySignal: false)
        case .quitWatchLater(let code):
            if let player { keepPlace(of: player, screening) }
            screening.hasKeptPlace = true
            screening.wantedCode = code
            return .quit(bySignal: false)
        case .writeWatchLater: if let player { keepPlace(of: player, screening) }
        case .deleteWatchLater(let name): options.watchLater?.forget(name)
        case .show(let text): terminal.line(text)
        case .showText(let text, let seconds, let level):
            screening.screen.isThere ? screening.screen.show(text, seconds: seconds, level: level) : terminal.line(text)
        case .showProgress: screening.screen.show(ScreenReply(hasBar: true))
        case .showStatistics(let toggles): screening.screen.showStatistics(toggles: toggles)
        case .setScreenLevel(let level): screening.screen.level = level
        case .takeScreenshot(let hasSubtitles):
            if let player, let location = screening.playlist.current?.location { takeScreenshot(of: player, location, hasSubtitles: hasSubtitles) }
        case .saveScreenshot(let path, let hasSubtitles, let ticket):
            guard let player, let location = screening.playlist.current?.location else {
                if let ticket { screening.remote?.answer(ticket, isDone: false) }
                break
            }
            takeScreenshot(of: player, location, hasSubtitles: hasSubtitles, as: path, for: ticket)
        case .markLoop: if let player { screening.loop.mark(at: player.position) }
        case .setLoopStart(let time): screening.loop.a = time.map(Self.time)
        case .setLoopEnd(let time): screening.loop.b = time.map(Self.time)
        case .leave:
            guard let window, window.isFullscreen else { return .quit(bySignal: false) }
            window.setFullscreen(false)
        case .key(let key): return obey(key, player, &screening)
        case .message(let words): screening.remote?.tell(.clientMessage(words))
        }
        return nil
    }

    /// The tracks that can be chosen, with those that play.
    private static func tracks(_ film: FilmDescription, subtitle: Int?) -> [RemoteTrack] {
        film.tracks.compactMap { track -> RemoteTrack? in
            let kind: RemoteTrack.Kind
            switch track.kind {
            case .video, .attachedPicture: kind = .video
            case .audio: kind = .audio
            case .subtitle: kind = .sub
            case .other: return nil
            }
            guard let number = film.number(of: track) else { return nil }
            var seen = RemoteTrack(kind, number)
            switch track.format {
            case .video(let format): seen.codec = format.codec.name
            case .audio(let format): seen.codec = format.codecName
            case .other(let name): seen.codec = name
            }
            (seen.language, seen.title) = (track.language, track.title)
            (seen.isDefault, seen.isForced, seen.isHearingImpaired) = (track.isDefault, track.isForced, track.isHearingImpaired)
            seen.file = track.file
            seen.isImage = track.kind == .attachedPicture
            seen.isSelected = kind == .sub ? number == subtitle : track.id == film.videoTrack || track.id == film.audioTrack
            return seen
        }
    }

    /// 30 years: no film is longer, and no sum overflows.
    private static let longest = 1e9

    private static func time(_ seconds: Double) -> MediaTime { MediaTime(seconds: min(max(seconds, -longest), longest)) }

    /// What remote controls see now.
    ///
    /// - Parameter isWhole: With tracks and chapters.
    func snapshot(_ player: Player?, _ screening: Screening, isWhole: Bool = false) -> RemoteSnapshot {
        var snapshot = RemoteSnapshot()
        snapshot.version = Play.configuration.version
        snapshot.socket = options.inputIpcServer ?? ""
        snapshot.entries = screening.playlist.entries
        if !screening.isIdle { (snapshot.path, snapshot.entry) = (screening.playlist.current?.location, screening.playlist.index) }
        (snapshot.hasNext, snapshot.hasPrevious) = (screening.playlist.hasNext, screening.playlist.hasPrevious)
        snapshot.loopCount = screening.loopCount
        snapshot.listTurns = screening.playlist.turnsLeft
        snapshot.isShuffled = options.shuffle
        snapshot.greatestVolume = Double(options.volumeMax) / 100
        (snapshot.loopStart, snapshot.loopEnd) = (screening.loop.a?.seconds, screening.loop.b?.seconds)
        snapshot.screenLevel = screening.screen.level
        (snapshot.framing, snapshot.balance) = (screening.framing, screening.balance)
        snapshot.isFullscreen = screening.sink.window?.isFullscreen
        let film = player ?? self.player.withLock { $0 }
        if let film {
            snapshot.isPaused = !film.wantsToPlay
            snapshot.loopsLeft = film.loopsLeft
            (snapshot.speed, snapshot.volume, snapshot.isMuted) = (film.rate, VolumeScale.volume(of: film.volume), film.isMuted)
            snapshot.audioDelay = film.audioDelay.seconds
            snapshot.deinterlacing = film.deinterlacing.rawValue
            (snapshot.showsSubtitles, snapshot.subtitleDelay) = (film.showsSubtitles, film.subtitleDelay.seconds)
            (snapshot.subtitlePosition, snapshot.subtitleScale) = (film.subtitlePosition, film.subtitleScale)
        }
        guard let player else { return snapshot }
        let state = player.state, statistics = player.statistics
        snapshot.title = player.title
        snapshot.position = player.position.seconds
        snapshot.duration = player.duration.isNumeric ? player.duration.seconds : nil
        snapshot.isSeeking = state == .preparing
        snapshot.isStarved = state == .waiting
        snapshot.isRunning = state == .playing
        snapshot.hasEnded = state == .ended
        (snapshot.decoder, snapshot.display) = (statistics.decoder, statistics.sink)
        snapshot.framesDropped = player.framesDropped
        snapshot.buffered = player.bufferedDuration.seconds
        let network = player.network
        (snapshot.bytesCached, snapshot.secondsCached) = (network?.bytesAhead, network?.secondsAhead)
        (snapshot.percentCached, snapshot.bytesPerSecond) = (network?.percentAhead, network?.bytesPerSecond)
        (snapshot.isLive, snapshot.latency, snapshot.latencyTarget) = (player.isLive, statistics.live?.latency, statistics.live?.target)
        snapshot.programDate = player.programDate
        snapshot.subtitle = player.subtitleNumber
        if snapshot.subtitle != nil, let shown = player.shownSubtitles { snapshot.subtitles = RemoteSubtitles(shown) }
        // Ten times a second is too often where nobody can ask for them: desktops see neither.
        if isWhole || screening.remote != nil, let description = player.film {
            snapshot.chapters = description.chapters.map { RemoteChapter(title: $0.title, time: $0.range.start.seconds) }
            snapshot.tracks = Self.tracks(description, subtitle: player.subtitleNumber)
            let own = snapshot.tracks.count { $0.kind == .sub }
            for (index, file) in player.subtitleFiles.enumerated() {
                var track = RemoteTrack(.sub, own + index + 1)
                (track.file, track.language, track.isSelected) = (file.path, file.language, player.subtitleNumber == own + index + 1)
                snapshot.tracks.append(track)
            }
        }
        return snapshot
    }
}

extension RemoteSubtitles {
    /// As mpv counts several lines: from the start of the first to the end of the last.
    fileprivate init(_ shown: ShownSubtitles) {
        let end = shown.lines.map(\.end).max()
        self.init(
            text: shown.text, ass: shown.lines.compactMap(\.ass).joined(separator: "\n"), start: shown.lines.first?.start.seconds,
            end: end.flatMap { $0.isNumeric ? $0.seconds : nil })
    }
}
