internal import AudioSink
internal import Demuxing
internal import Media
internal import SampleQueue

/// Where one film ends and another begins. Of the feeder's thread.
extension JoiningSource {
    private enum Answer: Sendable { case film(Film), interruption, turn, end }

    /// Finds out what follows the film that has been read; false: nothing does.
    func goOn() -> Bool {
        if shared.withLock({ $0.loops }) { return beginTurn() }
        guard joins else { return false }
        if !isDrained {
            // The decoders put out what they have, however long the next film takes; time runs then, also where there was no sound.
            isDrained = true
            if hasVideo { markers.append(SampleBuffer(marker: .drain, trackID: Self.video)) }
            if takesSound, reading.opened.audio != nil { markers.append(SampleBuffer(marker: .drain, trackID: Self.audio)) }
            if !markers.isEmpty { return true }
        }
        shared.withLock { $0.isAtEnd = true }
        handlers.wanted()
        let answer = shared.wait { shared -> Answer? in
            if shared.isCancelled { return .end }
            if shared.isInterrupted { return .interruption }
            if shared.loops { return .turn }
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
        case .turn: return beginTurn()
        case .film(let film): if join(film) { return true }
        }
        // It may follow as any film does.
        shared.withLock { $0.following = .none }
        return false
    }

    /// Goes back to the beginning of a film that loops. False when it cannot; then it may begin again as it did the first time.
    private func beginTurn() -> Bool {
        guard reading.opened.canLoop, shared.withLock({ $0.timeline.count(after: timebase.time) }) < Self.mostAhead else { return false }
        // Perhaps it was told meanwhile not to.
        guard handlers.count(.begin) else { return goOn() }
        var film = reading
        film.isBegun = true
        if join(film, isTurn: true) { return true }
        _ = handlers.count(.withdraw(1))
        return false
    }

    /// Reads the beginning of a film and puts it where the one before ends. False when it cannot follow.
    private func join(_ film: Film, isTurn: Bool = false) -> Bool {
        let last = extent.shifted(by: shift), now = timebase.time
        guard last.begin != nil else { return false }
        if film.isBegun { do throws(AssetError) { try film.opened.samples.seek(to: film.opened.beginning) } catch { return false } }
        let beginning = FilmBeginning(readingFrom: film.opened), next = beginning.extent
        guard let shift = last.shift(of: next, notBefore: isTurn ? nil : now), let begin = next.begin else { return false }
        let hadSound = reading.opened.audio != nil
        (begun, failure) = (beginning.samples[...], beginning.failure)
        (self.shift, extent, isDrained) = (shift, FilmExtent(), false)
        reading = film
        shared.withLock { shared in
            shared.timeline.append(.init(start: begin + shift, shift: shift, film: film.number), now: now)
            if isTurn { return }
            shared.films.append(film)
            (shared.following, shared.isAtEnd) = (.unknown, false)
        }
        markers = opening(of: film, isTurn: isTurn)
        if takesSound, !hadSound, film.opened.audio != nil {
            // The end of the sound was told when a film without any began. It is told again, also where this one's track has not one sample.
            markers.insert(SampleBuffer(marker: .drain, trackID: Self.audio), at: markers.startIndex)
        }
        if takesSound, hadSound {
            var marker = SampleBuffer(marker: .drain, trackID: Self.audio)
            if next.sound.isKnown { marker.presentationTime = next.sound.begin + shift }
            markers.insert(marker, at: markers.startIndex)
        }
        if !isTurn {
            _ = handlers.count(.otherFilm)
            handlers.joined(film.number, begin + shift)
        }
        return true
    }
}
