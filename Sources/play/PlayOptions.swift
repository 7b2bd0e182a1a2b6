internal import ArgumentParser
internal import Capture
internal import Deinterlacing
internal import DisplaySink
internal import KMSSink
internal import Media
internal import PixelConversion
internal import PlaySupport
internal import Player

/// The options of `play FILE`, in the order of `--help`.
struct PlayOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Films, URLs that libavformat opens, folders, playlists (M3U, PLS), or - for standard input; one plays after the other.",
            valueName: "file"))
    var files: [String] = []

    @OptionGroup var camera: CameraArguments

    @Option(help: "Where to show: auto, wayland, kms (a monitor without a desktop), headless, or md5=PATH (framemd5 text; - is standard output).")
    var sink: SinkChoice = .auto

    @Option(
        help: ArgumentHelp("Serve the decoded frames to other programs (GStreamer's unixfdsrc) on the socket PATH.", valueName: "unixfd:path")
    )
    var export: ExportChoice?

    @Flag(help: "With --export: deliver every frame; wait for the first program to connect, and for slow ones.")
    var exportAll = false

    @Option(help: "How to decode: in hardware if it decodes the film (auto), in hardware or not at all (hardware, va-api), or in software.")
    var decoder: DecoderChoice = .auto

    @Option(
        help: ArgumentHelp(
            """
            What runs in processes without rights: nothing (off), the decoder, decoder and demuxer (full), or both or refuse to play (require). \
            Network protocols always run in the player.
            """,
            valueName: "off|decoder|full|require"))
    var sandbox: SandboxChoice = .off

    @Option(help: ArgumentHelp("How many processes without rights may die within 10 seconds before playback fails.", valueName: "count"))
    var decoderRestarts = 5

    @Option(help: ArgumentHelp("Decode on this render node instead of the first one that decodes the film.", valueName: "path"))
    var device: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Begin here: seconds or hh:mm:ss.mmm, with a minus from the end, 50%, #2 for a chapter, or when it was made (2026-11-27T20:15:00Z).",
            valueName: "time|-time|%|#chapter|date"))
    var start: PointArgument?

    @Option(parsing: .unconditional, help: ArgumentHelp("End here, written as --start is.", valueName: "time|-time|%|#chapter|date"))
    var end: PointArgument?

    @OptionGroup var resume: ResumeArguments

    @Option(help: ArgumentHelp("End after this much film.", valueName: "time|%"))
    var duration: LengthArgument?

    @Option(
        help: ArgumentHelp(
            "How long a still image stays, or inf. By default a single image stays until a key ends it, and one among other films 5 s.",
            valueName: "time|inf"))
    var imageDuration: ImageDurationArgument?

    @Option(help: "Speed, 0.1 to 16.")
    var speed: Double = 1

    @OptionGroup var repetition: RepetitionArguments

    @Option(
        help: ArgumentHelp(
            "Play the films of this list after the others, whatever its name; - is standard input. May be given more than once.", valueName: "file"))
    var playlist: [String] = []

    @Flag(help: "Play the films in random order.")
    var shuffle = false

    @Flag(help: "Show the first frame and pause.")
    var pause = false

    @Flag(help: "Play as fast as the decoder can, without waiting for the frames' times (headless).")
    var untimed = false

    @Option(help: ArgumentHelp("The track of frames to show, counted from 1 as `info` lists them; auto, or no.", valueName: "number|auto|no"))
    var vid = TrackArgument(choice: .automatic)

    @Option(help: ArgumentHelp("The sound track to play, counted from 1 as `info` lists them; auto, or no.", valueName: "number|auto|no"))
    var aid = TrackArgument(choice: .automatic)

    @Option(help: ArgumentHelp("Languages of the sound, the preferred one first: en,de or eng,ger.", valueName: "codes"))
    var alang: LanguagesArgument?

    @Option(
        help: ArgumentHelp(
            "The subtitles to show, counted from 1 as `info` lists them, then the files of --sub-file and those beside the film; auto, or no.",
            valueName: "number|auto|no"))
    var sid = TrackArgument(choice: .automatic)

    @Option(help: ArgumentHelp("Languages of the subtitles, the preferred one first: en,de or eng,ger.", valueName: "codes"))
    var slang: LanguagesArgument?

    @Option(help: ArgumentHelp("Show the subtitles of this file. May be given more than once.", valueName: "path"))
    var subFile: [String] = []

    @Option(help: "Take the files beside the film that have its name, such as film.srt and film.de.srt, as subtitles (exact), or not (no).")
    var subAuto: FileSearchChoice = .exact

    @Option(parsing: .unconditional, help: ArgumentHelp("Show subtitles this many seconds later; below zero: earlier.", valueName: "seconds"))
    var subDelay: Double = 0

    @Option(help: "Size of subtitles of text, 0.1 to 10.")
    var subScale: Double = 1

    @Option(help: "Height of subtitles of text in percent, 0 (upper edge) to 150; 100 is the lower edge.")
    var subPos: Double = 100

    @Flag(help: "Play without subtitles, as --sid no.")
    var noSub = false

    @Flag(help: "Play without frames, as --vid no.")
    var noVideo = false

    @Flag(help: "Play without sound.")
    var noAudio = false

    @Option(help: ArgumentHelp("The device that plays the sound, of those that `play devices` lists.", valueName: "name"))
    var audioDevice = "auto"

    @Option(
        help: ArgumentHelp(
            "Play the sound of this file with the film; it counts after the film's own tracks. May be given more than once.", valueName: "path"))
    var audioFile: [String] = []

    @Option(help: "Take the files beside the film that have its name, such as film.mka and film.de.ac3, as sound tracks (exact), or not (no).")
    var audioFileAuto: FileSearchChoice = .no

    @Option(parsing: .unconditional, help: ArgumentHelp("Play the sound this many seconds later, up to 60; negative: earlier.", valueName: "seconds"))
    var audioDelay: Double = 0

    @Option(help: "Volume in percent, as it is heard; 100 is as recorded, above it loud parts are limited.")
    var volume = 100

    @Option(help: ArgumentHelp("The loudest volume that can be set, 100 to 1000.", valueName: "percent"))
    var volumeMax = 130

    @OptionGroup var loudness: ReplayGainArguments

    @Flag(help: "Start with the sound switched off; the key m switches it on.")
    var mute = false

    @Flag(name: [.long, .customLong("fs")], help: "Start in full screen.")
    var fullscreen = false

    @OptionGroup var framing: FramingArguments

    @OptionGroup var colors: ColorArguments

    @Flag(
        inversion: .prefixedNo,
        help: "Convert frames for a compositor that cannot be told how their colours are coded, or let it guess (default: convert up to 2048x1152).")
    var exactColors: Bool?

    @Option(help: "Make a frame of each field: of frames that are marked as interlaced (auto, the default on displays), of all, or of none.")
    var deinterlace: DeinterlaceChoice?

    @Option(
        help: ArgumentHelp(
            "How brightness of HDR films (PQ, HLG) is mapped for displays that are not told of it; auto is bt.2390, and no keeps it as it is.",
            valueName: "curve"))
    var toneMapping: ToneMappingChoice = .auto

    @Option(help: ArgumentHelp("With tone mapping: the brightest white of the display, 10 to 10000 cd/m², or auto (203).", valueName: "cd/m²"))
    var targetPeak = PeakArgument(peak: nil)

    @Flag(help: "When the Wayland compositor goes away or the camera is unplugged, wait for another one or its return and continue there.")
    var reconnect = false

    @Option(
        help: ArgumentHelp(
            "The monitor for kms: HDMI-A-1, card1-HDMI-A-1, its own name, or /dev/dri/card1. Several, of one device, all show the film.",
            valueName: "name"))
    var connector: [String] = []

    @Flag(help: "Each --connector shows its part of one large image: side by side, in the order given.")
    var span = false

    @Option(help: ArgumentHelp("With --span: the number of monitors in a row (default: all).", valueName: "count"))
    var columns: Int?

    @Option(help: ArgumentHelp("The monitor's mode for kms: auto, film, WxH or WxH@HZ.", valueName: "mode"))
    var mode: ModeArgument = ModeArgument(request: ModeRequest())

    @Option(help: "The monitor's refresh rate for kms: a multiple of the film's (auto), or as it is (keep).")
    var refresh: RefreshChoice = .auto

    @Option(help: "Variable refresh rate for kms: when no fixed rate is a multiple of the film's (auto), on, or off.")
    var vrr: VRRChoice = .auto

    @Option(help: ArgumentHelp("Repeat the part of the film between this time and --ab-loop-b.", valueName: "time"))
    var abLoopA: TimeArgument?

    @Option(help: ArgumentHelp("The end of the part that is repeated.", valueName: "time"))
    var abLoopB: TimeArgument?

    @Option(help: ArgumentHelp("Write screenshots (keys s and S) into this folder.", valueName: "folder"))
    var screenshotDir: String?

    @Option(help: ArgumentHelp("The names of screenshots: %n number, %f %F file, %p %P time.", valueName: "text"))
    var screenshotTemplate = ScreenshotName.standard

    @Option(
        help: ArgumentHelp(
            "What is shown over the film: nothing by itself (0), what commands have changed (1), the position, too (2), with the duration (3).",
            valueName: "0-3"))
    var osdLevel = 1

    @Option(help: ArgumentHelp("How long messages and the bar are shown over the film.", valueName: "milliseconds"))
    var osdDuration = 1000

    @Flag(inversion: .prefixedNo, help: "Show a bar with the position after a seek, a pause and when the pointer moves.")
    var osdBar = true

    @Option(help: ArgumentHelp("Bind keys by this file, after input.conf in the folders of the configuration.", valueName: "path"))
    var inputConf: String?

    @Flag(inversion: .prefixedNo, help: "Keys mean what they mean in mpv without a file.")
    var inputDefaultBindings = true

    @Flag(help: "Print the names of keys for input.conf and end.")
    var inputKeylist = false

    @Flag(help: "Print the commands for input.conf and end.")
    var inputCmdlist = false

    @Option(help: "While the monitor or the compositor is gone: play on unseen (go-on), or pause.")
    var onUnplug: UnplugChoice = .goOn

    @Option(help: "While the source is slower than the film: wait, or play on and leave out late frames (go-on).")
    var onStall: StallChoice = .wait

    @Option(help: "Decoding threads; 0: the decoder chooses.")
    var threads = 0

    @Option(help: ArgumentHelp("The files are raw start-code streams of this codec.", valueName: "codec"))
    var raw: RawCodec?

    @Option(help: ArgumentHelp("Write statistics as JSON at the end (- is standard output): of several films an array.", valueName: "path"))
    var stats: String?

    @Option(
        help: ArgumentHelp(
            "Obey other programs on this socket, in the protocol of mpv's option of the same name (JSON, a line a command).", valueName: "path"))
    var inputIpcServer: String?

    @Flag(inversion: .prefixedNo, help: "Obey the desktop's media keys and panels (MPRIS on the session's D-Bus).")
    var mediaControls = true

    @OptionGroup var network: NetworkArguments

    @Flag(inversion: .prefixedNo, help: "Look for the film of a page with yt-dlp, where an address (http, https, ytdl://) is no film itself.")
    var ytdl = true

    @Option(help: ArgumentHelp("With yt-dlp: which formats, in its words (default: bestvideo+bestaudio/best).", valueName: "format"))
    var ytdlFormat = ""

    @OptionGroup var configuration: ConfigurationArguments

    @Flag(name: .shortAndLong, help: "Print errors only.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print what is chosen and why.")
    var verbose = false

    /// Whether there may be more than one film. Looks at a name that stands alone.
    var isList: Bool { camera.camera == nil && (files.count != 1 || !playlist.isEmpty || (raw == nil && PlaylistLoader.isList(files[0]))) }

    /// What `--deinterlace` says: by default what is shown is deinterlaced, and what is handed out as it was decoded is not.
    var deinterlacing: Deinterlacing {
        if let deinterlace { return Deinterlacing(rawValue: deinterlace.rawValue) ?? .no }
        let isShown = sink == .wayland || sink == .kms || (sink == .auto && !untimed)
        return isShown && export == nil ? .auto : .no
    }

    /// What `--tone-mapping` and `--target-peak` say together; nil: nothing is mapped.
    var lightMapping: ToneMapping? {
        guard toneMapping != .no else { return nil }
        return ToneMapping(
            curve: ToneMapping.Curve(rawValue: toneMapping.rawValue) ?? .bt2390, targetPeak: targetPeak.peak ?? ToneMapping.referenceWhite)
    }

    /// What `--connector`, `--span`, `--mode` and `--refresh` say together.
    var kmsOptions: KMSSink.Options {
        var options = KMSSink.Options(connectors: connector, mode: mode.request, arrangement: span ? .span(columns: columns) : .mirror)
        options.variableRefresh = VariableRefresh(rawValue: vrr.rawValue) ?? .auto
        options.toneMapping = lightMapping
        if refresh == .keep, options.mode.refresh == .auto { options.mode.refresh = .keep }
        return options
    }

    /// Whether frames are to be played.
    var wantsFrames: Bool { !noVideo && vid.choice != .none }

    static let noFilm = "No film is named."

    /// Loops as the words that name them.
    private var loops: Bool { repetition.loopCount > 0 }

    mutating func validate() throws {
        if !(0.1...16).contains(speed) { throw ValidationError("--speed must lie between 0.1 and 16.") }
        if !(100...1000).contains(volumeMax) { throw ValidationError("--volume-max must lie between 100 and 1000.") }
        if !(0...volumeMax).contains(volume) { throw ValidationError("--volume must lie between 0 and \(volumeMax) (--volume-max).") }
        if ScreenshotName(template: screenshotTemplate) == nil { throw ValidationError("--screenshot-template: % stands before n, f, F, p, P or %.") }
        if !(0...3).contains(osdLevel) { throw ValidationError("--osd-level must lie between 0 and 3.") }
        if !(0...86_400_000).contains(osdDuration) { throw ValidationError("--osd-duration must lie within a day.") }
        if !(0...64).contains(threads) { throw ValidationError("--threads must lie between 0 and 64.") }
        if decoderRestarts < 0 { throw ValidationError("--decoder-restarts must not be below 0.") }
        if noVideo, vid.choice != .automatic, vid.choice != .none { throw ValidationError("--no-video and --vid exclude each other.") }
        if noAudio, aid.choice != .automatic, aid.choice != .none { throw ValidationError("--no-audio and --aid exclude each other.") }
        if noSub, sid.choice != .automatic, sid.choice != .none { throw ValidationError("--no-sub and --sid exclude each other.") }
        if !(-86_400...86_400).contains(subDelay) { throw ValidationError("--sub-delay must lie within a day.") }
        if !(-60...60).contains(audioDelay) { throw ValidationError("--audio-delay must lie within a minute.") }
        if !(0.1...10).contains(subScale) { throw ValidationError("--sub-scale must lie between 0.1 and 10.") }
        if !(0...150).contains(subPos) { throw ValidationError("--sub-pos must lie between 0 and 150.") }
        if raw != nil, !wantsFrames { throw ValidationError("A raw stream has nothing but frames: --no-video does not apply.") }
        if quiet && verbose { throw ValidationError("--quiet and --verbose exclude each other.") }
        if raw != nil && (start != nil || end != nil || loops) {
            throw ValidationError("A raw stream cannot seek: --start, --end and --loop do not apply.")
        }
        if raw != nil && !playlist.isEmpty { throw ValidationError("--raw says what films are, not lists: --playlist does not apply.") }
        if untimed && (sink == .wayland || sink == .kms) { throw ValidationError("--untimed has no meaning on a display; use --sink headless.") }
        if span && connector.count < 2 { throw ValidationError("--span needs --connector at least twice.") }
        if let columns, !span || columns < 1 { throw ValidationError("--columns needs --span, and at least 1.") }
        if exportAll && export == nil { throw ValidationError("--export-all needs --export.") }
        try repetition.validate(isChecked: { if case .md5 = sink { true } else { false } }())
        if (files + playlist).count(where: { $0 == "-" }) > 1 { throw ValidationError("Standard input can be read once.") }
        if device != nil, decoder == .software { throw ValidationError("--device has no meaning with --decoder software.") }
        if stats == "-", sink == .md5(path: "-") { throw ValidationError("Checksums and statistics cannot both go to standard output.") }
        if camera.camera != nil {
            try validateCamera()
        } else if camera.request != CaptureRequest() {
            throw ValidationError("--camera-format, --camera-size and --camera-rate need --camera.")
        }
        let isAsked = inputKeylist || inputCmdlist
        if files.isEmpty, playlist.isEmpty, camera.camera == nil, !repetition.waits, !isAsked { throw ValidationError(Self.noFilm) }
    }

    /// What has no meaning for a camera.
    private func validateCamera() throws {
        if !files.isEmpty || !playlist.isEmpty { throw ValidationError("--camera and films exclude each other.") }
        if !wantsFrames { throw ValidationError("A camera has nothing but frames: --no-video does not apply.") }
        let words = [
            ("start", start != nil), ("end", end != nil), ("speed", speed != 1), ("loop", loops), ("loop-playlist", repetition.turns > 1),
            ("shuffle", shuffle), ("idle", repetition.waits), ("audio-file", !audioFile.isEmpty), ("raw", raw != nil),
            ("image-duration", imageDuration != nil),
        ]
        if let word = words.first(where: \.1)?.0 { throw ValidationError("--\(word) has no meaning with --camera.") }
        if case .share = duration?.length { throw ValidationError("A camera has no end: --duration is a time there.") }
    }
}
