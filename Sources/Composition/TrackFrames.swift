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

    /// Begins anew: any time may come next. What is prepared stays; the next call of `prepare` knows whether it is of use.
    func restart() { for film in films { film.restart() } }

    /// Begins anew, with other decoders.
    func close() {
        preparation.take()?.abandon()
        films = []
    }

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

    /// Decodes a segment that comes later up to its first frame, on another thread. One at a time: later segments wait for their turn.
    ///
    /// - Parameters:
    ///   - needed: What this track needs soon, the next segment first.
    ///   - now: The time of the frame that is wanted now.
    ///   - ahead: How long before it is needed a segment is prepared.
    func prepare(_ needed: some Sequence<PreparationPlan.Entry>, now: MediaTime, ahead: MediaTime) {
        let shown = track.index(at: now)
        let coming = needed.filter { entry in entry.segment != shown && !films.contains { $0.segment == entry.segment } }
        if let preparation {
            let fate = PreparationPlan.fate(
                of: (preparation.segment, preparation.start), at: now, shown: shown, needed: coming.map(\.segment), ahead: ahead)
            guard fate == .release else { return }
            self.preparation = nil
            // It waits behind those that were used, as the first to be closed.
            if let film = preparation.release(), films.count < Self.openFilms {
                film.restart()
                films.insert(film, at: 0)
            }
        }
        guard let entry = coming.first, let source = track.segments[entry.segment].source else { return }
        let free = films.firstIndex { $0.source == source && ($0.segment == nil || $0.segment != shown) }
        let film = free.map { films.remove(at: $0) }
        film?.restart()
        preparation = FilmPreparation(track.segments[entry.segment], source, entry.segment, at: entry.time, film: film, open: open)
    }

    /// Whether `prepare` has anything to look after.
    var isPreparing: Bool { preparation != nil }
}
