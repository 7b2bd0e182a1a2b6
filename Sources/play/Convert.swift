internal import ArgumentParser
internal import CEnding
internal import Glibc
internal import Media
internal import PlaySupport
internal import Player
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

/// `play convert IN OUT --copy`: copies a film into another file.
struct Convert: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a film, or a part of it, into another file.",
        discussion: "The container follows from the ending of OUT: mp4, mov, mkv, webm, ts. OUT appears when it is whole. Progress is a line on a "
            + "terminal, and JSON lines on standard output otherwise. Ctrl-C ends the file there.")

    @Argument(help: "A file or a URL that libavformat opens.")
    var input: String

    @Argument(help: "The file to be written.")
    var output: String

    @Flag(help: "Copy the compressed samples as they are.")
    var copy = false

    @Option(help: ArgumentHelp("Begin here, exactly in MP4 and MOV, else at the sync sample before.", valueName: "time"))
    var start: TimeArgument?

    @Option(help: ArgumentHelp("Copy no more than this.", valueName: "time"))
    var duration: TimeArgument?

    @Option(help: ArgumentHelp("Only these tracks, by their numbers in play info, separated by commas.", valueName: "numbers"))
    var tracks: NumbersArgument?

    @Flag(help: "Write MP4 or MOV in fragments: what is written can be played, whatever happens.")
    var fragmented = false

    @Flag(help: "Put the index of MP4 or MOV in front.")
    var faststart = false

    @Flag(help: "Replace OUT when the new file is whole.")
    var overwrite = false

    @Option(help: ArgumentHelp("As for playback: full and require read the file in a process without rights.", valueName: "off|decoder|full|require"))
    var sandbox: SandboxChoice = .off

    mutating func validate() throws {
        if !copy { throw ValidationError("Only --copy is there: play convert IN OUT --copy.") }
        if let duration, duration.time <= .zero { throw ValidationError("--duration must be above zero.") }
        if fragmented, faststart { throw ValidationError("--fragmented and --faststart exclude each other.") }
    }

    /// A minute to complete a file after a signal.
    private static let patience: Int32 = 60_000

    func run() throws {
        ending_on_signals(Self.patience)
        var options = FilmCopy.Options()
        options.writer.isFragmented = fragmented
        options.writer.movesIndexToFront = faststart
        options.writer.overwrites = overwrite
        options.tracks = tracks?.numbers
        options.sandbox = SandboxOptions(policy: SandboxPolicy(rawValue: sandbox.rawValue) ?? .off)
        let begin = start?.time ?? .zero
        options.timeRange = MediaTimeRange(start: begin, end: duration.map { begin + $0.time } ?? .positiveInfinity)
        let film: FilmCopy
        do throws(CopyError) { film = try FilmCopy(from: input, to: output, options: options) } catch { throw PlayerError(error) }
        for notice in film.notices { Terminal.write(notice.printable + "\n") }
        let reporter = Reporter()
        do throws(CopyError) {
            try film.run(isEnded: { ending_requested() != 0 }, reporter.report)
        } catch {
            reporter.erase()
            throw PlayerError(error)
        }
        try reporter.end()
    }

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
