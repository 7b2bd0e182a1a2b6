public import Composition
internal import Decoding
internal import Demuxing
internal import Encoding
internal import Media
internal import Reading
internal import SampleQueue
public import SurfacePool

/// Makes a film of another: decodes its tracks and encodes them anew, or copies them, into another container. What `play convert` does.
///
///     var settings = ExportSettings()
///     settings.video = .encode(ExportSettings.Codec(name: "hevc"))
///     let session = try ExportSession(from: "film.mov", to: "film.mp4", settings: settings)
///     try session.run()
///
/// The counterpart of `AVAssetExportSession`. The encoder reads frames where the decoder wrote them; `statistics` counts what is copied all the same.
/// Times stay as they are, to the frame and to the sample. Colours, HDR metadata, pixel aspect, rotation, texts, chapters and languages go along.
///
/// Thread-safety: `run` once, on one thread, which it blocks; `end` and `cancel` from any.
public final class ExportSession: @unchecked Sendable {
    /// Bytes of frames that were converted or copied on the way from the decoder to the encoder.
    public let statistics = FrameStatistics()
    /// Sentences for the viewer: tracks that are left out, and other departures from what was asked for.
    public private(set) var notices: [String] = []
    private let settings: ExportSettings
    private let path: String
    private let writer: AssetWriter
    private let lanes: [any ExportLane]
    private let duration: MediaTime
    private let isCancelled = Monitor(false)
    private let isEnding = Monitor(false)

    /// Opens the film, its decoders and encoders, and creates the file under a temporary name. Blocks until then.
    public convenience init(from location: String, to path: String, settings: ExportSettings = ExportSettings()) throws(ExportError) {
        let source: SourceReader
        do throws(AssetError) {
            var options = AssetReaderOptions(isThorough: true, cancellation: settings.cancellation)
            options.lists = .inOneVariant
            source = try SourceReader(opening: location, options, settings.sandbox)
        } catch { throw .source(error) }
        try self.init(ExportSource(source, settings), path, settings)
    }

    /// Opens the encoders and creates the file under a temporary name. The composition's films are opened as they are read.
    ///
    /// The file has one track of frames and, where the composition has sound, one of sound, whose numbers are 0 and 1. Markers become chapters
    /// where the settings have none.
    ///
    /// - Parameters:
    ///   - composition: What is exported.
    ///   - videoComposition: How its frames are drawn.
    ///   - audioMix: How loud its tracks of sound are.
    ///   - compositor: What draws frames; nil takes the built-in one.
    ///   - settings: Nothing can be copied.
    public convenience init(
        from composition: Composition, _ videoComposition: VideoComposition, audioMix: AudioMix = AudioMix(),
        compositor: (any VideoCompositing)? = nil, to path: String, settings: ExportSettings = ExportSettings()
    ) throws(ExportError) {
        var settings = settings
        if settings.writer.chapters.isEmpty { settings.writer.chapters = composition.chapters }
        try self.init(ExportSource(composition, videoComposition, audioMix, compositor, settings), path, settings)
    }

    private init(_ source: ExportSource, _ path: String, _ settings: ExportSettings) throws(ExportError) {
        self.settings = settings
        self.path = path
        if let notice = source.notice { notices.append(notice) }
        var writerOptions = settings.writer, cover: Int?
        if let film = source.reader {
            writerOptions = writerOptions.describing(film.metadata, title: film.title, film.chapters, in: settings.timeRange)
            let container = writerOptions.container ?? FileContainer(path: path)
            cover = writerOptions.takeCover(of: film, settings.tracks, settings.sandbox, to: container)
        }
        do throws(WritingError) { writer = try AssetWriter(path: path, options: writerOptions) } catch { throw .output(error) }
        let range = settings.timeRange
        let end = min(range.end, source.duration.isNumeric ? source.duration : range.end)
        duration = end.isNumeric ? end - range.start : .indefinite
        do throws(ExportError) {
            let plan = try ExportPlan(source, settings, writer.container, path: path, cover: cover)
            lanes = try Self.lanes(plan, source, settings, writer, statistics)
            let copied = plan.tracks.filter { $0.codec == nil }.map(\.track)
            let encoded = lanes.compactMap { $0 as? VideoLane }.filter(\.losesAlpha).map(\.track)
            notices += plan.notices + [AlphaLoss(copied: copied, encoded: encoded, in: writer.container, path: path).notice].compactMap(\.self)
            notices += lanes.compactMap { ($0 as? VideoLane)?.deviceNotice }
        } catch {
            writer.cancel()
            throw error
        }
    }

    private static func lanes(
        _ plan: ExportPlan, _ source: ExportSource, _ settings: ExportSettings, _ writer: AssetWriter, _ statistics: FrameStatistics
    ) throws(ExportError) -> [any ExportLane] {
        var lanes: [any ExportLane] = [], copied: [Int: AssetWriterInput] = [:], inputs = copied, sounds: [Int: SoundLane] = [:], settings = settings
        func add(_ description: TrackDescription) throws(ExportError) -> AssetWriterInput {
            do throws(WritingError) { return try writer.addInput(description) } catch { throw .output(error) }
        }
        for case (let track, let codec?) in plan.tracks where track.kind == .audio {
            sounds[track.id] = try SoundLane(source, track, codec, settings)
        }
        if settings.byteCount != nil {
            let rates = sounds.mapValues { $0.bitRate }
            settings.videoBitRate = try ExportBudget.rate(plan, source, settings, writer.container) { rates[$0] ?? nil }
        }
        let length = settings.writer.segmentDuration
        if writer.isForWebServers, length.isNumeric, length > .zero {
            // A segment ends at the first sync sample after half its length: so none is longer than was promised,
            // at a constant rate. Encoders take no more than a day.
            let half = MediaTime(value: max(length.converted(to: 1000).value / 2, 1), timescale: 1000)
            settings.syncDistance = min(half, MediaTime(value: 86_400, timescale: 1))
        }
        for (track, codec) in plan.tracks {
            guard let codec else {
                copied[track.id] = try add(TrackDescription(track))
                inputs[track.id] = copied[track.id]
                continue
            }
            if let lane = sounds[track.id] {
                lane.input = try add(lane.description)
                inputs[track.id] = lane.input
                lanes.append(lane)
            } else {
                let lane = try VideoLane(source, track, codec, settings, writer.container, statistics)
                lane.input = try add(lane.description)
                inputs[track.id] = lane.input
                lanes.append(lane)
            }
        }
        do throws(WritingError) { try writer.keepReferences(of: plan.tracks.map(\.0), inputs) } catch { throw .output(error) }
        if !copied.isEmpty, let reader = source.reader { lanes.append(CopyLane(reader, copied, settings.timeRange)) }
        return lanes
    }

    /// Exports to the end and gives the file its name. Blocks until then.
    ///
    /// - Parameters:
    ///   - isEndedOtherwise: Asked before each frame; true ends the film there, with a whole file. So does `end`.
    ///   - report: Called after each sample.
    /// - Throws: `.reading` or `.source` when the film could be read only up to some point: the file has what was read then. With every other error
    ///   there is no file.
    public func run(isEnded isEndedOtherwise: () -> Bool = { false }, _ report: (FilmCopy.Progress) -> Void = { _ in }) throws(ExportError) {
        func isEnded() -> Bool { isEnding.withLock { $0 } || isEndedOtherwise() }
        do throws(ExportError) {
            let end = try makePasses(isEnded, report)
            let failure = try export(until: end, isEnded, report)
            try check()
            do throws(WritingError) { try writer.finish() } catch { throw .output(error) }
            notices += lanes.flatMap(\.remarks)
            if let failure { throw failure }
        } catch {
            if case .completed = writer.status { throw error }
            writer.cancel()
            throw isCancelled.withLock { $0 } ? .cancelled : error
        }
    }

    /// Makes `run` end the film soon, with a whole file, even where it waits for a source or a decoder that does not answer. Any thread; idempotent.
    public func end() {
        isEnding.change { $0 = true }
        // After passes over the frames, the sound that belongs to them is still to be read.
        for lane in lanes where settings.passes == nil || lane is VideoLane { lane.cancel() }
    }

    /// Makes `run` throw `.cancelled` soon, and removes the file. Any thread; idempotent. Does nothing when the film is whole.
    public func cancel() {
        isCancelled.change { $0 = true }
        for lane in lanes { lane.cancel() }
    }

    private func check() throws(ExportError) { if isCancelled.withLock({ $0 }) { throw .cancelled } }

    /// Makes all passes over the tracks of video that need several.
    ///
    /// - Returns: Where the film ends, when a pass was ended early.
    private func makePasses(_ isEnded: () -> Bool, _ report: (FilmCopy.Progress) -> Void) throws(ExportError) -> MediaTime? {
        let start = settings.timeRange.start
        for case let lane as VideoLane in lanes {
            while let number = lane.nextPass {
                var progress = FilmCopy.Progress()
                progress.duration = duration
                progress.pass = number
                progress.passCount = settings.passes?.maximumPassCount ?? 1
                func note(_ time: MediaTime) {
                    progress.time = max(time - start, .zero)
                    progress.sampleCount += 1
                    report(progress)
                }
                let isWhole = try lane.makePass(isEnded: { isEnded() || isCancelled.withLock { $0 } }, note)
                try check()
                guard !isWhole else { continue }
                // A pass that only gathered statistics makes no film.
                if lane.hasOnlyStatistics { throw .cancelled }
                return lane.endAfterCut
            }
        }
        return nil
    }

    /// - Parameter end: The film ends there, whatever `isEnded` says; nil asks `isEnded`.
    /// - Returns: Why the film could not be read to its end.
    private func export(
        until end: MediaTime?, _ isEnded: () -> Bool, _ report: (FilmCopy.Progress) -> Void
    ) throws(ExportError) -> ExportError? {
        let range = settings.timeRange
        do throws(WritingError) { try writer.start(atSourceTime: range.start) } catch { throw .output(error) }
        if range.end.isNumeric, lanes.contains(where: { $0 is CopyLane }) { writer.endSession(atSourceTime: range.end) }
        var progress = FilmCopy.Progress(), failure: ExportError?
        progress.duration = duration
        func receive(_ sample: SampleBuffer, _ input: AssetWriterInput) throws(WritingError) {
            try input.append(sample)
            progress.sampleCount += 1
            progress.byteCount += sample.byteCount
            if sample.decodeTime.isNumeric { progress.time = max(sample.decodeTime - range.start, progress.time) }
            report(progress)
        }
        var left = lanes
        while let index = left.indices.min(by: { left[$0].time < left[$1].time }), failure == nil, end != nil || !isEnded() {
            try check()
            if let end, left[index].time >= end, !(left[index] is VideoLane) {
                try left.remove(at: index).complete(receive)
                continue
            }
            do throws(ExportError) {
                if try left[index].step(receive) { continue }
            } catch {
                switch error {
                case .source, .reading: failure = end == nil && isEnded() ? nil : error
                default: throw error
                }
            }
            if failure == nil { try left.remove(at: index).complete(receive) }
        }
        for lane in left { try lane.complete(receive) }
        return failure ?? lanes.lazy.compactMap { ($0 as? VideoLane)?.unreadable }.first
    }
}
