internal import Demuxing
internal import Media
internal import Reading

/// What opens or reads a film, and can be told to stop.
protocol CancellableFilm: AnyObject, Sendable {
    func cancel()
}

extension AssetCancellation: CancellableFilm {}
extension VideoTrackOutput: CancellableFilm {}
extension AudioTrackOutput: CancellableFilm {}

/// The films that an output of a composition has open, for cancelling them from another thread.
///
/// Thread-safety: all of it.
final class OpenFilms: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var films: [Entry] = []
        var notices: [String] = []
    }

    private struct Entry: Sendable {
        weak var film: (any CancellableFilm)?
    }

    private let state = Monitor(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// What the viewer should know of the films, a sentence each.
    var notices: [String] { state.withLock { $0.notices } }

    /// Remembers a film while it is open. One that is opened too late is cancelled at once.
    func add(_ film: any CancellableFilm, notice: String? = nil) {
        let isCancelled = state.withLock { state in
            state.films.removeAll { $0.film == nil }
            state.films.append(Entry(film: film))
            if let notice, !state.notices.contains(notice) { state.notices.append(notice) }
            return state.isCancelled
        }
        if isCancelled { film.cancel() }
    }

    func cancel() {
        let films = state.withLock { state in
            state.isCancelled = true
            return state.films.compactMap(\.film)
        }
        for film in films { film.cancel() }
    }

    /// - Throws: `.cancelled`.
    func check() throws(ReadingError) {
        if isCancelled { throw ReadingError(.cancelled, "Reading the composition was cancelled.") }
    }
}
