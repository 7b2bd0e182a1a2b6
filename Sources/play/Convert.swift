internal import ArgumentParser
internal import Composition
internal import Demuxing
internal import Encoding
internal import Glibc
internal import JSON
internal import Media
internal import PlaySupport
internal import Player
internal import Reading
internal import Sandbox
internal import Writing

/// Numbers separated by commas: `0,2`.
struct NumbersArgument: ExpressibleByArgument {
    let numbers: Set<Int>

    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.numbers = Set(numbers)
    }
}

/// Bits a second: `800k`, `2.5M`, `128000`.
struct RateArgument: ExpressibleByArgument {
    let bits: Int

    init?(argument: String) {
        let units: [Character: Double] = ["k": 1e3, "K": 1e3, "M": 1e6]
        let unit = argument.last.flatMap { units[$0] }
        guard let number = Double(unit == nil ? argument[...] : argument.dropLast()), number > 0, number * (unit ?? 1) <= 1e9 else { return nil }
        bits = Int(number * (unit ?? 1))
    }
}

/// A quality to be reached: `psnr=42`, `ssim=0.98`.
struct QualityTargetArgument: ExpressibleByArgument {
    let target: QualityTarget

    init?(argument: String) {
        let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let measure = QualityMeasure(rawValue: String(parts[0])), let value = Double(parts[1]) else { return nil }
        target = QualityTarget(measure, value)
    }
}

/// Whether a device encodes.
enum HardwareArgument: String, ExpressibleByArgument {
    case off, prefer, require

    var choice: EncoderSpecification.Hardware {
        switch self {
        case .off: .disable
        case .prefer: .prefer
        case .require: .require
        }
    }
}

/// `play convert IN OUT`: encodes a film anew, or copies it, into another file.
struct Convert: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Encode a film, or a part of it, into another file, or copy it.",
        discussion:
            "The container follows from the ending of OUT, and the usual codecs from that: mp4, mov and ts get h264 and aac, webm gets vp9 and "
            + "opus, mkv gets h264 and the sound as it is; m4a and mka get sound only. film.m3u8 is a playlist for web servers beside its film.mp4, "
            + "film.mpd a manifest of DASH beside a file for each track. "
            + "OUT appears when it is whole. Progress is a line on a terminal, and JSON lines on standard output otherwise. Ctrl-C ends the file "
            + "there; a second one ends the program without it.")

    @Argument(help: "A file or a URL that libavformat opens, or a time line of OpenTimelineIO (.otio).")
    var input: String

    @Argument(help: "The file to be written.")
    var output: String

    @Flag(help: "Copy the compressed samples of all tracks as they are.")
    var copy = false

    @Option(
        help: ArgumentHelp(
            "Codec or encoder of video, with options of the encoder: hevc, prores:profile=hq, libx264:preset=fast,crf=20. Or copy, none.",
            valueName: "codec"))
    var video: String?

    @Option(help: ArgumentHelp("Codec or encoder of sound: aac, opus, flac, pcm_s16le. Or copy, none.", valueName: "codec"))
    var audio: String?

    @Option(
        help: ArgumentHelp(
            "Whether a device encodes video, by VA-API, and decodes it: prefer takes software where none does, and says why; require ends then.",
            valueName: "off|prefer|require"))
    var hardware: HardwareArgument = .off

    @Option(
        help: ArgumentHelp(
            "The render node that encodes, of those that `devices` lists; by default the first one that can.", valueName: "path"))
    var device: String?

    @Option(help: ArgumentHelp("Bits a second of video: 800k, 2.5M.", valueName: "rate"))
    var bitrate: RateArgument?

    @Option(help: ArgumentHelp("Bits a second of sound: 128k.", valueName: "rate"))
    var audioBitrate: RateArgument?

    @Option(help: ArgumentHelp("Constant quality of video, from 0 (worst) to 1 (best), on the encoder's own scale.", valueName: "number"))
    var quality: Double?

    @Option(
        help: ArgumentHelp(
            "Bytes that OUT is to have: 700M, 4000000. The rate of video follows from that and the length of the film, and is kept in two passes, "
                + "or three.",
            valueName: "bytes"))
    var size: ByteCountArgument?

    @Option(
        help: ArgumentHelp(
            "Passes at most over the frames, 1 to 20: the first one learns what they need, the others reach the rate to 1 %. Needs --bitrate, --size "
                + "or --reach.",
            valueName: "number"))
    var passes: Int?

    @Option(
        help: ArgumentHelp(
            "A quality that every part of the film comes near to: psnr=42, ssim=0.98. Parts that miss it are encoded again, in up to --passes "
                + "passes, 6 by default.",
            valueName: "measure"))
    var reach: QualityTargetArgument?

    @Option(help: ArgumentHelp("Size of the frames: 1280x720; 1280x and x720 keep their shape.", valueName: "size"))
    var scale: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Begin here, exactly; what is copied into other files than MP4 and MOV begins at the sync sample before, which is said.",
            valueName: "time"))
    var start: TimeArgument?

    @Option(help: ArgumentHelp("No more than this.", valueName: "time"))
    var duration: TimeArgument?

    @Option(help: ArgumentHelp("Only these tracks, by their numbers in play info, separated by commas.", valueName: "numbers"))
    var tracks: NumbersArgument?

    @Flag(help: "Write in fragments: what is written can be played, whatever happens.")
    var fragmented = false

    @Flag(help: "Put the index of MP4 or MOV in front.")
    var faststart = false

    @Flag(help: "Replace OUT when the new file is whole.")
    var overwrite = false

    @Option(help: ArgumentHelp("As for playback: full and require read the file in a process without rights.", valueName: "off|decoder|full|require"))
    var sandbox: SandboxChoice = .off

    mutating func validate() throws {
        if copy,
            video != nil || audio != nil || bitrate != nil || audioBitrate != nil || quality != nil || scale != nil
                || size != nil || passes != nil || reach != nil || hardware != .off || device != nil
        {
            throw ValidationError(
                "--copy excludes what only encoding can do: --video, --audio, --bitrate, --audio-bitrate, --quality, --scale, "
                    + "--size, --passes, --reach, --hardware, --device.")
        }
        if copy, isTimeline { throw ValidationError("--copy is for films; the frames of a time line are drawn and encoded.") }
        if [bitrate != nil, quality != nil, size != nil].count(where: \.self) > 1 {
            throw ValidationError("--bitrate, --quality and --size exclude each other.")
        }
        if reach != nil, bitrate != nil || size != nil { throw ValidationError("--reach and a rate exclude each other.") }
        if let passes {
            guard (1...20).contains(passes) else { throw ValidationError("--passes is from 1 to 20.") }
            if passes > 1, bitrate == nil, size == nil, reach == nil {
                throw ValidationError("--passes needs something to reach: --bitrate, --size or --reach.")
            }
            if passes == 1, reach != nil { throw ValidationError("--reach needs more than one pass.") }
        }
        if let quality, !(0...1).contains(quality) { throw ValidationError("--quality is from 0 to 1.") }
        if let duration, duration.time <= .zero { throw ValidationError("--duration must be above zero.") }
        if fragmented, faststart { throw ValidationError("--fragmented and --faststart exclude each other.") }
    }

    /// A minute to complete a file after a signal.
    private static let patience: Int32 = 60_000

    func run() throws {
        Ending.awaitSignals(patience: Self.patience)
        let reporter = Reporter()
        do {
            let cancellation = AssetCancellation(), ending = SignalAction { cancellation.cancel() }
            // What it holds would outlive the film in the thread that waits for signals.
            defer { ending.replace {} }
            if copy { try copyFilm(reporter, cancellation, ending) } else { try encodeFilm(reporter, cancellation, ending) }
        } catch {
            reporter.erase()
            throw error
        }
        try reporter.end()
    }

    /// What a signal does, on a thread of its own: it ends opening the film, and the film when that is open.
    private final class SignalAction: Sendable {
        private let action: Monitor<@Sendable () -> Void>

        init(_ action: @escaping @Sendable () -> Void) {
            self.action = Monitor(action)
            _ = LoopThread(name: "ending") { [action = self.action] in
                while !Ending.isRequested { Ending.wait(until: nil) }
                action.withLock { $0 }()
            }
        }

        func replace(_ next: @escaping @Sendable () -> Void) { action.change { $0 = next } }
    }

    private var range: MediaTimeRange {
        let begin = start?.time ?? .zero
        return MediaTimeRange(start: begin, end: duration.map { begin + $0.time } ?? .positiveInfinity)
    }

    private var writer: AssetWriterOptions {
        var options = AssetWriterOptions()
        options.isFragmented = fragmented
        options.movesIndexToFront = faststart
        options.overwrites = overwrite
        return options
    }

    private var sandboxOptions: SandboxOptions { SandboxOptions(policy: SandboxPolicy(rawValue: sandbox.rawValue) ?? .off) }

    private func copyFilm(_ reporter: Reporter, _ cancellation: AssetCancellation, _ ending: SignalAction) throws(PlayerError) {
        var options = FilmCopy.Options()
        options.writer = writer
        options.tracks = tracks?.numbers
        options.sandbox = sandboxOptions
        options.cancellation = cancellation
        options.timeRange = range
        do throws(CopyError) {
            let film = try FilmCopy(from: input, to: output, options: options)
            Self.tell(film.notices)
            let told = film.notices.count
            defer {
                reporter.erase()
                Self.tell(Array(film.notices.dropFirst(told)))
            }
            ending.replace { film.end() }
            try film.run(isEnded: { Ending.isRequested }, reporter.report)
        } catch { throw PlayerError(error) }
    }

    private func encodeFilm(_ reporter: Reporter, _ cancellation: AssetCancellation, _ ending: SignalAction) throws(PlayerError) {
        var settings = ExportSettings()
        settings.writer = writer
        settings.tracks = tracks?.numbers
        settings.sandbox = sandboxOptions
        settings.cancellation = cancellation
        settings.timeRange = range
        settings.hardware = hardware.choice
        settings.device = device
        settings.videoBitRate = bitrate?.bits
        settings.audioBitRate = audioBitrate?.bits
        settings.videoQuality = quality
        settings.size = scale?.size
        settings.byteCount = size.map { Int($0.count) }
        settings.passes = multiPass
        do throws(ExportError) {
            if let video { settings.video = try .init(video) { text throws(ExportError) in try ExportSettings.Codec(videoText: text) } }
            if let audio { settings.audio = try .init(audio) { text throws(ExportError) in try ExportSettings.Codec(audioText: text) } }
            let film = try exportSession(settings)
            Self.tell(film.notices)
            let told = film.notices.count
            defer {
                reporter.erase()
                Self.tell(Array(film.notices.dropFirst(told)))
            }
            ending.replace { film.end() }
            try film.run(isEnded: { Ending.isRequested }, reporter.report)
        } catch { throw PlayerError(error) }
    }

    /// Passes of a search by ranges, when nobody says how many: most parts need three or four.
    private static let usualSearch = 6

    /// With a size: two passes, and a third where they miss it by more than 1 %.
    private static let usualCount = 3

    private var multiPass: MultiPassOptions? {
        if let reach { return MultiPassOptions(target: .quality(reach.target), maximumPassCount: passes ?? Self.usualSearch) }
        guard let count = passes ?? (size == nil ? nil : Self.usualCount), count > 1 else { return nil }
        return MultiPassOptions(maximumPassCount: count)
    }

    private var isTimeline: Bool { TimelineFile.isTimeline(input) }

    private func exportSession(_ settings: ExportSettings) throws(ExportError) -> ExportSession {
        guard isTimeline else { return try ExportSession(from: input, to: output, settings: settings) }
        let file: TimelineFile
        do throws(ReadingError) {
            let source = AssetReaderOptions(cancellation: settings.cancellation)
            file = try TimelineFile(input, size: timelineSize, options: ReadingOptions(source: source, sandbox: sandboxOptions))
        } catch { throw .reading(error) }
        Self.tell(file.notices)
        return try ExportSession(from: file.composition, file.videoComposition, audioMix: file.audioMix, to: output, settings: settings)
    }

    /// Frames are drawn at the size that is wanted, where both sides are given.
    private var timelineSize: PixelSize? {
        guard let size = scale?.size, size.width > 0, size.height > 0 else { return nil }
        return PixelSize(width: (size.width + 1) / 2 * 2, height: (size.height + 1) / 2 * 2)
    }

    private static func tell(_ notices: [String]) { for notice in notices { Terminal.write(notice.printable + "\n") } }

    /// Shows progress, at most once in a while.
    private final class Reporter {
        private let isInteractive = isatty(STDERR_FILENO) == 1
        private let began = MonotonicClock.shared.now()
        private var shown: HostTime
        private var last = FilmCopy.Progress()

        init() { shown = began }

        private var elapsed: Double { Double(MonotonicClock.shared.now().nanoseconds - began.nanoseconds) / 1e9 }
        /// 0.2 s on a terminal, 1 s between JSON lines.
        private var pause: Int64 { isInteractive ? 200_000_000 : 1_000_000_000 }

        func report(_ progress: FilmCopy.Progress) {
            last = progress
            let now = MonotonicClock.shared.now()
            guard now.nanoseconds - shown.nanoseconds >= pause else { return }
            shown = now
            let report = ConversionProgress(progress, elapsed: elapsed)
            if isInteractive {
                Terminal.write("\r\u{1b}[2K" + report.text)
            } else {
                try? StandardOutput.write(report.json(isWhole: false).text + "\n")
            }
        }

        func erase() { if isInteractive { Terminal.write("\r\u{1b}[2K") } }

        func end() throws(PlayerError) {
            erase()
            if !isInteractive { try StandardOutput.write(ConversionProgress(last, elapsed: elapsed).json(isWhole: true).text + "\n") }
        }
    }
}
