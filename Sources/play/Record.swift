internal import ArgumentParser
internal import Capture
internal import DisplaySink
internal import Media
internal import PlaySupport
internal import Player
internal import Recording
internal import Writing

/// `play record OUT`: a camera into a file, a microphone, or both.
struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record a camera into a file, a microphone, or both.",
        discussion:
            "The container follows from the ending of OUT: mp4, mov, mkv and ts get h264 and aac, webm gets vp9 and opus. --microphone alone records "
            + "sound, with an option of the camera both. Ctrl-C ends the recording; a second one ends the program without completing the file. In a "
            + "terminal the space bar pauses and resumes, s writes the next frame as a PNG file beside OUT, m sets a marker with "
            + "--markers, p pauses --preview, and q ends. The last "
            + "line says what was lost, and why.")

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

    @Option(help: ArgumentHelp("End after this much time; otherwise at Ctrl-C or q. Pauses do not count.", valueName: "time"))
    var duration: TimeArgument?

    @Option(help: ArgumentHelp("End before the file is larger, in bytes or with KiB, MiB, GiB.", valueName: "size"))
    var maxSize: ByteCountArgument?

    @Option(help: ArgumentHelp("End when less is free where OUT is, in bytes or with KiB, MiB, GiB.", valueName: "size"))
    var minFree: ByteCountArgument?

    @Flag(help: "Add a track of timed metadata; in a terminal m sets a marker.")
    var markers = false

    @Flag(help: "Show the camera too.")
    var preview = false

    @Option(help: "Where --preview shows it: auto, wayland, kms (a monitor without a desktop) or headless.")
    var sink: SinkChoice = .auto

    @Option(help: ArgumentHelp("The monitor of --preview --sink kms, as `play --connector` takes it.", valueName: "name"))
    var connector: String?

    @Option(help: ArgumentHelp("The codec: h264, hevc, vp9, mjpeg.", valueName: "codec"))
    var video: String?

    @Option(
        help: ArgumentHelp(
            "Whether a device encodes the video, by VA-API: prefer takes software where no device does, and says why; require ends then.",
            valueName: "off|prefer|require"))
    var hardware: HardwareArgument = .off

    @Option(
        help: ArgumentHelp(
            "The render node that encodes, of those that `devices` lists; by default the first one that can.", valueName: "path"))
    var device: String?

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
        if !recordsCamera, video != nil || bitrate != nil || hardware != .off || reconnect || preview {
            throw ValidationError("--video, --bitrate, --hardware, --reconnect and --preview need --camera where there is --microphone.")
        }
        if device != nil, hardware == .off { throw ValidationError("--device needs --hardware.") }
        if !preview, sink != .auto { throw ValidationError("--sink needs --preview.") }
        if connector != nil, sink != .kms { throw ValidationError("--connector needs --preview --sink kms.") }
        if case .md5 = sink { throw ValidationError("--preview shows the camera: auto, wayland, kms or headless.") }
    }

    private var recordsCamera: Bool { microphone == nil || camera.isNamed }

    /// A minute to complete the file after a signal.
    private static let patience: Int32 = 60_000

    func run() throws {
        Ending.awaitSignals(patience: Self.patience)
        let terminal = Terminal(), desk = RecordingDesk(output, isQuiet: quiet)
        var options = options
        if !quiet { options.onNotice = { desk.say($0) } }
        let recording = try DeviceRecording(to: output, options: options, isShown: preview)
        let display = preview ? try SinkFactory.make(preview: sink, on: connector) : nil
        let player = try display.map { sink throws(PlayerError) in try show(recording, desk, on: sink) }
        // A monitor without a desktop reads the terminal itself.
        let keyboard = display?.readsTerminal == true ? nil : TerminalKeyboard(besidesFilm: false) { desk.press($0) }
        defer {
            keyboard?.stop()
            player?.close()
        }
        let report = try recording.run(shown: player?.camera) {
            desk.obey(recording, player)
            for sentence in desk.sentences() { terminal.line(sentence) }
            if !quiet, let film = recording.movie.report { terminal.status(RecordingStatusLine(film, longest: duration?.time).text(columns:)) }
            return desk.isOver || Ending.isRequested
        }
        terminal.erase()
        desk.waitForStills()
        for sentence in desk.sentences() { terminal.line(sentence) }
        if !quiet { Terminal.write("\(output): \(Self.words(report).joined(separator: "; ")).".printable + "\n") }
    }

    private var options: DeviceRecording.Options {
        var options = DeviceRecording.Options()
        if recordsCamera { options.camera = .init(camera.name, camera.request) }
        if let microphone { options.microphone = .init(microphone == Self.standard ? nil : microphone, AudioCaptureRequest()) }
        options.reconnects = reconnect
        options.settings.videoCodec = video
        options.settings.videoBitRate = bitrate?.bits
        options.settings.hardware = hardware.choice
        options.settings.device = device
        options.settings.audioCodec = audio
        options.settings.audioBitRate = audioBitrate?.bits
        options.settings.recordsMetadata = markers
        options.settings.maximumDuration = duration?.time
        options.settings.maximumByteCount = maxSize?.count
        options.settings.minimumFreeByteCount = minFree?.count
        options.settings.writer.isFragmented = fragmented
        options.settings.writer.syncsFragments = fragmented
        options.settings.writer.overwrites = overwrite
        return options
    }

    /// Shows the camera; the recording gets its frames beside the display.
    private func show(_ recording: DeviceRecording, _ desk: RecordingDesk, on sink: any DisplaySink) throws(PlayerError) -> Player {
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.reconnectsCamera = reconnect
        configuration.cameraOutputs = recording.cameraOutputs
        let player = Player(sink: sink, configuration: configuration) { event in
            switch event {
            case .notice(let sentence): desk.say(sentence)
            case .key(let key): desk.press(key)
            case .closeRequested: desk.press(.q)
            default: break
            }
        }
        do throws(PlayerError) { try player.open(.camera(camera.name, camera.request)) } catch {
            player.close()
            throw error
        }
        return player
    }

    private static func words(_ report: DeviceRecording.Report) -> [String] {
        var parts: [String] = []
        let film = report.film
        if film.frames > 0 {
            let lost = CaptureDrop.Reason.allCases.map { ($0.rawValue, film.framesDropped[$0] ?? 0) }
            let times = report.interruptions == 1 ? "once" : "\(report.interruptions) times"
            parts.append("\(film.frames) frames, \(losses(lost))\(report.interruptions == 0 ? "" : ", unplugged \(times)")")
        }
        if let sound = film.soundTime {
            let lost = AudioCaptureLoss.Reason.allCases.map {
                ("samples by \($0 == .overrun ? "an overrun" : "a slow encoder")", film.soundLost[$0] ?? 0)
            }
            parts.append("\((sound.seconds * 100).rounded() / 100) s of sound, \(losses(lost))")
        }
        if let encoder = film.videoEncoder { parts.append("encoded by \(encoder)\(film.softwareReason.map { ", because \($0)" } ?? "")") }
        if film.pauses > 0 { parts.append("paused \(film.pauses == 1 ? "once" : "\(film.pauses) times")") }
        switch report.end {
        case .maximumByteCount: parts.append("ended because more would exceed --max-size")
        case .minimumFreeByteCount: parts.append("ended because --min-free bytes are to be left on the disk")
        default: break
        }
        return parts
    }

    private static func losses(_ losses: [(reason: String, count: Int)]) -> String {
        let lost = losses.filter { $0.count > 0 }.map { "\($0.count) \($0.reason)" }
        return lost.isEmpty ? "none lost" : "lost: \(lost.joined(separator: ", "))"
    }
}
