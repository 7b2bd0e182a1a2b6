internal import DisplaySink
internal import Media
internal import MediaControls
internal import PlaySupport
internal import Player
internal import RemoteControl

/// The film that is to follow without a gap.
struct NextFilm {
    /// The list as it stands when that film plays.
    var playlist: Playlist
    /// Films between that cannot be opened: their places in the list, their names and why.
    var skipped: [(number: Int, location: String, error: PlayerError)] = []
}

/// Films that follow each other without a gap: the list says which is next before the one that plays has ended.
extension PlaySession {
    /// What the player of the film with this number tells.
    func succession(_ film: Int) -> Succession {
        var succession = Succession()
        succession.wanted = { [inbox] in inbox.change { $0.append(.nextWanted) } }
        succession.began = { [inbox] end in inbox.change { $0.append(.nextBegan(end, film: film)) } }
        return succession
    }

    /// Opens what follows the film that plays.
    func openNext(_ player: Player, _ screening: inout Screening) {
        look(at: &screening.playlist)
        var next = NextFilm(playlist: screening.playlist)
        next.playlist.next()
        open(next, player, &screening)
    }

    /// Folders may hold other films than before: a list that loops is looked at again before each film.
    func look(at playlist: inout Playlist) {
        guard playlist.loops, options.playlist.isEmpty, options.files.contains(where: PlaylistLoader.isFolder),
            options.files.allSatisfy({ PlaylistLoader.isFolder($0) || !PlaylistLoader.isList($0) })
        else { return }
        var loader = PlaylistLoader(network: options.network.options, cancellation: loading)
        for name in options.files { loader.add(name) }
        playlist.update(loader.entries)
    }

    private func open(_ next: NextFilm, _ player: Player, _ screening: inout Screening) {
        guard let entry = next.playlist.current else {
            // Those that cannot be opened are said when their time comes.
            screening.next = nil
            return player.endFilms()
        }
        // Without a gap each film begins at its beginning.
        if isToResume(entry) || isOnPage(entry) {
            screening.next = nil
            return player.endFilms()
        }
        screening.next = next
        let film = screening.film
        player.follow(with: place(of: entry), title: entry.title) { [inbox] outcome in
            inbox.change { $0.append(.nextOpened(outcome, film: film)) }
        }
    }

    /// The film that is to follow has been opened, or another one is tried.
    func take(_ outcome: Result<Bool, PlayerError>, _ player: Player, _ screening: inout Screening) {
        guard var next = screening.next else { return }
        switch outcome {
        case .success(true): break
        case .success(false): screening.next = nil
        case .failure(let error) where isOnPage(next.playlist.current, error):
            screening.next = nil
            player.endFilms()
        case .failure(let error):
            next.skipped.append((next.playlist.index ?? 0, next.playlist.current?.location ?? "", error))
            next.playlist.skip()
            open(next, player, &screening)
        }
    }

    /// A film has followed the one before without a gap: what is said between two films. Not nil when the program is to end.
    func goOn(after last: FilmEnd, _ player: Player, _ screening: inout Screening) -> End? {
        guard let next = screening.next.take() else { return nil }
        terminal.keepStatus()
        screening.tellEnd(last.failure.map { .failed($0) } ?? .played, screening.playlist.index ?? 0)
        do throws(PlayerError) {
            var done = last.statistics
            done.file = screening.playlist.current?.location ?? done.file
            try statistics?.add(done)
            if let failure = last.failure { try screening.report(failure) }
            for film in next.skipped {
                screening.begin(film.number)
                screening.tellEnd(.failed(film.error), film.number)
                var done = PlaybackStatistics()
                done.file = film.location
                try statistics?.add(done)
                try screening.report(film.error)
            }
        } catch { return .broken(error) }
        screening.playlist = next.playlist
        screening.begin(next.playlist.index ?? 0)
        screening.continued()
        if options.verbose, let entry = next.playlist.current { terminal.line("Plays \(entry.location), without a gap.") }
        screening.sink.window?.setTitle(player.title)
        return nil
    }
}
