internal import Media
internal import Subtitles

/// What is said of films, on any thread.
extension JoiningSource {
    /// The film that is shown.
    var shown: Film { shared.withLock { $0.films[0] } }

    /// All films that play or will, the one that is shown first.
    var films: [Film] {
        shared.withLock { shared in
            guard case .film(let next) = shared.following else { return shared.films }
            return shared.films + [next]
        }
    }

    /// Whether the newest film has been read to its end, and it is not known what follows.
    var isRead: Bool { shared.withLock { $0.isAtEnd } }

    /// The time of the film that is shown, at a time of the samples.
    func filmTime(at time: MediaTime) -> MediaTime {
        shared.withLock { $0.timeline.filmTime(at: time, of: $0.films[0].number, turn: $0.loops ? $0.films[0].opened.turn : nil) }
    }

    /// The film that is on the line at a time of the samples, and its own time there.
    func place(at time: MediaTime) -> (film: Film, time: MediaTime) {
        shared.withLock { shared in
            let number = shared.timeline.film(at: time)
            let film = shared.films.first { $0.number == number } ?? shared.films[0]
            return (film, shared.timeline.filmTime(at: time, of: film.number, turn: shared.loops ? film.opened.turn : nil))
        }
    }

    /// Whether somebody is to say what follows the film that is shown, and nobody has been asked: true once for each film.
    ///
    /// - Parameter isNear: it ends soon.
    func claim(isNear: Bool) -> Bool {
        shared.withLock { shared in
            guard joins, !shared.loops, case .unknown = shared.following, shared.films.count == 1, !shared.isChanging, isNear || shared.isAtEnd else {
                return false
            }
            shared.following = .asked
            return true
        }
    }

    /// The film that is read begins again at its end, or does not. One whose end has been read and that waits for what follows begins again at once.
    func setLoops(_ loops: Bool) { shared.change { $0.loops = loops } }

    /// What follows the newest film; nil: nothing does, not without a gap.
    func follow(with next: OpenedSource?, subtitles: SubtitleEngine?) {
        shared.change { shared in
            guard case .asked = shared.following else { return }
            shared.following = next.map { .film(Film(number: (shared.films.last?.number ?? 0) + 1, opened: $0, subtitles: subtitles)) } ?? .none
        }
    }

    /// The film `number` is shown from now on. Returns the one before; nil when it is not known, or is shown already. `didShow` must follow.
    func show(_ number: Int) -> Film? {
        shared.change { shared in
            guard shared.films.count > 1, shared.films[1].number <= number else { return nil }
            shared.isChanging = true
            return shared.films.removeFirst()
        }
    }

    /// Who says what follows a film has been told that another one is shown. Before that, nobody is asked what follows it; a film that has been read
    /// by then asks now, because it has asked in vain.
    func didShow() {
        let asksAgain = shared.change { shared in
            shared.isChanging = false
            guard case .unknown = shared.following else { return false }
            return shared.isAtEnd && shared.films.count == 1
        }
        if asksAgain { handlers.wanted() }
    }
}
