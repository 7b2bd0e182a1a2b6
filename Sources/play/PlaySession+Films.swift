internal import Decoding
internal import Demuxing
internal import DisplaySink
internal import FrameExport
internal import Media
internal import MediaControls
internal import PlaySupport
internal import Player
internal import RemoteControl
internal import Sandbox

/// One film after the other, each by a player of its own, on the session's thread.
extension PlaySession {
    /// How long a player may take to close before the program ends without it: after a signal, after a key, and otherwise. Restoring a monitor's
    /// mode takes most.
    private static let closing = (signal: HostSpan.milliseconds(600), key: HostSpan.seconds(2), otherwise: HostSpan.seconds(5))
    /// Time for clients to fetch the last frames and to give them back: 5 s where every frame is delivered, else 1 s, since a client that shows the
    /// last frame for ever is nothing to wait for.
    private static let farewell = (all: HostSpan.seconds(5), newest: HostSpan.seconds(1))

    /// Plays everything, and returns the exit code.
    func play() throws(PlayerError) -> Int32 {
        Player.prepare(PlayerConfiguration(options))
        var (playlist, failures) = makePlaylist()
        guard playlist.current != nil || (options.repetition.waits && !Ending.isRequested) else {
            for failure in failures { terminal.line("\(ProgramName.current): \(failure.description)") }
            return (failures.first.map { ExitCode($0) } ?? .played).rawValue
        }
        if let index = entryToResume(playlist) { playlist.jump(to: index) }
        let sink = try makeSink(playlist)
        let server = try makeServer()
        if let server { Ending.keep(.frames, at: server.path) }
        defer {
            server?.stop()
            Ending.keep(.frames, at: nil)
        }
        let screen = ScreenDesk(sink, options) { [weak self] in self?.receive($0) }
        defer { screen.stop() }
        var screening = Screening(
            playlist, isList: isList, sink: sink, server: server, options: options, terminal: terminal, screen: screen,
            bindings: InputFiles.bindings(options))
        for failure in failures { try screening.report(failure) }
        let remote = try makeRemote()
        if let remote { Ending.keep(.remote, at: remote.path) }
        screening.remote = remote.map { RemoteDesk($0) }
        screening.controls = makeControls()
        defer {
            screening.controls?.stop()
            screening.remote?.tell(.shutdown)
            remote?.stop()
            Ending.keep(.remote, at: nil)
        }
        // Before the first film is open, so that q ends the wait for it.
        let keyboard =
            sink.readsTerminal
            ? nil
            : TerminalKeyboard(besidesFilm: (options.files + options.playlist).contains("-")) { [inbox] key in
                inbox.change { $0.append(.viewer(.key(key))) }
            }
        defer { keyboard?.stop() }
        defer { screening.stopping() }
        repeat {
            while !screening.hasEnded, let entry = screening.playlist.current { try show(entry, &screening, keyboard) }
        } while waitForFilm(&screening)
        if options.repetition.waits {
            (sink as? LastingSink)?.end()
            try statistics?.finish()
        }
        return screening.wantedCode ?? screening.firstFailure.rawValue
    }

    /// The films that the command line names, and what of it cannot be read. Both are empty when the program is to end.
    private func makePlaylist() -> (Playlist, [PlayerError]) {
        if let name = options.camera.camera { return (Playlist([Playlist.Entry(name)]), []) }
        var entries = options.files.map { Playlist.Entry($0) }, failures: [PlayerError] = []
        if isList, options.raw == nil {
            var loader = PlaylistLoader(network: options.network.options, cancellation: loading)
            for name in options.files { loader.add(name) }
            for name in options.playlist { loader.add(list: name) }
            (entries, failures) = (loader.entries, loader.failures)
            if Ending.isRequested { return (Playlist([]), []) }
        }
        let seed: UInt64? = options.shuffle ? .random(in: 0...UInt64.max) : nil
        var playlist = Playlist(entries, shuffledBy: seed)
        playlist.turnsLeft = options.repetition.turns == .max ? .max : options.repetition.turns - 1
        return (playlist, failures)
    }

    /// Plays one film to its end. Throws when it is the only one and fails; what fails in a list is said.
    private func show(_ entry: Playlist.Entry, _ screening: inout Screening, _ keyboard: TerminalKeyboard?) throws(PlayerError) {
        screening.film += 1
        let film = screening.film
        screening.begin(screening.playlist.index ?? 0)
        if film > 1 { screening.server?.exporter.resume() }
        screening.server?.setContinues(screening.playlist.hasNext)
        screening.configuration.fallbackTitle = entry.title
        var configuration = screening.configuration
        if let state = kept(of: entry) {
            apply(state, to: &configuration, &screening)
            screening.resumed = state
        }
        let player = Player(sink: screening.sink, configuration: configuration) { [inbox] event in
            inbox.change { $0.append(.event(event, film: film)) }
        }
        player.onSuccession(succession(film))
        player.isMuted = screening.isMuted
        self.player.withLock { $0 = player }
        if Ending.isRequested {
            // The main thread may not have come to say so yet, and opening must not end as a failure.
            inbox.change { $0.append(.end) }
            player.cancelOpening()
        }
        if screening.isList, options.verbose { terminal.line("Plays \(entry.location).") }
        let place = place(of: entry)
        let search = AssetCancellation(following: loading)
        pageSearch.withLock { $0 = search }
        let opening = LoopThread(name: "open") { [self, inbox] in
            let outcome: Result<Void, PlayerError>
            do throws(PlayerError) { outcome = .success(try open(place, player, search)) } catch { outcome = .failure(error) }
            inbox.change { $0.append(.opened(outcome, film: film)) }
        }
        let end = follow(player, &screening)
        if case .told(.quit) = end, options.resume.savePositionOnQuit, options.watchLater != nil, !screening.hasKeptPlace {
            keepPlace(of: player, screening)
        }
        // Others may have followed without a gap.
        let last = screening.playlist.current ?? entry
        let number = screening.playlist.index ?? 0
        terminal.keepStatus()
        screening.tellEnd(end, number)
        look(at: &screening.playlist)
        screening.move(after: end)
        screening.keepSettings(of: player)
        wait(for: screening.server, after: end, isLast: screening.hasEnded)
        // A film may still come.
        let waits = options.repetition.idle && !screening.isOver
        var failures: [PlayerError] = [], limit = Self.closing.otherwise
        switch end {
        case .played, .told(.next), .told(.previous), .told(.elsewhere): break
        case .failed(let error), .broken(let error): failures.append(error)
        case .told(.quit(let bySignal)): limit = bySignal ? Self.closing.signal : Self.closing.key
        }
        let isClosed = close(player, opening, screening.hasEnded && !waits ? screening.sink : nil, within: limit)
        do throws(PlayerError) {
            if var done = self.player.withLock({ $0.take() })?.statistics {
                // One of a list that was not opened is named all the same.
                if screening.isList { done.file = last.location }
                try statistics?.add(done)
            }
            if screening.isList, screening.hasEnded, !waits { try statistics?.finish() }
            if isClosed, let error = player.outputFailure { throw PlayerError(error) }
        } catch {
            if failures.isEmpty { failures.append(error) }
            screening.end()
        }
        screening.next = nil
        // What hangs would hang when it is freed, too.
        if !isClosed { endBesideHanging(failures.first, screening, keyboard) }
        if let failure = failures.first { try screening.report(failure) }
    }

    func place(of entry: Playlist.Entry) -> FilmLocation {
        options.camera.camera == nil ? .place(entry.location) : .camera(options.camera.name, options.camera.request)
    }

    /// Lets the clients of the frames fetch the last ones.
    private func wait(for server: FrameServer?, after end: End, isLast: Bool) {
        guard case .played = end, let server, isLast || options.exportAll else { return }
        let limit = options.exportAll ? Self.farewell.all : Self.farewell.newest
        _ = server.waitUntilFinished(until: MonotonicClock.shared.now() + limit)
    }

    /// Closes the player, and with the last film the display; false when that takes too long.
    private func close(_ player: Player, _ opening: LoopThread, _ sink: (any DisplaySink)?, within limit: HostSpan) -> Bool {
        let isClosed = Monitor(false)
        let deadline = MonotonicClock.shared.now() + limit
        let thread = LoopThread(name: "close") { [pageSearch] in
            pageSearch.withLock { $0 }?.cancel()
            player.cancelOpening()
            opening.join()
            player.close()
            (sink as? LastingSink)?.end()
            isClosed.change { $0 = true }
        }
        guard isClosed.wait(until: deadline, { $0 ? () : nil }) != nil else { return false }
        thread.join()
        return true
    }

    private func endBesideHanging(_ failure: PlayerError?, _ screening: Screening, _ keyboard: TerminalKeyboard?) -> Never {
        screening.stopping()
        keyboard?.restore()
        if let failure { terminal.line("\(ProgramName.current): \(failure.description)") }
        let code = screening.firstFailure == .played ? failure.map { ExitCode($0) } ?? .played : screening.firstFailure
        Ending.now(code.rawValue)
    }

    /// Without a display, an unreadable film is reported first, and sound needs none.
    private func makeSink(_ playlist: Playlist) throws(PlayerError) -> any DisplaySink {
        do {
            return lasting(try SinkFactory.make(options))
        } catch {
            guard !isList, options.raw == nil, options.camera.camera == nil, let film = playlist.current?.location, film != "-" else { throw error }
            let report = try MediaReport(location: film, sandbox: PlayerConfiguration(options).sandbox)
            guard options.sink == .auto, options.export == nil, report.hasOnlySound else { throw error }
            return lasting(HeadlessSink())
        }
    }

    private func lasting(_ sink: any DisplaySink) -> any DisplaySink {
        guard sink.pacing == .display else { return sink }
        return LastingSink(sink, capacity: DisplayQueue.decodedAhead) { [inbox] event in inbox.change { $0.append(.viewer(event)) } }
    }

    private func makeServer() throws(PlayerError) -> FrameServer? {
        guard let export = options.export else { return nil }
        let terminal = terminal, isQuiet = options.quiet
        do {
            return try FrameServer(path: export.path, configuration: FrameServer.Configuration(isLossless: options.exportAll)) { text in
                if !isQuiet { terminal.line(text) }
            } onFailure: { [inbox] error in
                inbox.change { $0.append(.broken(PlayerError(.unsupportedFormat, error.description))) }
            }
        } catch { throw PlayerError(.cannotCreate, error.description) }
    }
}
