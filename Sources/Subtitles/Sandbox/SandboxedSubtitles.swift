internal import DisplaySink
internal import Glibc
internal import Media
internal import SampleQueue
internal import Sandbox

/// Draws subtitles in a process without rights: libavcodec, libass and the font library read a stranger's text and fonts there.
///
/// The process is started when a track is chosen. When it dies or hangs, another one takes its place and is told what the first one had been
/// told, except what it died of. After more deaths than `RestartLimit` allows, or three without anything drawn in between, nothing is shown until
/// a track is chosen again.
///
/// Thread-safety: none; one thread.
final class SandboxedSubtitles: SubtitleDrawing {
    private let tracks: [SubtitleTrack]
    private let film: SubtitleEngine.Film
    private let sandbox: SandboxOptions
    private let launch: () throws(SandboxError) -> SandboxedProcess
    private let notice: @Sendable (String) -> Void
    private let isCancelled: @Sendable () -> Bool
    private var policy: RestartPolicy
    /// Since something was drawn.
    private var deaths = 0
    private var link: SubtitleLink?
    /// No process is started any more.
    private var isLost = false
    private var chosen: Int?
    /// What a process must be told: the samples that were read, the newest of them.
    private var history: [(sample: SubtitleSample, track: Int)] = []
    private var historyBytes = 0
    /// Files that have been read; empty where that failed, or a process died of it.
    private var files: [Int: [UInt8]] = [:]
    private var told: Set<SubtitleTrouble> = []

    /// 8 MiB: text of several films, images of some minutes.
    private static let mostHistory = 8 << 20
    private static let mostDeaths = 3

    /// - Parameters:
    ///   - launch: Starts a process.
    ///   - isCancelled: Called every 50 ms while the process is waited for; true ends the wait and the process.
    init(
        _ tracks: [SubtitleTrack], _ film: SubtitleEngine.Film, _ sandbox: SandboxOptions,
        notice: @escaping @Sendable (String) -> Void, isCancelled: @escaping @Sendable () -> Bool,
        launch: @escaping () throws(SandboxError) -> SandboxedProcess
    ) {
        self.tracks = Array(tracks.prefix(SubtitleAnswer.mostTracks))
        self.film = film
        self.sandbox = sandbox
        self.launch = launch
        self.notice = notice
        self.isCancelled = isCancelled
        policy = RestartPolicy(limit: sandbox.restarts)
    }

    func obey(_ order: SubtitleEngine.Order) -> [Range<Int64>] {
        switch order {
        case .sample(let sample):
            guard let track = tracks.firstIndex(where: { $0.source == .film(track: sample.trackID) }), let sample = SubtitleSample(sample) else {
                return []
            }
            let changes = link.flatMap { link in perform { () throws(ProcessEnd) in try link.add(sample, to: track) } }?.changes
            // What a process died of is not told to the next one.
            if link == nil || changes != nil { remember(sample, track) }
            return changes ?? []
        case .choose(let index):
            guard index != chosen else { return [] }
            chosen = index
            if index != nil, isLost {
                (isLost, deaths) = (false, 0)
                policy = RestartPolicy(limit: sandbox.restarts)
            }
            choose()
            return [.min..<Int64.max]
        case .seek:
            if let link { _ = perform { () throws(ProcessEnd) in try link.ask(.seek) } }
            // As `SubtitleWorker`.
            return chosen.flatMap { tracks[$0].codec.flatMap(SubtitleForm.init) } == .captions ? [.min..<Int64.max] : []
        case .show: return []
        }
    }

    func draw(at time: Int64, _ canvas: OverlayCanvas, _ settings: SubtitleSettings) -> (OverlayImage?, until: Int64) {
        guard settings.isVisible, chosen != nil, let link else { return (nil, .max) }
        // A frame later there is another process, which draws, or none.
        guard let drawn = perform({ () throws(ProcessEnd) in try link.draw(at: time, canvas, settings) }) else { return (nil, time + 1) }
        deaths = 0
        return drawn
    }

    func lines(at time: Int64) -> SubtitleLines {
        guard chosen != nil, let link else { return SubtitleLines() }
        // As `draw`.
        guard let lines = perform({ () throws(ProcessEnd) in try link.lines(at: time) }) else { return SubtitleLines(from: time, until: time + 1) }
        deaths = 0
        return lines
    }

    // MARK: Inside

    /// Bytes; 512 for what libavcodec allocates around a few bytes of captions.
    private static func cost(of sample: SubtitleSample) -> Int { sample.block.count + 512 }

    private func remember(_ sample: SubtitleSample, _ track: Int) {
        history.append((sample, track))
        historyBytes += Self.cost(of: sample)
        guard historyBytes > Self.mostHistory else { return }
        // A tenth at once: captions come with every frame.
        var gone = 0
        while historyBytes > Self.mostHistory / 10 * 9, gone < history.count - 1 {
            historyBytes -= Self.cost(of: history[gone].sample)
            gone += 1
        }
        history.removeFirst(gone)
    }

    /// Tells the process which track to draw; starts one if there is none.
    private func choose() {
        if link == nil, chosen != nil { start() }
        if let link, let chosen, let path = tracks[chosen].path, files[chosen] == nil { load(chosen, path, link) }
        // Unless another process has been told meanwhile.
        if let link { tell(perform { () throws(ProcessEnd) in try link.ask(.choose(drawable)) }) }
    }

    /// The chosen track, unless it is a file that cannot be shown.
    private var drawable: Int? { chosen.flatMap { tracks[$0].path == nil || files[$0]?.isEmpty == false ? $0 : nil } }

    private func load(_ index: Int, _ path: String, _ link: SubtitleLink) {
        files[index] = []
        do throws(SubtitleFileError) {
            let bytes = try SubtitleFile.read(path)
            guard let outcome = perform({ () throws(ProcessEnd) in try link.file(bytes, of: index) }) else { return }
            files[index] = bytes
            tell(outcome)
        } catch { tell(SubtitleTrouble(index, error.reason)) }
    }

    private func tell(_ outcome: SubtitleLink.Outcome?) { for trouble in outcome?.troubles ?? [] { tell(trouble) } }

    private func tell(_ trouble: SubtitleTrouble) {
        if told.insert(trouble).inserted { notice(trouble.sentence(for: tracks)) }
    }

    // MARK: Processes

    /// Starts a process and tells it everything. Nothing is shown when that does not succeed.
    private func start() {
        guard !isLost, !isCancelled() else { return }
        let process: SandboxedProcess
        do throws(SandboxError) {
            process = try launch()
        } catch { return lose(error.description) }
        do throws(SystemError) {
            link = try SubtitleLink(process, deadline: sandbox.hangDeadline, isCancelled: isCancelled)
        } catch { return lose("\(error)") }
        guard let link, let report = perform({ () throws(ProcessEnd) in try link.report() }) else { return }
        guard report.isConfined || sandbox.policy != .require else {
            self.link = nil
            return lose("the process that draws them cannot be confined: \(report.troubles.first ?? "this kernel does not offer it")")
        }
        tell(perform { () throws(ProcessEnd) in try retell(link) })
    }

    private func retell(_ link: SubtitleLink) throws(ProcessEnd) -> SubtitleLink.Outcome {
        var outcome = try link.begin(tracks, film)
        for (track, bytes) in files where !bytes.isEmpty { outcome.troubles += try link.file(bytes, of: track).troubles }
        outcome.troubles += try link.ask(.choose(drawable)).troubles
        for (sample, track) in history { outcome.troubles += try link.add(sample, to: track).troubles }
        return outcome
    }

    /// Asks the process. When it dies of that, another one is started, and the answer is nil.
    private func perform<R>(_ body: () throws(ProcessEnd) -> R) -> R? {
        do throws(ProcessEnd) { return try body() } catch {
            let sentence = link?.process.end() ?? error.sentence
            link = nil
            guard !isCancelled() else { return nil }
            deaths += 1
            let mayRestart = policy.mayRestart(afterDeathAt: MonotonicClock.shared.now()) && deaths <= Self.mostDeaths
            if mayRestart { start() } else { lose("the process that draws them \(sentence)") }
            return nil
        }
    }

    private func lose(_ reason: String) {
        isLost = true
        notice("Subtitles are not shown: \(reason).")
    }

    /// What the font library looks at to find the viewer's fonts.
    private static let variables = [
        "HOME", "LANG", "LC_ALL", "LC_CTYPE", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "FONTCONFIG_SYSROOT", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
        "XDG_DATA_HOME", "XDG_DATA_DIRS",
    ]

    /// A process's environment.
    static let environment: [String] = variables.compactMap { name in
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe "\(name)=\(String(cString: value))"
    }
}
