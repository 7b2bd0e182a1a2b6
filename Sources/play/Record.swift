internal import ArgumentParser
internal import CEnding
internal import Capture
internal import Media
internal import PlaySupport
internal import Player
internal import Writing

/// `play record OUT`: a camera into a file, a microphone, or both.
struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record a camera into a file, a microphone, or both.",
        discussion:
            "The container follows from the ending of OUT: mp4, mov, mkv and ts get h264 and aac, webm gets vp9 and opus. --microphone alone records "
            + "sound, with an option of the camera both. Ctrl-C ends the recording; a second one ends the program without completing the file. The "
            + "last line says what was lost, and why.")

    @Argument(help: "The file to be written.")
    var output: String

    @OptionGroup var camera: CameraArguments

    /// Stands for the system's default.
    private static let standard = "auto"

    @Option(
        defaultAsFlag: standard,
        help: ArgumentHelp(
            "Sound from a microphone: its name, a part of it, or ALSA's name, as `devices` lists them; by default the system's.",
            valueName: "name|hw:…"))
    var microphone: String?

    @Option(help: ArgumentHelp("End after this much time; otherwise at Ctrl-C.", valueName: "time"))
    var duration: TimeArgument?

    @Option(help: ArgumentHelp("The codec: h264, hevc, vp9, mjpeg.", valueName: "codec"))
    var video: String?

    @Option(help: ArgumentHelp("Bits a second of the video: 800k, 2.5M.", valueName: "rate"))
    var bitrate: RateArgument?

    @Option(help: ArgumentHelp("The codec of the sound: aac, opus, flac.", valueName: "codec"))
    var audio: String?

    @Option(help: ArgumentHelp("Bits a second of the sound: 96k.", valueName: "rate"))
    var audioBitrate: RateArgument?

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
        if microphone == nil, audio != nil || audioBitrate != nil { throw ValidationError("--audio and --audio-bitrate need --microphone.") }
        if !recordsCamera, video != nil || bitrate != nil || reconnect {
            throw ValidationError("--video, --bitrate and --reconnect need --camera where there is --microphone.")
        }
    }

    private var recordsCamera: Bool { microphone == nil || camera.isNamed }

    /// A minute to complete the file after a signal.
    private static let patience: Int32 = 60_000

    func run() throws {
        ending_on_signals(Self.patience)
        var sound = MicrophoneOptions()
        sound.name = microphone == Self.standard ? nil : microphone
        sound.codec = audio
        sound.bitRate = audioBitrate?.bits
        let isEnded = { ending_requested() != 0 }
        if recordsCamera {
            var options = CameraRecording.Options()
            options.codec = video
            options.bitRate = bitrate?.bits
            options.duration = duration?.time
            options.writer = writer
            options.reconnects = reconnect
            options.microphone = microphone == nil ? nil : sound
            if !quiet { options.onNotice = { Terminal.write($0.printable + "\n") } }
            let report = try CameraRecording(camera.name, camera.request, to: output, options: options).run(isEnded: isEnded)
            let lost = CaptureDrop.Reason.allCases.map { ($0.rawValue, report.camera.dropped[$0] ?? 0) }
            let outages = report.interruptions == 0 ? "" : ", unplugged \(report.interruptions == 1 ? "once" : "\(report.interruptions) times")"
            say(["\(report.frames) frames, \(Self.losses(lost))\(outages)"] + (report.sound.map { [Self.words($0)] } ?? []))
        } else {
            let recording = try SoundRecording(sound, to: output, duration: duration?.time, writer: writer)
            say([Self.words(try recording.run(isEnded: isEnded))])
        }
    }

    private var writer: AssetWriterOptions {
        var options = AssetWriterOptions()
        options.isFragmented = fragmented
        options.fragmentDuration = MediaTime(value: 1, timescale: 2)
        options.overwrites = overwrite
        return options
    }

    private func say(_ parts: [String]) {
        if !quiet { Terminal.write("\(output): \(parts.joined(separator: "; ")).".printable + "\n") }
    }

    private static func losses(_ losses: [(reason: String, count: Int)]) -> String {
        let lost = losses.filter { $0.count > 0 }.map { "\($0.count) \($0.reason)" }
        return lost.isEmpty ? "none lost" : "lost: \(lost.joined(separator: ", "))"
    }

    /// `12.34 s of sound, lost: 4800 samples by overrun`.
    private static func words(_ sound: MicrophoneReport) -> String {
        let seconds = (sound.time.seconds * 100).rounded() / 100
        let lost = AudioCaptureLoss.Reason.allCases.map {
            ("samples by \($0 == .overrun ? "an overrun" : "a slow encoder")", sound.microphone.lost[$0] ?? 0)
        }
        return "\(seconds) s of sound, \(losses(lost))"
    }
}
