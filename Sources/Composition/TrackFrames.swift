internal import Media
internal import Reading
internal import SurfacePool

/// The frames of a composition's track by time, read forward.
///
/// Thread-safety: one thread at a time.
final class TrackFrames {
    private let track: CompositionTrack
    private let open: (CompositionSource) throws(ReadingError) -> VideoTrackOutput
    private var films = RecentlyUsed<CompositionSource, Film>(limit: openFilms)

    /// A film that is open, and where it stands.
    private final class Film {
        let output: VideoTrackOutput
        /// The index of the segment that is read; nil before the first.
        var segment: Int?
        var position = MediaTime.negativeInfinity
        var current: SharedFrame?
        var next: SharedFrame?

        init(_ output: VideoTrackOutput) { self.output = output }

        /// Any time may come next. Its frames go back to the decoder.
        func restart() {
            segment = nil
            current = nil
            next = nil
        }
    }

    /// Films that stay open: segments of the same few films alternate in most cuts.
    private static let openFilms = 4

    /// - Parameter open: Opens a film when its first frame is wanted.
    init(_ track: CompositionTrack, _ open: @escaping (CompositionSource) throws(ReadingError) -> VideoTrackOutput) {
        self.track = track
        self.open = open
    }

    /// Begins anew: any time may come next.
    func restart() { for (_, film) in films.entries { film.restart() } }

    /// Begins anew, with other decoders.
    func close() { films.removeAll() }

    /// The frame that is on the screen at a time; nil where the track is empty. A film that ends early shows its last frame.
    func frame(at time: MediaTime) throws(ReadingError) -> SharedFrame? {
        guard let index = track.index(at: time), let source = track.segments[index].source else { return nil }
        let mapping = track.segments[index].mapping, wanted = mapping.sourceTime(at: time)
        let film = try films.value(source) { () throws(ReadingError) in Film(try open(source)) }
        for (_, other) in films.entries where other !== film { other.restart() }
        if film.segment != index || wanted < film.position {
            film.restart()
            try film.output.reset(forReadingTimeRanges: [MediaTimeRange(start: wanted, end: mapping.source.end)])
            film.segment = index
            film.current = try film.output.nextShared()
            film.next = try film.output.nextShared()
        }
        film.position = wanted
        while let next = film.next, next.presentationTime <= wanted {
            film.current = next
            film.next = try film.output.nextShared()
        }
        return film.current
    }
}
