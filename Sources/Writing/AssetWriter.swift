internal import Demuxing
internal import Dispatch
internal import Glibc
public import Media
internal import SampleQueue

/// Writes compressed samples into a film file: MP4, MOV, Matroska, WebM or MPEG-TS. The counterpart of `AVAssetWriter`, on libavformat.
///
///     let writer = try AssetWriter(path: "film.mp4")
///     let video = try writer.addInput(TrackDescription(format: .video(format)))
///     try writer.start()
///     while let sample = … { try video.append(sample) }
///     video.markAsFinished()
///     try writer.finish()
///
/// The file appears under its name when it is whole; until then it has a temporary name in the same folder (`.NAME.….part`), which is removed
/// when writing fails or is cancelled. With `isFragmented` it appears with the first fragment, and keeps its whole fragments whatever happens.
///
/// The name `film.m3u8` makes a film for HTTP Live Streaming (RFC 8216): `film.mp4` in fragments, and beside it the playlist, which names each
/// fragment as a range of the film's bytes and grows with the film. `film.master.m3u8` says codecs, size and rate. `film.mpd` makes one for DASH: a
/// file for each track, `film.0.mp4` and so on, and the manifest, which appears when all are whole.
///
/// Samples of all inputs are written in the order of their decode times. While an input brings nothing, the samples of the others wait; beyond
/// `AssetWriterOptions.interleaving` they are written all the same, and `starvingInputs` names it. So memory is bounded, and no caller has to wait.
///
/// Thread-safety: all of it. Each input is fed by one thread at a time. The thread that appends writes, so `append` blocks while the disk does; for
/// inputs that expect their data in real time another thread writes.
public final class AssetWriter: Sendable {
    /// How far writing has come. The counterpart of `AVAssetWriter.Status`.
    public enum Status: Sendable, Hashable {
        /// `start` has not been called.
        case unknown
        /// Samples are taken.
        case writing
        /// The file is whole.
        case completed
        /// Writing ended with an error, and the file is gone, or has its whole fragments.
        case failed(WritingError)
        /// `cancel` was called, and the file is gone.
        case cancelled
    }

    /// As given to `init`.
    public let path: String
    /// The container that is written.
    public let container: FileContainer
    /// As given to `init`.
    public let options: AssetWriterOptions
    let files: FilmFiles
    /// Of a film for HTTP Live Streaming.
    let streamed: StreamedFilm?
    let state: Monitor<AssetWriterState>

    /// Creates the file under its temporary name.
    ///
    /// - Throws: `exists`, `cannotCreate`, or `unsupported` where no container is known for the name or options exclude each other.
    public init(path: String, options given: AssetWriterOptions = AssetWriterOptions()) throws(WritingError) {
        var options = given
        let filmPath = options.container == nil ? StreamedFilm.filmPath(ofListAt: path) : nil
        if filmPath != nil { (options.container, options.isFragmented) = (.mp4, true) }
        guard let container = options.container ?? FileContainer(path: path) else {
            throw WritingError(.unsupported, path, "its ending names no container that can be written (mp4, mov, mkv, webm, ts, m3u8, mpd)")
        }
        if container == .dash { options.isFragmented = true }
        if !container.hasEditLists, options.movesIndexToFront {
            throw WritingError(.unsupported, path, "only MP4 and MOV have an index that can be in front")
        }
        if options.cover != nil, !container.holdsCover { throw WritingError(.unsupported, path, "\(container.rawValue) has no place for a cover") }
        if options.isFragmented, options.movesIndexToFront {
            throw WritingError(.unsupported, path, "a film in fragments has no index to put in front")
        }
        self.path = path
        self.container = container
        self.options = options
        files = try FilmFiles(path: filmPath ?? path, container: container, overwrites: options.overwrites)
        do throws(WritingError) {
            streamed = if let filmPath { try StreamedFilm(listPath: path, filmPath: filmPath, options) } else { nil }
        } catch {
            files.discard()
            throw error
        }
        state = Monitor(AssetWriterState(path: path, options: options, isStreamed: filmPath != nil || container == .dash))
    }

    deinit { files.discard() }

    /// No player hides what the samples show before the beginning. Parts for web servers are shown whole.
    var showsLeadIn: Bool { !container.hasEditLists || isForWebServers }
    /// HTTP Live Streaming and DASH.
    var isForWebServers: Bool { streamed != nil || container == .dash }

    // MARK: Before the first sample

    /// Adds a track. Call it before `start`.
    ///
    /// - Parameter expectsMediaDataInRealTime: The source cannot wait, as a camera: see `AssetWriterInput.expectsMediaDataInRealTime`.
    /// - Throws: `unsupported` where the container cannot hold the format.
    public func addInput(_ track: TrackDescription, expectsMediaDataInRealTime: Bool = false) throws(WritingError) -> AssetWriterInput {
        let number = state.withLock { $0.status == .unknown ? $0.inputs.count : nil }
        guard let number else { throw WritingError(.notWriting, path, "tracks are added before writing starts") }
        guard container.canHold(track.kind, track.format), try files.addStream(track) else {
            throw WritingError(.unsupported, path, input: number, "\(container.rawValue) cannot hold \(Self.name(track.format))")
        }
        state.withLock { $0.addInput(track, isRealTime: expectsMediaDataInRealTime) }
        return AssetWriterInput(writer: self, number: number, track: track, expectsMediaDataInRealTime: expectsMediaDataInRealTime)
    }

    /// Has a track name another one; see `AssetWriterInput.addTrackReference`.
    func addReference(_ kind: TrackReference.Kind, from input: Int, to other: Int) throws(WritingError) {
        guard container.hasEditLists, container != .dash else {
            throw WritingError(.unsupported, path, input: input, "\(container.rawValue) has no place for what tracks are to each other")
        }
        let isInTime = state.withLock { state in
            guard state.status == .unknown else { return false }
            if !state.references.contains(where: { $0 == (input, kind, other) }) { state.references.append((input, kind, other)) }
            return true
        }
        if !isInTime { throw WritingError(.notWriting, path, input: input, "tracks name others before writing starts") }
    }

    /// Keeps what the tracks of a film are to each other where both are written and the container has a place for it. The titles of chapters are
    /// written by other means.
    ///
    /// - Parameter inputs: By the numbers of the film's tracks.
    func keepReferences(of tracks: [AssetTrack], _ inputs: [Int: AssetWriterInput]) throws(WritingError) {
        guard container.hasEditLists, container != .dash else { return }
        for track in tracks {
            for reference in track.references where reference.kind != .chapterList {
                for named in reference.tracks {
                    if let from = inputs[track.id], let to = inputs[named] { try from.addTrackReference(reference.kind, to: to) }
                }
            }
        }
    }

    private static func name(_ format: MediaFormat) -> String {
        switch format {
        case .video(let format): format.codec.name
        case .audio(let format): format.codecName
        case .other(let name): name
        }
    }

    /// Begins the film at a time of the source: what is shown at `time` is shown at 0. Samples before it are kept for decoding; where the container
    /// has edit lists it hides them.
    ///
    /// - Throws: `unsupported` where the container refuses the tracks, `cannotWrite`.
    public func start(atSourceTime time: MediaTime = .zero) throws(WritingError) { try start(atSourceTime: time, shownFrom: nil) }

    /// - Parameter shown: Source time from which on the film is to be seen, when samples before it come. In fragments the index has the samples of
    ///   the first one then, so that FFmpeg hides them; the list of a film for HTTP Live Streaming asks players to begin there.
    func start(atSourceTime time: MediaTime, shownFrom shown: MediaTime?) throws(WritingError) {
        let hidesLeadIn = shown != nil && options.isFragmented && !showsLeadIn
        if let shown { streamed?.leadIn = shown - time }
        let tracks = state.withLock { $0.status == .unknown && time.isNumeric ? $0.inputs.map(\.track) : [] }
        guard !tracks.isEmpty else { throw WritingError(.notWriting, path, "writing starts once, at a number, and with a track") }
        streamed?.tracks = tracks
        let chapters = options.chapters.map { chapter in
            AssetChapter(range: MediaTimeRange(start: max(chapter.range.start - time, .zero), end: chapter.range.end - time), title: chapter.title)
        }
        let plan = Muxer.Plan(
            chapters: chapters.filter { $0.range.duration > .zero }, references: state.withLock { $0.references }, hidesLeadIn: hidesLeadIn)
        do throws(WritingError) {
            try files.begin(options, plan) { Self.timescale($0.map { [tracks[$0]] } ?? tracks) }
        } catch {
            fail(error)
            throw error
        }
        state.withLock { state in
            state.status = .writing
            state.start = time
            state.hidesLeadIn = hidesLeadIn
        }
        callProducers()
    }

    /// Units in a second for the lengths in edit lists: those of the first video track and the first of sound, so that they are exact for both.
    private static func timescale(_ tracks: [TrackDescription]) -> Int32 {
        let usual: ClosedRange<Int64> = 600...1_000_000
        let units = [AssetTrack.Kind.video, .audio].compactMap { kind in tracks.first { $0.kind == kind }.map { Int64($0.timeBase.denominator) } }
        guard let film = units.first ?? tracks.first.map({ Int64($0.timeBase.denominator) }), usual.contains(film) else { return 1000 }
        let sound = units.last ?? film
        guard sound > 0 else { return Int32(film) }
        let both = film / Int64(MediaTime.greatestCommonDivisor(UInt128(film), UInt128(sound))) * sound
        return Int32(usual.contains(both) ? both : film)
    }

    // MARK: While writing

    /// How far it has come.
    public var status: Status { state.withLock { $0.status } }
    /// Why writing failed.
    public var error: WritingError? { state.withLock { $0.error } }
    /// The numbers of inputs that brought nothing while the others reached the limits, so that these were written without waiting.
    public var starvingInputs: [Int] { state.withLock { $0.interleaving.starving.sorted() } }
    /// Bytes of samples that wait for others, and the most that ever did.
    public var waitingByteCount: (now: Int, peak: Int) {
        state.withLock { ($0.interleaving.byteCount, $0.interleaving.peakByteCount) }
    }

    /// Bytes in the file. What the container still holds, such as a fragment that is not whole, does not count.
    public var writtenByteCount: Int64 { state.withLock { $0.writtenByteCount } }
    /// Bytes of the file that survive a power cut (`AssetWriterOptions.syncsFragments`, and the end).
    public var durableByteCount: Int64 { state.withLock { $0.durableByteCount } }

    /// Ends the film at a time of the source. Where the container has edit lists it hides what samples show after it. Call it before `finish`.
    public func endSession(atSourceTime time: MediaTime) {
        state.withLock { $0.end = time }
    }

    /// - Parameter isRealTime: Another thread writes, and nothing waits.
    /// - Returns: False when the sample is left out.
    func append(_ sample: SampleBuffer, input: Int, isRealTime: Bool) throws(WritingError) -> Bool {
        let accepted: Result<AssetWriterState.Acceptance, WritingError> = state.withLock { state in
            do throws(WritingError) { return .success(try state.append(sample, input: input)) } catch { return .failure(error) }
        }
        do throws(WritingError) {
            switch try accepted.get() {
            case .dropped: return false
            case .write where isRealTime: drainElsewhere()
            case .write: try drain()
            case .queued where isRealTime: break
            case .queued: try waitForRoom(input)
            }
        } catch {
            fail(error)
            throw error
        }
        return true
    }

    /// What fails there is the answer of the next call.
    func markAsFinished(_ input: Int, isRealTime: Bool) {
        let isWriter = state.change { state in
            state.interleaving.finish(input)
            state.inputs[input].request = nil
            return state.becomesWriter()
        }
        guard isWriter else { return }
        if isRealTime { return drainElsewhere() }
        // What fails here is the answer of the next call.
        try? drain()
    }

    // MARK: The end

    /// Writes what waits, completes the file and gives it its name. Blocks until then.
    ///
    /// - Throws: what failed, now or before; the file is gone then.
    public func finish() throws(WritingError) {
        let begin: Result<Void, WritingError>? = state.wait { state in
            if state.isBusy { return nil }
            switch state.status {
            case .writing: break
            case .failed(let error): return .failure(error)
            case .cancelled: return .failure(WritingError(.cancelled, state.path, "writing was cancelled"))
            case .unknown, .completed: return .failure(WritingError(.notWriting, state.path, "there is nothing to finish"))
            }
            for index in state.inputs.indices where state.inputs[index].source == nil { state.interleaving.finish(index) }
            state.isBusy = true
            return .success(())
        }
        try begin?.get()
        try drain()
        let end = state.withLock { state in
            state.isBusy = true
            return state.length
        }
        do throws(WritingError) {
            if let streamed {
                try files.endFragment(end)
                try streamed.endSegment(at: nil, files.whole)
            }
            try files.end(at: end)
            if options.syncsFragments, !files.sync() { throw WritingError.writing(path, errno) }
            try streamed?.publish()
        } catch {
            state.change { state in
                state.failed(error)
                state.isBusy = false
            }
            cleanUp()
            throw error
        }
        noteByteCount()
        state.change { state in
            state.status = .completed
            if options.syncsFragments || !options.isFragmented { state.durableByteCount = state.writtenByteCount }
            state.isBusy = false
        }
    }

    /// Ends writing and removes the file. Does nothing after the end.
    public func cancel() {
        let isOver: Bool? = state.wait { state -> Bool? in
            if state.isBusy { return nil }
            guard state.status == .writing || state.status == .unknown else { return true }
            state.status = .cancelled
            state.interleaving.removeAll()
            return false
        }
        guard isOver == false else { return }
        files.remove()
        streamed?.remove()
    }

    private func fail(_ error: WritingError) {
        let isFirst = state.change { state in
            guard state.error == nil else { return false }
            state.failed(error)
            return true
        }
        if isFirst { cleanUp() }
    }

    /// Leaves no half file: nothing, or whole fragments.
    func cleanUp() {
        files.leaveWholeFragments()
        streamed?.endEarly()
    }
}
