internal import Media
internal import Reading

/// A film that is opened, and decoded up to the first frame of a segment, on a thread of its own, while other films are shown.
///
/// Decoding begins at the sync sample before, which may be seconds earlier: done only when the frame is wanted, it would hold up those after it.
///
/// Thread-safety: all of it.
final class FilmPreparation: Sendable {
    /// The index of the segment in its track.
    let segment: Int
    /// Where it is needed first, in the time of the composition.
    let start: MediaTime
    private let state = Monitor(State.working(nil))

    private enum State: Sendable {
        /// The film is known once it is open.
        case working(TrackFilm?)
        case done(TrackFilm)
        case failed
        case abandoned
    }

    /// Begins at once.
    /// - Parameters:
    ///   - part: The segment; `source` is its film, `segment` its index in the track.
    ///   - start: Where it is needed first, in the time of the composition.
    ///   - film: One that is open and free; nil where it must be opened first.
    ///   - open: Opens it.
    init(
        _ part: CompositionSegment, _ source: CompositionSource, _ segment: Int, at start: MediaTime, film: TrackFilm?,
        open: @escaping @Sendable (CompositionSource) throws(ReadingError) -> VideoTrackOutput
    ) {
        self.segment = segment
        self.start = start
        let state = state
        _ = LoopThread(name: "prepare") {
            do throws(ReadingError) {
                let found = if let film { film } else { TrackFilm(source, try open(source)) }
                let isWanted = state.withLock { state in
                    guard case .working = state else { return false }
                    state = .working(found)
                    return true
                }
                guard isWanted else { return }
                try found.begin(at: part.mapping.sourceTime(at: start), until: part.mapping.source.end, in: segment)
                state.change { if case .working = $0 { $0 = .done(found) } }
            } catch {
                // Whoever wants the frame meets the error again, and throws it.
                state.change { if case .working = $0 { $0 = .failed } }
            }
        }
    }

    /// Waits for the film, which stands at its frame; nil where that cannot be had.
    func wait() -> TrackFilm? {
        state.wait { state -> TrackFilm?? in
            switch state {
            case .working: nil
            case .done(let film): .some(film)
            case .failed, .abandoned: .some(nil)
            }
        } ?? nil
    }

    /// Nobody will wait for it: the film where it is ready; what is still being done ends soon, and its film is closed.
    func release() -> TrackFilm? {
        let film = state.change { state -> TrackFilm? in
            guard case .done(let film) = state else { return nil }
            state = .abandoned
            return film
        }
        if film == nil { abandon() }
        return film
    }

    /// Nobody will wait for it: what it has begun ends soon, and the film is closed.
    func abandon() {
        let film = state.change { state -> TrackFilm? in
            defer { state = .abandoned }
            if case .working(let film) = state { return film }
            return nil
        }
        film?.output.cancel()
    }
}
