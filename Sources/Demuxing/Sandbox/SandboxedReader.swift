internal import Glibc
public import Media
public import SampleQueue
public import Sandbox

/// Reads a film as `AssetReader` does, with libavformat in a separate process without rights: a film that breaks the demuxer breaks only that.
///
/// This process opens the file or address and reads the bytes that the other asks for. Samples come back through shared memory, and are
/// copied out of it before anybody looks at them. When the process dies or hangs, another one goes on with the next sample. Reading ends with
/// `.readerDied` when processes die more often than `SandboxOptions.restarts` allows, when two die at the same sample, or when the source
/// cannot be read again; a seek starts another process then.
///
///     let reader = try SandboxedReader(url: "film.mkv", sandbox: SandboxOptions(policy: .full))
///     while let sample = try reader.nextSample() { … }
///
/// Containers that make network connections of their own (RTSP) are refused with `.sandbox`.
///
/// Thread-safety: as `AssetReader`.
public final class SandboxedReader: AssetReading, @unchecked Sendable {
    /// The path or URL, as given to `init`.
    public let location: String
    /// All tracks, in the order of their numbers.
    public let tracks: [AssetTrack]
    /// Length of the film; indefinite for a live stream.
    public let duration: MediaTime
    /// libavformat's name of the container.
    public let containerName: String
    /// The film's title, where its container has one.
    public let title: String?
    /// Texts about the film, as `AssetReader.metadata`; without control characters, and none longer than 1000 bytes.
    public let metadata: [String: String]
    /// Parts of the film with names, as `AssetReader.chapters`. What is said of texts holds for titles.
    public let chapters: [AssetChapter]
    /// Whether `seek` can be expected to work.
    public let isSeekable: Bool
    /// As `AssetReader.offer`.
    public var offer: VariantOffer? { link.offer }
    /// As `AssetReader.preferredStart`.
    public let preferredStart: MediaTime?
    /// As `AssetReader.bytesReceived`, on the thread that reads; nil also for files and web servers, of which this process reads what the other asks
    /// for.
    public var bytesReceived: Int64? { link.bytesReceived }
    /// What the process has given up.
    public let report: SandboxReport
    /// Only samples in this range are to be shown. Set before reading; a start above 0 seeks. As `AssetReader.timeRange`.
    public var timeRange = MediaTimeRange(start: .zero, end: .positiveInfinity) { didSet { applyTimeRange() } }

    let options: AssetReaderOptions
    let sandbox: SandboxOptions
    /// The process, for any thread; `link` belongs to the thread that reads.
    let process: Monitor<SandboxedProcess>
    var link: DemuxerLink
    var policy: RestartPolicy
    private(set) var selected: Set<Int> { didSet { film = filmTracks } }
    /// The selected tracks with moving frames: decoding begins at their sync samples.
    private var film: Set<Int> = []
    var unpacking = Unpacking()
    /// Samples that have come and not been handed out.
    var ready: ArraySlice<SampleBuffer> = []
    /// The process has been asked for samples and has not laid out all of them yet.
    var isReading = false
    var isAtEnd = false
    /// Thrown once the samples that came before it have been handed out.
    var failure: AssetError?
    /// The process has gone.
    var death: AssetError?
    private var hasToldLoss = false
    /// Where the last of the samples that were handed out ends.
    private var lastEnd = MediaTime.negativeInfinity
    var progress = ReadingProgress()
    /// Processes that died since a sample was handed out last.
    var deathsHere = 0
    let deathCount = Monitor(0)

    /// Starts a demuxer process, or takes the one that `prepare` has started, and opens a film in it. Blocks; `options.cancellation` ends the wait.
    ///
    /// - Parameter location: as for `AssetReader`.
    /// - Throws: as `AssetReader.init`; `.sandbox` when there is no decoder program, it cannot be confined as required, or the film
    ///   cannot be read so; `.readerDied` when the process died of the film.
    public init(url location: String, options: AssetReaderOptions = AssetReaderOptions(), sandbox: SandboxOptions) throws(AssetError) {
        let opened = try DemuxerOpening.open(location, options, sandbox)
        self.location = location
        tracks = opened.tracks
        duration = opened.film.duration
        containerName = opened.film.containerName
        title = opened.film.title
        metadata = opened.metadata
        chapters = opened.chapters
        isSeekable = opened.film.isSeekable
        report = opened.report
        link = opened.link
        preferredStart = opened.link.preferredStart
        process = Monitor(opened.link.process)
        policy = RestartPolicy(limit: sandbox.restarts)
        self.options = options
        self.sandbox = sandbox
        selected = AssetTrack.usual(tracks)
        film = filmTracks
    }

    deinit { link.process.end() }

    /// Starts a demuxer process ahead of need; the next reader takes it. Returns at once.
    public static func prepare(_ sandbox: SandboxOptions) {
        guard sandbox.policy.includesDemuxer, let program = try? SandboxProgram.demuxer.find(sandbox.decoderPath) else { return }
        SpareProcesses.shared.prepare(SpareProcesses.Key(program: program)) { try SandboxedProcess.start(program) }
    }

    /// The process that `prepare` has started, or else a new one.
    static func process(_ program: String) throws(SandboxError) -> SandboxedProcess {
        if let spare = SpareProcesses.shared.take(SpareProcesses.Key(program: program)) { return spare }
        return try SandboxedProcess.start(program)
    }

    /// The process in use, for watching it; nil after the end.
    public var processIdentifier: Int32? { process.withLock { $0 }.pid }

    /// Processes that died or hung. One that is ended because reading was cancelled does not count.
    public var deaths: Int { deathCount.withLock { $0 } }

    /// Makes a blocked call, and every later one, fail soon with `cancelled`.
    public func cancel() { options.cancellation.cancel() }

    /// As `AssetReader.select`. The first samples of a track that is added while reading may be missing: up to 32 samples have been read ahead.
    public func select(_ trackIDs: Set<Int>) {
        selected = trackIDs.intersection(tracks.map(\.id))
        ready = ready.filter { selected.contains($0.trackID) }[...]
        progress.selectionChanged()
        pass(.select(selected.sorted()))
    }

    /// As `AssetReader.nextSample`. When the process dies, another one goes on with the next sample.
    public func nextSample() throws(AssetError) -> SampleBuffer? {
        while true {
            if let sample = ready.popFirst() {
                note(sample)
                return sample
            }
            if failure != nil || isAtEnd, let loss = takeLoss() { throw loss }
            if let failure {
                self.failure = nil
                throw failure
            }
            if isAtEnd { return nil }
            if let death {
                guard try resume(after: death) else { throw death }
            } else {
                // The next round replaces a process that has died.
                try? readSome()
            }
        }
    }

    private var filmTracks: Set<Int> { Set(tracks.filter { $0.kind == .video && selected.contains($0.id) }.map(\.id)) }

    /// As in `AssetReader`: the process only hears that no more bytes come.
    private func takeLoss() -> AssetError? {
        guard !hasToldLoss, !link.isCancelled, let loss = link.loss else { return nil }
        (hasToldLoss, failure, isAtEnd) = (true, nil, true)
        return AssetError.ending(location, at: lastEnd, of: duration, loss)
    }

    private func note(_ sample: SampleBuffer) {
        deathsHere = 0
        let end = sample.presentationTime + (sample.duration.isNumeric ? sample.duration : .zero)
        if end.isNumeric { lastEnd = max(lastEnd, end) }
        guard let mark = ReadingProgress.Mark(sample) else { return }
        progress.note(mark, isEntry: sample.flags.contains(.sync) && (film.isEmpty || film.contains(sample.trackID)))
    }

    /// Takes one answer, and asks for samples where none are under way.
    func readSome() throws(AssetError) {
        if !isReading {
            try talk { () throws(ProcessEnd) in try link.ask(.read) }
            isReading = true
        }
        try talk { () throws(ProcessEnd) in try hear() }
    }

    /// As `AssetReader.seek`. Where the process has died, another one reads the film from there.
    public func seek(to time: MediaTime) throws(AssetError) {
        do throws(AssetError) {
            try go(to: time)
        } catch {
            guard let death else { throw error }
            guard mayRestart(after: death) else { throw death }
            try restart()
            try go(to: time)
        }
        progress.begin(at: time)
        deathsHere = 0
    }

    func go(to time: MediaTime) throws(AssetError) {
        try finishReading()
        ready = []
        failure = nil
        isAtEnd = false
        unpacking.reset()
        try talk { () throws(ProcessEnd) in try link.ask(.seek(time)) }
        isReading = true
        try finishReading()
        ready = []
        guard let failure else { return }
        self.failure = nil
        throw failure
    }

    private func applyTimeRange() {
        if timeRange.start > .zero { progress.begin(at: timeRange.start) }
        pass(.timeRange(timeRange))
    }

    /// Sends a request whose only answer is that it is done. An error is thrown with the next sample.
    func pass(_ request: DemuxerRequest) {
        do throws(AssetError) {
            try finishReading()
            if case .timeRange(let range) = request, range.start > .zero {
                ready = []
                isAtEnd = false
                unpacking.reset()
            }
            try talk { () throws(ProcessEnd) in try link.ask(request) }
            isReading = true
            try finishReading()
        } catch {
            // The next sample or the next seek replaces a process that has died.
            if death == nil { failure = error }
        }
    }

    func finishReading() throws(AssetError) {
        if let death { throw death }
        while isReading { try talk { () throws(ProcessEnd) in try hear() } }
    }

    /// Takes one answer.
    private func hear() throws(ProcessEnd) {
        switch try link.next() {
        case .sample(let described):
            guard described.trackID < tracks.count, ready.count < 2 * DemuxerAnswer.mostSamples else { throw ProcessEnd.unasked }
            let sample = try unpacking.sample(described, of: link.tray, tracks[described.trackID].format)
            if selected.contains(described.trackID) { ready.append(sample) }
        case .part(let byteCount): try unpacking.add(byteCount, of: link.tray)
        case .end: isAtEnd = true
        case .failed(let error): failure = AssetError(error.code, "\(location): \(error.description)")
        case .done:
            isReading = false
            link.process.allowProcessorTime()
        case .confined, .opened, .track, .text, .chapter, .timeline, .font, .bytes, .other, .closed: throw ProcessEnd.unasked
        }
    }

    /// Runs `body` with the process, and records its end.
    func talk(_ body: () throws(ProcessEnd) -> Void) throws(AssetError) {
        if let death { throw death }
        do throws(ProcessEnd) {
            try body()
        } catch {
            let error = link.end(error, location)
            death = error
            isReading = false
            if error.code == .readerDied { deathCount.withLock { $0 += 1 } }
            throw error
        }
    }
}
