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
    private enum Following: Sendable { case unknown, asked, film(Film), none }

    /// What the pipeline does on the feeder's thread.
    struct Handlers: Sendable {
        /// The film has been read to its end, and nobody has said what follows.
        var wanted: @Sendable () -> Void
        /// A film is to follow from this time on; nothing of it has been delivered.
        var joined: @Sendable (_ number: Int, _ start: MediaTime) -> Void
        /// A seek: this film goes on, at its own times.
        var resumed: @Sendable (_ number: Int) -> Void
    }

    private struct Shared: Sendable {
        var timeline = FilmTimeline()
        /// The one that is shown, and those that have been read since.
        var films: [Film]
        var following = Following.unknown
        /// The newest film has been read to its end.
        var isAtEnd = false
        var isInterrupted = false, isCancelled = false
    }

    private let shared: Monitor<Shared>
    private let loops: Bool
    private let hasVideo: Bool
    private let timebase: Timebase
    private let handlers: Handlers
    /// The part that loops, if its end is known.
    private let turn: MediaTimeRange?

    // Of the feeder's thread:
    /// There is a queue for sound.
    private var takesSound = false
    private var reading: Film
    /// What was read of this film, in its own time.
    private var extent = FilmExtent()
    private var shift = MediaTime.zero
    /// Read already, in the film's own time, and why no more was.
    private var begun: ArraySlice<SampleBuffer> = [], failure: AssetError?
    /// For the decoders, before those.
    private var markers: ArraySlice<SampleBuffer> = []
    /// The decoder has been told to put everything out.
    private var isDrained = false

    /// 64: turns of 31 ms fill the two seconds that are read ahead. A film of which nothing can be decoded would be read for ever.
    private static let mostAhead = 64
    /// Samples that are looked at for the first frame and the first sound of a turn, and their bytes.
    private static let longestLook = 512, largestLook = 16 << 20
    /// 16: no codec puts a frame behind more frames than that.
    private static let mostReordered = 16

    /// - Parameters:
    ///   - first: whose tracks are chosen.
    ///   - loops: it follows itself, and no other film does.
    ///   - timebase: what the times are shown by.
    init(_ first: OpenedSource, subtitles: SubtitleEngine?, loops: Bool, timebase: Timebase, handlers: Handlers) {
        let film = Film(number: 0, opened: first, subtitles: subtitles)
        shared = Monitor(Shared(films: [film]))
        (reading, self.loops, self.timebase, self.handlers) = (film, loops, timebase, handlers)
        hasVideo = first.videoTrack != nil
        turn =
            loops && first.duration.isNumeric
            ? MediaTimeRange(start: first.beginning, end: max(first.duration, first.beginning)) : nil
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
        let film = shared.withLock { shared in
            shared.isInterrupted = false
            return shared.films[0]
        }
        try film.opened.samples.seek(to: time)
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

    // MARK: Where one film ends and another begins

    private enum Answer: Sendable { case film(Film), interruption, end }

    /// Finds out what follows the film that has been read; false: nothing does.
    private func goOn() -> Bool {
        if loops { return beginTurn() }
        if !isDrained, hasVideo {
            // The decoder puts the last frames out, however long the next film takes.
            isDrained = true
            markers = [SampleBuffer(marker: .drain, trackID: Self.video)]
            return true
        }
        shared.withLock { $0.isAtEnd = true }
        handlers.wanted()
        let answer = shared.wait { shared -> Answer? in
            if shared.isCancelled { return .end }
            if shared.isInterrupted { return .interruption }
            switch shared.following {
            case .unknown, .asked: return nil
            case .none: return .end
            case .film(let film): return .film(film)
            }
        }
        switch answer {
        case nil, .end: return false
        case .interruption:
            // A seek follows; the marker says nothing.
            shared.withLock { $0.isInterrupted = false }
            markers = [SampleBuffer(marker: .drain, trackID: hasVideo ? Self.video : Self.audio)]
            return true
        case .film(let film): if join(film) { return true }
        }
        // It may follow as any film does.
        shared.withLock { $0.following = .none }
        return false
    }

    /// Goes back to the beginning of a film that loops. False when it cannot.
    private func beginTurn() -> Bool {
        guard shared.withLock({ $0.timeline.count(after: timebase.time) }) < Self.mostAhead else { return false }
        var film = reading
        film.isBegun = true
        return join(film)
    }

    /// Reads the beginning of a film and puts it where the one before ends. False when it cannot follow.
    private func join(_ film: Film) -> Bool {
        let last = extent.shifted(by: shift), now = timebase.time, source = film.opened.samples
        guard last.begin != nil else { return false }
        if film.isBegun { do throws(AssetError) { try source.seek(to: film.opened.beginning) } catch { return false } }
        var next = FilmExtent(), read: [SampleBuffer] = [], bytes = 0, frames = 0
        var hasFirst = film.opened.videoTrack == nil, error: AssetError?
        while read.count < Self.longestLook, bytes < Self.largestLook, !hasFirst || (film.opened.audio != nil && !next.sound.isKnown) {
            do throws(AssetError) {
                guard let sample = try source.nextSample() else { break }
                Self.note(sample, of: film.opened, in: &next)
                if sample.trackID == film.opened.videoTrack, next.frames.isKnown {
                    frames += 1
                    // Frames that are decoded later may be shown earlier, but none before it is decoded.
                    hasFirst = sample.decodeTime.isNumeric ? sample.decodeTime >= next.frames.begin : frames > Self.mostReordered
                }
                read.append(sample)
                bytes += sample.byteCount
            } catch let problem {
                error = problem
                break
            }
        }
        guard let shift = last.shift(of: next, notBefore: loops ? nil : now), let begin = next.begin else { return false }
        let hadSound = reading.opened.audio != nil
        (begun, failure) = (read[...], error)
        (self.shift, extent, isDrained) = (shift, FilmExtent(), false)
        reading = film
        shared.withLock { shared in
            shared.timeline.append(.init(start: begin + shift, shift: shift, film: film.number), now: now)
            guard !loops else { return }
            shared.films.append(film)
            (shared.following, shared.isAtEnd) = (.unknown, false)
        }
        markers = opening(of: film)
        if takesSound, hadSound {
            var marker = SampleBuffer(marker: .drain, trackID: Self.audio)
            if next.sound.isKnown { marker.presentationTime = next.sound.begin + shift }
            markers.insert(marker, at: markers.startIndex)
        }
        if !loops { handlers.joined(film.number, begin + shift) }
        return true
    }

    /// What decoders are told before the film's first sample.
    private func opening(of film: Film) -> ArraySlice<SampleBuffer> {
        var markers: ArraySlice<SampleBuffer> = []
        if hasVideo {
            var marker = SampleBuffer(marker: .discontinuity, trackID: Self.video)
            if !loops { marker.attachments[Self.filmAttachment] = film.number }
            markers.append(marker)
        }
        // Until a film with sound follows.
        if takesSound, film.opened.audio == nil { markers.append(SampleBuffer(marker: .endOfStream, trackID: Self.audio)) }
        return markers
    }

    /// The sample under the times and the numbers that all films share; nil for one that has gone elsewhere.
    private func delivered(_ sample: SampleBuffer) -> SampleBuffer? {
        let film = reading.opened
        Self.note(sample, of: film, in: &extent)
        var sample = sample
        if sample.trackID == film.videoTrack {
            sample.trackID = Self.video
        } else if takesSound, sample.trackID == film.audio?.track {
            sample.trackID = Self.audio
        } else {
            reading.subtitles?.add(sample)
            return nil
        }
        guard shift != .zero else { return sample }
        if sample.presentationTime.isNumeric { sample.presentationTime = sample.presentationTime + shift }
        if sample.decodeTime.isNumeric { sample.decodeTime = sample.decodeTime + shift }
        // It counts the film's own time.
        sample.sourcePresentationTimestamp = nil
        sample.sourceDecodeTimestamp = nil
        return sample
    }

    private static func note(_ sample: SampleBuffer, of film: OpenedSource, in extent: inout FilmExtent) {
        if sample.trackID == film.videoTrack {
            let shown = sample.trimmed
            guard !shown.flags.contains(.doNotDisplay) else { return }
            extent.frames.add(shown.presentationTime, shown.duration.isNumeric && shown.duration > .zero ? shown.duration : film.frameDuration)
        } else if sample.trackID == film.audio?.track, !sample.flags.contains(.doNotDisplay) {
            let padding = sample.soundPadding
            extent.sound.add(sample.presentationTime + padding.start, sample.duration - padding.start - padding.end)
        }
    }
}

// MARK: Any thread

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
        shared.withLock { $0.timeline.filmTime(at: time, of: $0.films[0].number, turn: turn) }
    }

    /// The film that is on the line at a time of the samples, and its own time there.
    func place(at time: MediaTime) -> (film: Film, time: MediaTime) {
        shared.withLock { shared in
            let number = shared.timeline.film(at: time)
            let film = shared.films.first { $0.number == number } ?? shared.films[0]
            return (film, shared.timeline.filmTime(at: time, of: film.number, turn: turn))
        }
    }

    /// Whether somebody is to say what follows the film that is shown, and nobody has been asked: true once for each film.
    ///
    /// - Parameter isNear: it ends soon.
    func claim(isNear: Bool) -> Bool {
        shared.withLock { shared in
            guard !loops, case .unknown = shared.following, shared.films.count == 1, isNear || shared.isAtEnd else { return false }
            shared.following = .asked
            return true
        }
    }

    /// What follows the newest film; nil: nothing does, not without a gap.
    func follow(with next: OpenedSource?, subtitles: SubtitleEngine?) {
        shared.change { shared in
            guard case .asked = shared.following else { return }
            shared.following = next.map { .film(Film(number: (shared.films.last?.number ?? 0) + 1, opened: $0, subtitles: subtitles)) } ?? .none
        }
    }

    /// The film `number` is shown from now on. Returns the one before; nil when it is not known, or is shown already.
    func show(_ number: Int) -> Film? {
        shared.change { shared in
            guard shared.films.count > 1, shared.films[1].number <= number else { return nil }
            return shared.films.removeFirst()
        }
    }
}
