internal import ArgumentParser
internal import CEnding
internal import Capture
internal import Media
internal import PlaySupport
internal import Player
internal import Writing

/// `play record OUT`: a camera into a file.
struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record a camera into a file.",
        discussion:
            "The container follows from the ending of OUT: mp4, mov, mkv and ts get h264, webm gets vp9. Ctrl-C ends the recording; a "
            + "second one ends the program without completing the file. The last line says what was lost, and why.")

    @Argument(help: "The file to be written.")
    var output: String

    @OptionGroup var camera: CameraArguments

    @Option(help: ArgumentHelp("End after this much time; otherwise at Ctrl-C.", valueName: "time"))
    var duration: TimeArgument?

    @Option(help: ArgumentHelp("The codec: h264, hevc, vp9, mjpeg.", valueName: "codec"))
    var video: String?

    @Option(help: ArgumentHelp("Bits a second: 800k, 2.5M.", valueName: "rate"))
    var bitrate: RateArgument?

    @Flag(
        inversion: .prefixedNo,
        help: "Write in fragments of half a second, so that what was recorded can be played whatever happens, or in one piece.")
    var fragmented = true

    @Flag(help: "When the camera is unplugged, wait for its return and continue.")
    var reconnect = false

    @Flag(help: "Replace OUT when the new file is whole.")
    var overwrite = false

    @Flag(name: .shortAndLong, help: "Print errors only.")
    var quiet = false

    mutating func validate() throws {
        if let duration, duration.time <= .zero { throw ValidationError("--duration must be above zero.") }
    }

    /// A minute to complete the file after a signal.
    private static let patience: Int32 = 60_000

    func run() throws {
        ending_on_signals(Self.patience)
        var options = CameraRecording.Options()
        options.codec = video
        options.bitRate = bitrate?.bits
        options.duration = duration?.time
        options.writer.isFragmented = fragmented
        options.writer.fragmentDuration = MediaTime(value: 1, timescale: 2)
        options.writer.overwrites = overwrite
        options.reconnects = reconnect
        if !quiet { options.onNotice = { Terminal.write($0.printable + "\n") } }
        let recording = try CameraRecording(camera.name, camera.request, to: output, options: options)
        let report = try recording.run(isEnded: { ending_requested() != 0 })
        guard !quiet else { return }
        let lost = CaptureDrop.Reason.allCases.compactMap { reason in
            report.camera.dropped[reason].flatMap { $0 > 0 ? "\($0) \(reason.rawValue)" : nil }
        }
        let losses = lost.isEmpty ? "none lost" : "lost: \(lost.joined(separator: ", "))"
        let outages = report.interruptions == 0 ? "" : ", unplugged \(report.interruptions == 1 ? "once" : "\(report.interruptions) times")"
        Terminal.write("\(output): \(report.frames) frames, \(losses)\(outages).".printable + "\n")
    }
}
