internal import Demuxing
internal import Media
internal import PixelConversion
internal import Reading

/// What opens or reads a film, and can be told to stop.
protocol CancellableFilm: AnyObject, Sendable {
    func cancel()
}

extension AssetCancellation: CancellableFilm {}
extension VideoTrackOutput: CancellableFilm {}
extension AudioTrackOutput: CancellableFilm {}
extension PixelTransferSession: CancellableFilm {
    func cancel() { interrupt() }
}

/// The films that an output of a composition has open, for cancelling them from another thread.
///
/// Thread-safety: all of it.
final class OpenFilms: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var films: [Entry] = []
        var notices: [String] = []
        /// Outputs made so far.
        var outputCount = 0
        /// The last one that was seen.
        var conversion: ConversionReport?
    }

    private struct Entry: Sendable {
        weak var film: (any CancellableFilm)?
    }

    private let state = Monitor(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// What the viewer should know of the films, a sentence each.
    var notices: [String] { state.withLock { $0.notices } }

    /// Films that were opened for their frames or their sound so far.
    var outputCount: Int { state.withLock { $0.outputCount } }

    /// How frames of a film were converted before anything was drawn of them; nil where all stay as they were decoded.
    var conversion: ConversionReport? {
        let films = state.withLock { $0.films.compactMap { $0.film as? VideoTrackOutput } }
        guard let found = films.lazy.compactMap(\.conversion).first else { return state.withLock { $0.conversion } }
        state.withLock { $0.conversion = found }
        return found
    }

    /// Frames of a film are converted before they are drawn.
    func note(_ conversion: ConversionReport) { state.withLock { $0.conversion = conversion } }

    /// Remembers a film while it is open. One that is opened too late is cancelled at once.
    func add(_ film: any CancellableFilm, notice: String? = nil) {
        let isCancelled = state.withLock { state in
            state.films.removeAll { $0.film == nil }
            state.films.append(Entry(film: film))
            if film is VideoTrackOutput || film is AudioTrackOutput { state.outputCount += 1 }
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
