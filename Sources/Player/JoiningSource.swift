internal import AudioSink
internal import Demuxing
internal import DisplaySink
internal import Media
internal import SampleQueue
internal import Subtitles

/// The samples of films that follow each other without a gap: the next turn of a film that loops, or another film. Times go on, so that the first
/// frame of each film is due when the last one's duration ends, and the sound follows sample by sample.
///
/// Every film's tracks come under the same numbers, `video` and `audio`. Subtitles keep their film's own times and go to its engine.
///
/// Where a film cannot follow so, the samples end with the film before.
///
/// Thread-safety: as `SampleSource`. The feeder's thread reads ahead; what is said of films that follow may be called on any thread.
final class JoiningSource: SampleSource, @unchecked Sendable {
    /// The numbers of the tracks.
    static let video = 0, audio = 1
    /// The name under which the markers between two films say which one begins.
    static let filmAttachment = "film"

    /// One of the films.
    struct Film: Sendable {
        /// Counts from 0; a film that loops keeps its number.
        let number: Int
        let opened: OpenedSource
        /// Nil: it has no subtitles that are shown.
        var subtitles: SubtitleEngine?
        /// Some of it has been read.
        var isBegun = false
    }

    /// What comes after the film that is read.
    enum Following: Sendable { case unknown, asked, film(Film), none }

    /// What happens to the turns of a film that loops.
    enum LoopStep: Sendable {
        /// The film has been read to its end and is to begin again.
        case begin
        /// So many turns that have been read are not shown.
        case withdraw(Int)
        /// Another film is read.
        case otherFilm
    }

    /// What the pipeline does on the feeder's thread.
    struct Handlers: Sendable {
        /// The film has been read to its end, and nobody has said what follows.
        var wanted: @Sendable () -> Void
        /// A film is to follow from this time on; nothing of it has been delivered.
        var joined: @Sendable (_ number: Int, _ start: MediaTime) -> Void
        /// A seek: this film goes on, at its own times.
        var resumed: @Sendable (_ number: Int) -> Void
        /// Counts how often the film that is read begins again; `setLoops` follows. Returns whether the turn that is asked for may begin.
        var count: @Sendable (LoopStep) -> Bool
    }

    struct Shared: Sendable {
        var timeline = FilmTimeline()
        /// The one that is shown, and those that have been read since.
        var films: [Film]
        var following = Following.unknown
        /// The film that is read begins again at its end.
        var loops: Bool
        /// Another film is shown, and who says what follows it has not been told.
        var isChanging = false
        /// The newest film has been read to its end.
        var isAtEnd = false
        var isInterrupted = false, isCancelled = false
    }

    let shared: Monitor<Shared>
    /// Whether other films may follow.
    let joins: Bool
    let hasVideo: Bool
    let timebase: Timebase
    let handlers: Handlers

    // Of the feeder's thread:
    /// There is a queue for sound.
    var takesSound = false
    var reading: Film
    /// What was read of this film, in its own time.
    var extent = FilmExtent()
    var shift = MediaTime.zero
    /// Read already, in the film's own time, and why no more was.
    var begun: ArraySlice<SampleBuffer> = [], failure: AssetError?
    /// For the decoders, before those.
    var markers: ArraySlice<SampleBuffer> = []
    /// The decoder has been told to put everything out.
    var isDrained = false

    /// 64: turns of 31 ms fill the two seconds that are read ahead. A film of which nothing can be decoded would be read for ever.
    static let mostAhead = 64
    /// - Parameters:
    ///   - first: whose tracks are chosen.
    ///   - joins: other films may follow it.
    ///   - loops: it follows itself.
    ///   - timebase: what the times are shown by.
    init(_ first: OpenedSource, subtitles: SubtitleEngine?, joins: Bool, loops: Bool, timebase: Timebase, handlers: Handlers) {
        let film = Film(number: 0, opened: first, subtitles: subtitles)
        shared = Monitor(Shared(films: [film], loops: loops))
        (reading, self.joins, self.timebase, self.handlers) = (film, joins, timebase, handlers)
        hasVideo = first.videoTrack != nil
    }

    /// Before the first sample is read: whether there is a queue for sound.
    func begin(takesSound: Bool) {
        self.takesSound = takesSound
        markers = opening(of: reading)
    }

    // MARK: SampleSource

    func nextSample() throws(AssetError) -> SampleBuffer? {
        while true {
            if let marker = markers.popFirst() { return marker }
            if let sample = begun.popFirst() {
                if let own = delivered(sample) { return own }
            } else if let error = failure.take() {
                throw error
            } else if let sample = try reading.opened.samples.nextSample() {
                if let own = delivered(sample) { return own }
            } else {
                guard goOn() else { return nil }
            }
        }
    }

    func seek(to time: MediaTime) throws(AssetError) {
        let (film, turns) = shared.withLock { shared in
            shared.isInterrupted = false
            return (shared.films[0], shared.timeline.turns(of: shared.films[0].number, after: timebase.time))
        }
        try film.opened.samples.seek(to: time)
        _ = handlers.count(.withdraw(turns))
        shared.withLock { shared in
            // What has been read since is read again when its time comes.
            if shared.films.count > 1 {
                var next = shared.films[1]
                next.isBegun = true
                shared.following = .film(next)
                shared.films.removeLast(shared.films.count - 1)
            } else if case .none = shared.following {
                shared.following = .unknown
            }
            shared.isAtEnd = false
            shared.timeline.restart(film: film.number)
        }
        reading = film
        (begun, failure, shift, extent, isDrained) = ([], nil, .zero, FilmExtent(), false)
        markers = opening(of: film)
        handlers.resumed(film.number)
    }

    func cancel() {
        let films = shared.change { shared in
            shared.isCancelled = true
            guard case .film(let next) = shared.following else { return shared.films }
            return shared.films + [next]
        }
        for film in films { film.opened.samples.cancel() }
    }

    func interrupt() { shared.change { $0.isInterrupted = true } }

    /// What decoders are told before the film's first sample.
    ///
    /// - Parameter isTurn: the film is the one before, and begins again.
    func opening(of film: Film, isTurn: Bool = false) -> ArraySlice<SampleBuffer> {
        var markers: ArraySlice<SampleBuffer> = []
        if hasVideo {
            var marker = SampleBuffer(marker: .discontinuity, trackID: Self.video)
            if joins, !isTurn { marker.attachments[Self.filmAttachment] = film.number }
            markers.append(marker)
        }
        // Until a film with sound follows.
        if takesSound, film.opened.audio == nil { markers.append(SampleBuffer(marker: .endOfStream, trackID: Self.audio)) }
        return markers
    }

    /// The sample under the times and the numbers that all films share; nil for one that has gone elsewhere.
    private func delivered(_ sample: SampleBuffer) -> SampleBuffer? {
        let film = reading.opened
        extent.add(sample, of: film)
        var sample = sample
        if sample.trackID == film.videoTrack {
            sample.trackID = Self.video
        } else if takesSound, sample.trackID == film.audio?.track {
            sample.trackID = Self.audio
        } else {
            reading.subtitles?.add(sample)
            return nil
        }
        return sample.shifted(by: shift)
    }
}
