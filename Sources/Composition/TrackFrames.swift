internal import Media
internal import Reading
internal import SurfacePool

/// The frames of a composition's track by time, read forward.
///
/// Thread-safety: one thread at a time.
final class TrackFrames {
    private let track: CompositionTrack
    private let open: @Sendable (CompositionSource) throws(ReadingError) -> VideoTrackOutput
    /// The one used last at the end. A film may be open twice: for the segment that is shown, and for one that comes later.
    private var films: [TrackFilm] = []
    private var preparation: FilmPreparation?

    /// Films that stay open: segments of the same few films alternate in most cuts.
    private static let openFilms = 4

    /// - Parameter open: Opens a film when its first frame is wanted. Called on other threads, too.
    init(_ track: CompositionTrack, _ open: @escaping @Sendable (CompositionSource) throws(ReadingError) -> VideoTrackOutput) {
        self.track = track
        self.open = open
    }

    deinit { preparation?.abandon() }

    /// Begins anew: any time may come next.
    func restart() {
        leavePreparation()
        for film in films { film.restart() }
    }

    /// Begins anew, with other decoders.
    func close() {
        leavePreparation()
        films = []
    }

    private func leavePreparation() { preparation.take()?.abandon() }

    /// The frame that is on the screen at a time; nil where the track is empty. A film that ends early shows its last frame.
    func frame(at time: MediaTime) throws(ReadingError) -> SharedFrame? {
        guard let index = track.index(at: time), let source = track.segments[index].source else { return nil }
        let mapping = track.segments[index].mapping, wanted = mapping.sourceTime(at: time)
        if let preparation, preparation.segment == index {
            self.preparation = nil
            if let film = preparation.wait() { use(film) }
        }
        let film = try film(source, at: wanted, in: index)
        for other in films where other !== film { other.restart() }
        if !film.reaches(wanted, in: index) { try film.begin(at: wanted, until: mapping.source.end, in: index) }
        return try film.frame(at: wanted)
    }

    /// The film that stands nearest before a time, else one that is free, else one that is opened.
    private func film(_ source: CompositionSource, at wanted: MediaTime, in index: Int) throws(ReadingError) -> TrackFilm {
        let place = films.lastIndex { $0.source == source && $0.reaches(wanted, in: index) } ?? films.lastIndex { $0.source == source }
        let film = if let place { films.remove(at: place) } else { TrackFilm(source, try open(source)) }
        use(film)
        return film
    }

    private func use(_ film: TrackFilm) {
        films.append(film)
        if films.count > Self.openFilms { films.removeFirst() }
    }

    /// Decodes a segment that comes later up to the frame at `start`, on another thread. One at a time: later segments wait for their turn.
    ///
    /// - Parameter now: The time of the frame that is wanted now.
    func prepare(_ segment: Int, at start: MediaTime, now: MediaTime) {
        let shown = track.index(at: now)
        if let preparation {
            guard preparation.start < now, preparation.segment != shown else { return }
            leavePreparation()
        }
        guard segment != shown, let source = track.segments[segment].source, !films.contains(where: { $0.segment == segment }) else { return }
        let free = films.firstIndex { $0.source == source && ($0.segment == nil || $0.segment != shown) }
        let film = free.map { films.remove(at: $0) }
        film?.restart()
        preparation = FilmPreparation(track.segments[segment], source, segment, at: start, film: film, open: open)
    }
}
