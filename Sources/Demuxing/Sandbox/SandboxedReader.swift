internal import Glibc
public import Media
public import SampleQueue
public import Sandbox

/// As `AssetReader`, with libavformat in a process of its own that has no rights: a film that breaks the demuxer breaks only that.
///
/// This process opens the file or address and reads the bytes that the other asks for; samples come back through memory that both share,
/// and are copied out of it before anybody looks at them. When the process dies or hangs, reading ends with an error of one sentence
/// (`.readerDied`); a seek starts another process.
///
///     let reader = try SandboxedReader(url: "film.mkv", sandbox: SandboxOptions(policy: .full))
///     while let sample = try reader.nextSample() { … }
///
/// Containers that make network connections of their own (RTSP) are refused with `.sandbox`.
///
/// Thread-safety: as `AssetReader`.
public final class SandboxedReader: AssetReading, @unchecked Sendable {
    public let location: String
    public let tracks: [AssetTrack]
    public let duration: MediaTime
    public let containerName: String
    public let title: String?
    public let isSeekable: Bool
    /// What the process has given up.
    public let report: SandboxReport
    public var timeRange = MediaTimeRange(start: .zero, end: .positiveInfinity) { didSet { pass(.timeRange(timeRange)) } }

    private let options: AssetReaderOptions
    private let sandbox: SandboxOptions
    /// For who watches it; `link` belongs to the thread that reads.
    private let process: Monitor<SandboxedProcess>
    private var link: DemuxerLink
    private var policy: RestartPolicy
    private var selected: Set<Int>
    private var unpacking = Unpacking()
    /// Samples that have come and not been handed out.
    private var ready: ArraySlice<SampleBuffer> = []
    /// The process has been asked for samples and has not laid out all of them yet.
    private var isReading = false
    private var isAtEnd = false
    /// To be thrown once what came before has been handed out.
    private var failure: AssetError?
    /// The process has gone.
    private var death: AssetError?

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
        isSeekable = opened.film.isSeekable
        report = opened.report
        link = opened.link
        process = Monitor(opened.link.process)
        policy = RestartPolicy(limit: sandbox.restarts)
        self.options = options
        self.sandbox = sandbox
        selected = Set(tracks.map(\.id))
    }

    deinit { link.process.end() }

    /// Starts a demuxer process ahead of need; the next reader takes it. Returns at once.
    public static func prepare(_ sandbox: SandboxOptions) {
        guard sandbox.policy.includesDemuxer, let program = try? SandboxProgram.demuxer.find(sandbox.decoderPath) else { return }
        SpareProcesses.shared.prepare(SpareProcesses.Key(program: program)) { try SandboxedProcess.start(program) }
    }

    /// The process in use, for who wants to watch it; nil after the end.
    public var processIdentifier: Int32? { process.withLock { $0 }.pid }

    /// Makes a blocked call, and every later one, fail soon with `cancelled`.
    public func cancel() { options.cancellation.cancel() }

    /// As `AssetReader.select`. A track that is added while reading comes in a little later: up to 32 samples have been read ahead.
    public func select(_ trackIDs: Set<Int>) {
        selected = trackIDs.intersection(tracks.map(\.id))
        ready = ready.filter { selected.contains($0.trackID) }[...]
        pass(.select(selected.sorted()))
    }

    public func nextSample() throws(AssetError) -> SampleBuffer? {
        while true {
            if let sample = ready.popFirst() { return sample }
            if let failure {
                self.failure = nil
                throw failure
            }
            if isAtEnd { return nil }
            if !isReading {
                try talk { () throws(ProcessEnd) in try link.ask(.read) }
                isReading = true
            }
            try talk { () throws(ProcessEnd) in try hear() }
        }
    }

    /// As `AssetReader.seek`. Where the process has died, another one reads the film from there.
    public func seek(to time: MediaTime) throws(AssetError) {
        do throws(AssetError) {
            try go(to: time)
        } catch {
            guard let death else { throw error }
            try restart(after: death)
            try go(to: time)
        }
    }

    private func go(to time: MediaTime) throws(AssetError) {
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

    /// - Throws: `death` where there can be no other process, or it finds another film.
    private func restart(after death: AssetError) throws(AssetError) {
        guard isSeekable, death.code == .readerDied, policy.mayRestart(afterDeathAt: MonotonicClock.shared.now()) else { throw death }
        let opened = try DemuxerOpening.open(location, options, sandbox)
        guard opened.tracks == tracks else {
            opened.link.process.end()
            throw AssetError(.damaged, "\(location): it has changed while it was read.")
        }
        link = opened.link
        process.withLock { $0 = opened.link.process }
        self.death = nil
        isReading = false
        unpacking.reset()
        pass(.select(selected.sorted()))
        pass(.timeRange(timeRange))
    }

    /// Asks for what has no answer besides having been done; what goes wrong is thrown with the next sample.
    private func pass(_ request: DemuxerRequest) {
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
            failure = error
        }
    }

    private func finishReading() throws(AssetError) {
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
        case .confined, .opened, .track, .bytes, .other, .closed: throw ProcessEnd.unasked
        }
    }

    /// Does something with the process; an end of the process ends reading for good.
    private func talk(_ body: () throws(ProcessEnd) -> Void) throws(AssetError) {
        if let death { throw death }
        do throws(ProcessEnd) {
            try body()
        } catch {
            let error = link.end(error, location)
            death = error
            isReading = false
            throw error
        }
    }
}
