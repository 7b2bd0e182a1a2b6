internal import Media
internal import Reading
internal import SurfacePool

/// A film that is open, and where it stands.
///
/// Thread-safety: one thread at a time; a `FilmPreparation` hands it from one to another.
final class TrackFilm: @unchecked Sendable {
    let source: CompositionSource
    let output: VideoTrackOutput
    /// The index of the segment that is read; nil before the first.
    private(set) var segment: Int?
    /// The time of the film that was asked for last.
    private(set) var position = MediaTime.negativeInfinity
    private var current: SharedFrame?
    private var next: SharedFrame?

    init(_ source: CompositionSource, _ output: VideoTrackOutput) {
        self.source = source
        self.output = output
    }

    /// Any time may come next. Its frames go back to the decoder.
    func restart() {
        segment = nil
        current = nil
        next = nil
    }

    /// Whether it can be read on to a time of the film.
    func reaches(_ wanted: MediaTime, in index: Int) -> Bool { segment == index && wanted >= position }

    /// Goes to a time of the film.
    func begin(at wanted: MediaTime, until end: MediaTime, in index: Int) throws(ReadingError) {
        restart()
        try output.reset(forReadingTimeRanges: [MediaTimeRange(start: wanted, end: end)])
        segment = index
        position = wanted
        current = try output.nextShared()
        next = try output.nextShared()
    }

    /// The frame that is on the screen at a time of the film, read on from where it stands. A film that ends early shows its last frame.
    func frame(at wanted: MediaTime) throws(ReadingError) -> SharedFrame? {
        position = wanted
        while let following = next, following.presentationTime <= wanted {
            current = following
            next = try output.nextShared()
        }
        return current
    }
}
