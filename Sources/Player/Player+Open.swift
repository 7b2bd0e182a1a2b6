internal import AudioSink
package import Capture
internal import Composition
package import Demuxing
internal import Dispatch
internal import DisplaySink
internal import FrameExport
internal import Media

/// What a player opens.
package enum FilmLocation: Sendable {
    /// A path, `-`, or a URL.
    case place(String)
    /// Bytes that the program brings. The name is what sentences call them; its ending helps with containers that cannot be recognised.
    case bytes(any ByteSource, name: String)
    /// A film that stands on a page.
    case page(PageFilm)
    /// A camera by its name or path (nil: the first), and what to ask of it.
    case camera(String?, CaptureRequest)
    /// A composition.
    case composition(ComposedFilm)

    /// What a page calls it; nil: nothing says it.
    var title: String? { if case .page(let film) = self { film.title } else { nil } }

    var name: String {
        switch self {
        case .place(let name), .bytes(_, let name): name
        case .page(let film): film.page
        case .camera(let name, _): name ?? "the camera"
        case .composition(let film): film.name
        }
    }
}

/// A film that is being opened. It can be given up until it is open.
///
/// Thread-safety: all of it.
final class Opening: Sendable {
    private enum State { case underWay, givenUp, done }

    /// For the reader, which then fails soon.
    let cancellation = AssetCancellation()
    let film: FilmLocation
    private let state = Monitor(State.underWay)

    init(_ film: FilmLocation) { self.film = film }

    /// Whether it reads what the program may free as soon as the player is closed.
    var readsProgram: Bool { if case .bytes = film { true } else { false } }

    /// Ends it; does nothing to a film that is open.
    func giveUp() {
        let isGivenUp = state.withLock { state in
            if case .underWay = state { state = .givenUp }
            if case .givenUp = state { return true }
            return false
        }
        if isGivenUp { cancellation.cancel() }
    }

    /// The film is open. False when it was given up before.
    func finish() -> Bool {
        state.withLock { state in
            guard case .underWay = state else { return false }
            state = .done
            return true
        }
    }
}

extension Player {
    /// Opens `location` and blocks while the head of the file is read; for callers without Swift's concurrency.
    package func open(_ location: String) throws(PlayerError) { try open(.place(location)) }

    /// Opens `film` and blocks while its head is read; for callers without Swift's concurrency.
    package func open(_ film: FilmLocation) throws(PlayerError) {
        let opening = Opening(film)
        try begin(opening)
        try carryOut(opening) {}
    }

    /// Opens `film` on a thread of its own; for callers without Swift's concurrency. Returns at once.
    ///
    /// - Parameter completion: called once, on the queue of the player's events and in order with them: before the film's first `preparing`, or after
    ///   the state that a failure leaves.
    package func beginOpening(_ film: FilmLocation, completion: @escaping @Sendable (Result<Void, PlayerError>) -> Void) {
        beginOpening(Opening(film), completion)
    }

    func beginOpening(_ opening: Opening, _ completion: @escaping @Sendable (Result<Void, PlayerError>) -> Void) {
        do throws(PlayerError) { try begin(opening) } catch { return afterEvents { completion(.failure(error)) } }
        // Reading may block for as long as a network does.
        _ = LoopThread(name: "open") { [self] in
            do throws(PlayerError) {
                try carryOut(opening) { [self] in afterEvents { completion(.success(())) } }
            } catch { afterEvents { completion(.failure(error)) } }
        }
    }

    /// Makes an `open` that is under way, or else the next one, fail soon with `cancelled`. Does nothing to a film that is open.
    package func cancelOpening() {
        let opening = storage.withLock { storage in
            if storage.opening == nil, storage.pipeline == nil { storage.refusesOpening = true }
            return storage.opening
        }
        opening?.giveUp()
    }

    /// Gives an opening up. One that reads what the program brings has ended when this returns.
    func endOpening() {
        cancelOpening()
        let _: Void? = storage.wait { $0.opening?.readsProgram == true ? nil : () }
    }

    private func begin(_ opening: Opening) throws(PlayerError) {
        let isRefused = try storage.withLock { storage throws(PlayerError) -> Bool in
            precondition(storage.pipeline == nil && storage.opening == nil, "a player opens one film")
            if storage.isClosed { throw .notOpen }
            storage.opening = opening
            defer { storage.refusesOpening = false }
            return storage.refusesOpening
        }
        nameFilm(opening.film.name.withoutPasswords)
        if isRefused { opening.giveUp() }
        announceState()
    }

    /// - Parameter opened: called when the film plays, before that is announced.
    private func carryOut(_ opening: Opening, opened: @escaping @Sendable () -> Void) throws(PlayerError) {
        do throws(PlayerError) {
            let source: OpenedSource
            do throws(AssetError) { source = try openSource(opening, resuming: configuration.resumption) } catch { throw PlayerError(error) }
            let pipeline = PlaybackPipeline(source, configuration: configuration, sink: sink, handlers: handlers)
            if let obstacle = pipeline.obstacle { throw PlayerError(obstacle, file: opening.film.name) }
            try start(pipeline, opening, opened)
        } catch {
            let deferred = storage.change { storage in
                storage.opening = nil
                defer { storage.deferred = [] }
                return storage.deferred
            }
            announceState()
            for seek in deferred where seek.serial != nil { transport.async(execute: seek.body) }
            log(.error, error.description)
            throw error
        }
    }

    /// - Parameters:
    ///   - title: of a film that has none of its own; nil: as the configuration says.
    ///   - resumption: where the viewer left this film; nil: it begins at its beginning.
    func openSource(_ opening: Opening, title: String? = nil, resuming resumption: Resumption? = nil) throws(AssetError) -> OpenedSource {
        var configuration = configuration
        configuration.resumption = resumption
        if let choice = resumption?.sound { configuration.tracks.audio = choice }
        if let choice = resumption?.subtitles { configuration.tracks.subtitles = choice }
        if let title { configuration.fallbackTitle = title }
        if case .camera(let name, let request) = opening.film {
            return try OpenedSource.camera(name, request, configuration: configuration, sink: sink)
        }
        if case .composition(let film) = opening.film {
            return try OpenedSource.composition(film, configuration: configuration, sink: sink, cancellation: opening.cancellation)
        }
        if let codec = configuration.rawCodec {
            return try OpenedSource.raw(opening.film, codec: codec, configuration.network, opening.cancellation)
        }
        if case .place(let location) = opening.film, TimelineFile.isTimeline(location) {
            return try OpenedSource.timeline(location, configuration: configuration, sink: sink, cancellation: opening.cancellation)
        }
        return try OpenedSource.container(
            opening.film, configuration: configuration, hearsSound: sink.pacing == .display || configuration.takesAllSound,
            readsSubtitles: sink.drawsOverlays || configuration.subtitles.isTakenByProgram,
            shownSize: sink.displaySize, cancellation: opening.cancellation)
    }

    /// Takes the pipeline over and starts it, unless the film was given up or the player closed meanwhile.
    private func start(_ pipeline: PlaybackPipeline, _ opening: Opening, _ opened: @escaping @Sendable () -> Void) throws(PlayerError) {
        // On the transport queue: a `close` comes before all of it, or after.
        let result = transport.sync { () -> Result<Void, PlayerError> in
            do throws(PlayerError) { try adopt(pipeline, opening) } catch { return .failure(error) }
            for notice in pipeline.source.notices { post(.notice(notice)) }
            post(.detail(pipeline.source.summary))
            sink.setFilmRate(pipeline.source.frameRate)
            do throws(SinkError) { try pipeline.start() } catch { return .failure(PlayerError(error)) }
            let deferred = storage.withLock { storage in
                defer { storage.deferred = [] }
                return storage.deferred
            }
            // Who waits for the film finds it as it was wanted.
            for choice in deferred where choice.serial == nil { choice.body() }
            opened()
            announceState()
            holdLatency()
            for seek in deferred where seek.serial != nil { seek.body() }
            return .success(())
        }
        guard case .failure(let error) = result else { return }
        if storage.withLock({ $0.pipeline != nil }) { close() }
        throw error
    }

    private func adopt(_ pipeline: PlaybackPipeline, _ opening: Opening) throws(PlayerError) {
        let awaited = try storage.change { storage throws(PlayerError) in
            if storage.isClosed { throw .notOpen }
            guard opening.finish() else { throw PlayerError(.cancelled, "\(pipeline.source.location): opening was cancelled.") }
            storage.opening = nil
            storage.pipeline = pipeline
            pipeline.joining?.setLoops(storage.transport.loopsLeft > 0)
            storage.transport.opened(
                at: pipeline.source.beginning, hasVideo: pipeline.display != nil,
                hasAudio: pipeline.audio != nil && pipeline.source.audio != nil)
            return storage.deferred.last { $0.serial != nil }?.serial
        }
        // A film that begins makes exporters forget what they wait for.
        if let awaited {
            for exporter in configuration.exporters { exporter.expect(awaited) }
            configuration.audioExporter?.expect(awaited)
        }
        settings.withLock { $0.apply(to: pipeline) }
    }
}
