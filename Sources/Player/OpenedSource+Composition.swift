internal import Composition
internal import Decoding
internal import Demuxing
internal import DisplaySink
internal import FrameExport
internal import Media
internal import Reading

extension OpenedSource {
    /// How long a compositor may take for a frame before it is left out.
    private static let patience = HostSpan.seconds(1)

    /// Reads a time line, and opens it.
    static func timeline(
        _ location: String, configuration: PlayerConfiguration, sink: any DisplaySink, cancellation: AssetCancellation
    ) throws(AssetError) -> OpenedSource {
        let file: TimelineFile
        do throws(ReadingError) {
            file = try TimelineFile(location, options: reading(configuration, cancellation))
        } catch { throw AssetError(error) }
        let film = ComposedFilm(file.composition, file.videoComposition, file.audioMix, name: location)
        var opened = try composition(film, configuration: configuration, sink: sink, cancellation: cancellation)
        opened.description?.title = file.name.isEmpty ? nil : file.name
        opened.title = file.name.isEmpty ? configuration.fallbackTitle ?? lastComponent(location) : file.name
        opened.notices = file.notices + opened.notices
        return opened
    }

    /// Checks a composition. Its films are opened when their frames are wanted.
    static func composition(
        _ film: ComposedFilm, configuration: PlayerConfiguration, sink: any DisplaySink, cancellation: AssetCancellation
    ) throws(AssetError) -> OpenedSource {
        let hearsSound = (sink.pacing == .display || configuration.takesAllSound) && configuration.playsAudio && configuration.tracks.audio != .none
        let hasFrames = configuration.tracks.video != .none && !film.video.instructions.isEmpty
        let hasSound = hearsSound && film.composition.tracks(.sound).contains { !$0.segments.allSatisfy(\.isEmpty) }
        guard hasFrames || hasSound else { throw AssetError(.noPlayableTrack, "\(film.name): nothing in it is played.") }
        var options = CompositionReadingOptions(reading: reading(configuration, cancellation))
        // Besides what displays and exporters hold: one frame in the samples' queue, one with each thread on the way.
        let exported = configuration.exporters.reduce(0) { $0 + $1.surfaceHoldCount }
        options.reading.decoder.holdCount = DisplayQueue.decodedAhead + sink.surfaceHoldCount + exported + 3
        options.reading.allocator = sink.preferredAllocator
        options.passesAnyFormat = true
        // Where every frame counts, none is left out.
        if sink.pacing == .display { options.latePolicy = .drop(after: patience) }
        let duration = film.composition.duration
        let part = FilmPart(configuration, duration: duration, chapters: film.composition.chapters)
        let start = part.start, end = min(part.end, duration)
        let source: ComposedSource
        do throws(ReadingError) {
            source = try ComposedSource(
                film, range: MediaTimeRange(start: min(start, end), end: end), playsFrames: hasFrames, playsSound: hasSound, options: options)
        } catch { throw AssetError(error) }
        var opened = OpenedSource(
            samples: source, location: film.name, title: lastComponent(film.name), beginning: start, duration: end,
            videoTrack: hasFrames ? ComposedSource.frameTrack : nil,
            summary: "\(film.name): a composition, \(film.video.size), instructions: \(film.video.instructions.count).")
        opened.composed = source
        opened.notices = part.shortfalls.map { "\(film.name) \($0)." }
        if let time = configuration.resumption?.time, time > start, time < end {
            try source.seek(to: time)
            opened.resumedAt = time
        }
        opened.description = FilmDescription(film, title: nil, playsFrames: hasFrames, playsSound: hasSound)
        if hasSound { opened.audio = (ComposedSource.soundTrack, ComposedSource.soundFormat) }
        let step = film.video.frameDuration
        opened.frameDuration = step
        if let count = Int32(exactly: step.value) { opened.frameRate = Ratio(step.timescale, count) }
        return opened
    }

    private static func reading(_ configuration: PlayerConfiguration, _ cancellation: AssetCancellation) -> ReadingOptions {
        var options = ReadingOptions(
            source: AssetReaderOptions(network: configuration.network, cancellation: cancellation), sandbox: configuration.sandbox)
        options.decoder.threads = configuration.threads
        options.decoder.specification = configuration.decoder
        return options
    }
}

extension AssetError {
    /// What keeps a composition from being read, as an error of a film.
    init(_ error: ReadingError) {
        let code: Code =
            switch error.code {
            case .source(let code): code
            case .decoding(let code) where DecodingError(code, "").isAboutMachine: .outOfResources
            case .noTrack, .conversion, .composition, .decoding: .noPlayableTrack
            case .noFrame: .damaged
            case .notSeekable: .notSeekable
            case .cancelled: .cancelled
            }
        self.init(code, error.description)
    }
}
