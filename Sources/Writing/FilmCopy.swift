public import Demuxing
public import Media
internal import SampleQueue
public import Sandbox

/// Copies the tracks of a film, or of a part of it, into another file without decoding them: what `play convert --copy` does.
///
/// Thread-safety: one thread at a time, except `end`.
public struct FilmCopy: Sendable {
    /// What is wanted.
    public struct Options: Sendable {
        /// How the file is written.
        public var writer = AssetWriterOptions()
        /// The part of the film. Copying begins at the sync sample at or before its start; MP4 and MOV hide what comes before the start and after
        /// the end, other containers show it, and so do films for web servers. `notices` says how much.
        public var timeRange = MediaTimeRange(start: .zero, end: .positiveInfinity)
        /// The numbers of the tracks; nil copies all that the container can hold.
        public var tracks: Set<Int>?
        /// The process in which the film is read.
        public var sandbox = SandboxOptions()
        /// Ends a wait for the film's source while it is opened, from another thread. Later, `FilmCopy.end` does.
        public var cancellation = AssetCancellation()

        /// The whole film, by default.
        public init() {}
    }

    /// How far copying has come.
    public struct Progress: Sendable {
        /// Film time of the sample written last, from 0 at the beginning of the copy.
        public var time = MediaTime.zero
        /// The length that the copy will have; `.indefinite` when it is not known.
        public var duration = MediaTime.indefinite
        /// Samples handed to the writer.
        public var sampleCount = 0
        /// Their bytes.
        public var byteCount = 0
        /// The pass over the frames that is under way, from 1; nil while samples are written.
        public var pass: Int?
        /// Passes at most.
        public var passCount = 1

        /// Nothing yet.
        public init() {}
    }

    /// Sentences for the viewer: tracks that are left out, and other departures from what was asked for.
    public var notices: [String] { opening + remarks.withLock { $0 } }
    private var opening: [String] = []
    private let remarks = Monitor<[String]>([])
    private let options: Options
    private let reader: any AssetReading
    private let writer: AssetWriter
    private let inputs: [Int: AssetWriterInput]
    private let path: String
    private let isEnding = Monitor(false)

    /// Opens the film and creates the file. Blocks until then.
    public init(from location: String, to path: String, options: Options = Options()) throws(CopyError) {
        self.options = options
        self.path = path
        let source: SourceReader
        do throws(AssetError) {
            var opening = AssetReaderOptions(isThorough: true, cancellation: options.cancellation)
            opening.lists = .inOneVariant
            source = try SourceReader(opening: location, opening, options.sandbox)
        } catch { throw .source(error) }
        reader = source.reader
        if let notice = source.notice { opening.append(notice) }
        var described = options.writer.describing(reader.metadata, title: reader.title, reader.chapters, in: options.timeRange)
        let cover = described.takeCover(of: reader, options.tracks, options.sandbox, to: described.container ?? FileContainer(path: path))
        var inputs: [Int: AssetWriterInput] = [:], left: [AssetTrack] = []
        do throws(WritingError) {
            if let unknown = options.tracks?.subtracting(reader.tracks.map(\.id)).min() {
                throw WritingError(.unsupported, location, "it has no track \(unknown)")
            }
            writer = try AssetWriter(path: path, options: described)
            for track in reader.tracks where options.tracks?.contains(track.id) ?? !track.isInsideFrames {
                // Captions inside frames go with them.
                if !track.isInsideFrames, writer.container.canHold(track.kind, track.format) {
                    inputs[track.id] = try writer.addInput(TrackDescription(track))
                } else if !track.holdsChapters(of: reader), track.id != cover {
                    left.append(track)
                }
            }
            try writer.keepReferences(of: reader.tracks, inputs)
            if inputs.isEmpty { throw WritingError(.unsupported, path, "\(writer.container.rawValue) can hold none of the tracks") }
        } catch { throw .output(error) }
        self.inputs = inputs
        let copied = reader.tracks.filter { inputs[$0.id] != nil }
        if let notice = AlphaLoss(copied: copied, in: writer.container, path: path).notice { opening.append(notice) }
        if !left.isEmpty {
            let names = left.map { "\($0.id) (\(Self.codec($0)))" }.joined(separator: ", ")
            opening.append("\(path): left out, as \(writer.container.rawValue) cannot hold it: track \(names).")
        }
    }

    static func codec(_ track: AssetTrack) -> String {
        switch track.format {
        case .video(let format): format.codec.name
        case .audio(let format): format.codecName
        case .other(let name): name
        }
    }

    /// Copies to the end and gives the file its name. Blocks until then.
    ///
    /// - Parameters:
    ///   - isEndedOtherwise: Asked before each sample; true ends the copy there, with a whole file. So does `end`.
    ///   - report: Called after each sample.
    /// - Throws: `.output` when there is no file, `.source` when the film could be read only up to some point; the file has what was read then.
    public func run(isEnded isEndedOtherwise: () -> Bool = { false }, _ report: (Progress) -> Void = { _ in }) throws(CopyError) {
        func isEnded() -> Bool { isEnding.withLock { $0 } || isEndedOtherwise() }
        var failure: AssetError?
        do throws(WritingError) {
            failure = try copy(isEnded, report)
            if writer.status == .unknown { throw WritingError(.unsupported, path, "nothing of the film lies in the part that is wanted") }
            try writer.finish()
        } catch {
            writer.cancel()
            throw .output(error)
        }
        if let failure { throw .source(failure) }
    }

    /// Makes `run` end the copy soon, with a whole file, even where it waits for a source that does not answer. Any thread; idempotent.
    public func end() {
        isEnding.change { $0 = true }
        reader.cancel()
    }

    private func copy(_ isEnded: () -> Bool, _ report: (Progress) -> Void) throws(WritingError) -> AssetError? {
        reader.select(Set(inputs.keys))
        let range = options.timeRange
        if range.start > .zero || range.end.isNumeric { reader.timeRange = range }
        // A time that is damaged would hold a frame of the copy for hours.
        var film = SteadySamples(reader, for: .copying, from: range.start)
        var progress = Progress(), order = SampleOrder(reader.tracks), isBegun = false
        let end = min(range.end, reader.duration.isNumeric ? reader.duration : range.end)
        if end.isNumeric { progress.duration = end - range.start }
        while !isEnded() {
            let next: SampleBuffer?
            do throws(AssetError) { next = try film.next() } catch { return isEnded() ? nil : error }
            guard let next else { return nil }
            guard let input = inputs[next.trackID], let sample = order.next(next), try begin(at: sample) else { continue }
            guard isWanted(sample, input.track) else { continue }
            if range.start > .zero, !isBegun, input.track.kind == .video || !hasVideo {
                isBegun = true
                noteLeadIn(sample)
            }
            try input.append(sample)
            progress.sampleCount += 1
            progress.byteCount += sample.byteCount
            if sample.decodeTime.isNumeric { progress.time = max(sample.decodeTime - range.start, progress.time) }
            report(progress)
        }
        return nil
    }

    /// Starts the writer with the first sample that can be decoded.
    private func begin(at sample: SampleBuffer) throws(WritingError) -> Bool {
        guard writer.status == .unknown else { return true }
        let range = options.timeRange
        guard range.start > .zero else {
            try writer.start()
            if range.end.isNumeric { writer.endSession(atSourceTime: range.end) }
            return true
        }
        var start = range.start
        if writer.showsLeadIn {
            // It begins with the sync sample of the film.
            guard !hasVideo || inputs[sample.trackID]?.track.kind == .video else { return false }
            start = min(start, sample.shownTime)
        }
        try writer.start(atSourceTime: start, shownFrom: range.start)
        if range.end.isNumeric { writer.endSession(atSourceTime: range.end) }
        return true
    }

    /// Says what players show of the film before the beginning that was wanted.
    private func noteLeadIn(_ first: SampleBuffer) {
        let lead = options.timeRange.start - first.shownTime
        guard lead > .zero else { return }
        let early = "\(MasterList.thousandths(lead.seconds)) s early, at the sync sample"
        let sentence: String
        if !writer.container.hasEditLists {
            sentence = "begins \(early), because \(writer.container.rawValue) has no edit list."
        } else if writer.streamed != nil {
            sentence = "begins \(early), in players that do not obey the list's EXT-X-START."
        } else if writer.showsLeadIn {
            sentence = "begins \(early), because the parts of a film for web servers are shown whole."
        } else {
            return
        }
        remarks.withLock { $0.append("\(path): \(sentence)") }
    }

    private var hasVideo: Bool { inputs.values.contains { $0.track.kind == .video } }

    /// Samples of sound that a decoder needs before the first that is heard: more than two of any codec.
    private static let preroll = MediaTime(value: 1, timescale: 10)

    /// What ends before the beginning, other than video, is left out.
    private func isWanted(_ sample: SampleBuffer, _ track: TrackDescription) -> Bool {
        let start = options.timeRange.start
        guard start > .zero, track.kind != .video, !writer.showsLeadIn else { return true }
        let time = sample.shownTime
        if track.kind != .audio { return time >= start || track.kind == .attachedPicture }
        return time + (sample.duration.isNumeric ? sample.duration : .zero) > start - Self.preroll
    }
}

/// Why a film could not be copied, or not to its end.
public enum CopyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The film cannot be read, or not further.
    case source(AssetError)
    /// The file cannot be written.
    case output(WritingError)

    /// One sentence.
    public var description: String {
        switch self {
        case .source(let error): error.description
        case .output(let error): error.description
        }
    }
}
