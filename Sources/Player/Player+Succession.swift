internal import Demuxing
internal import Dispatch
internal import DisplaySink
internal import Media
internal import Subtitles

// Films that follow each other without a gap: the next one is opened and its first samples are read before the one that plays has ended.

/// What the program that plays several films hears.
package struct Succession: Sendable {
    /// What follows the film is to be said; see `Player.claimNext`. On a thread of the player's own.
    package var wanted: @Sendable () -> Void = {}
    /// A film that follows without a gap is shown now, and the one before is over. On a queue of the player's own.
    package var began: @Sendable (FilmEnd) -> Void = { _ in }

    package init() {}
}

/// How a film ended that another one followed without a gap.
package struct FilmEnd: Sendable {
    /// What playing it did and cost.
    package var statistics: PlaybackStatistics
    /// Nothing of it could be decoded.
    package var failure: PlayerError?
}

extension Player {
    /// Sets what the program hears of films that follow each other. Before `open`.
    package func onSuccession(_ succession: Succession) { self.succession.withLock { $0 = succession } }

    /// 10 s: a web server has answered by then.
    private static let ahead = MediaTime(value: 10, timescale: 1)

    /// Whether it is to be said now what follows the film: true once for each film, when its end is near or has been read. `follow` or
    /// `endFilms` answers.
    package func claimNext() -> Bool {
        guard let pipeline = storage.withLock({ $0.pipeline }), let joining = pipeline.joining else { return false }
        let end = pipeline.source.duration
        return joining.claim(isNear: end.isNumeric && position + Self.ahead >= end)
    }

    /// Nothing follows the film, not without a gap.
    package func endFilms() { storage.withLock { $0.pipeline }?.joining?.follow(with: nil, subtitles: nil) }

    /// Opens `film` on a thread of its own, to follow the one that plays without a gap.
    ///
    /// - Parameters:
    ///   - title: of a film that has none of its own.
    ///   - completion: called once on that thread. With true the film follows, and `Succession.began` tells when it does. With false nothing follows
    ///     without a gap: the two films are too different. After a failure something else may follow.
    package func follow(with film: FilmLocation, title: String?, completion: @escaping @Sendable (Result<Bool, PlayerError>) -> Void) {
        let opening = Opening(film)
        endNext()
        let thread = LoopThread(name: "open-next") { [self] in
            let source: OpenedSource
            do throws(AssetError) { source = try openSource(opening, title: title) } catch { return completion(.failure(PlayerError(error))) }
            guard opening.finish(), let pipeline = storage.withLock({ $0.isClosed ? nil : $0.pipeline }) else { return completion(.success(false)) }
            // Under the lock, so that what is set meanwhile is not lost.
            let follows = settings.withLock { pipeline.follow(with: source, $0.subtitles) }
            if !follows { endFilms() }
            completion(.success(follows))
        }
        let isClosed = storage.withLock { storage in
            if !storage.isClosed { storage.next = (opening, thread) }
            return storage.isClosed
        }
        if isClosed {
            opening.giveUp()
            thread.join()
        }
    }

    /// Gives up the opening of the film that was to follow, and waits for its thread.
    func endNext() {
        guard let (opening, thread) = storage.withLock({ $0.next.take() }) else { return }
        opening.giveUp()
        if !thread.isCurrent { thread.join() }
    }

    /// The display, or the time, says that a film is on.
    func filmBegan(_ number: Int) {
        transport.async { [self] in
            guard let pipeline = storage.withLock({ $0.isClosed ? nil : $0.pipeline }) else { return }
            show(number, of: pipeline)
        }
    }

    /// The film `number` is the one that plays. On the transport queue.
    func show(_ number: Int, of pipeline: PlaybackPipeline) {
        let copied = sink.bytesCopied
        guard storage.withLock({ $0.pendingSeeks == 0 }), let joining = pipeline.joining, let before = joining.show(number) else { return }
        before.subtitles?.stop()
        pipeline.subtitleWatch?.check()
        var end = FilmEnd(statistics: gather(pipeline, before))
        if pipeline.display != nil, end.statistics.framesDecoded == 0, pipeline.isDecoded(before.number) {
            end.failure = nothingPlayed(before.opened)
        }
        pipeline.copiedBefore.withLock { $0 = copied }
        let source = pipeline.source, now = MonotonicClock.shared.now()
        let isHeard = pipeline.isHeard
        let actions = storage.withLock { storage in
            (storage.beganAt, storage.firstFrameAt, storage.stalls) = (now, now, Stalls())
            return storage.transport.continued(at: source.beginning, hasAudio: pipeline.audio != nil && source.audio != nil, isHeard: isHeard)
        }
        for notice in source.notices { post(.notice(notice)) }
        PlaybackPipeline.follow(source, pipeline.handlers)
        post(.detail(source.summary))
        sink.setFilmRate(source.frameRate)
        succession.withLock { $0 }.began(end)
        joining.didShow()
        if !actions.isEmpty { perform(actions) }
    }
}
