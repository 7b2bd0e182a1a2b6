/// What an option of mpv's manual that has another name here means, or why there is none.
///
/// Options with the same name and meaning are not listed. docs/mpv.md has the whole table.
public enum ForeignOption: Sendable, Hashable {
    /// These words say the same here; none: it is so already.
    case words([String])
    /// There is no such thing, for the reason that the sentence says.
    case absent(String)

    /// The names that are known, in the order of the alphabet, without `valued`.
    public static let names: [String] = readers.keys.filter { !valued.contains($0) }.sorted()

    /// Options of the same name here, which take no value, and mpv's values of them.
    public static let valued: Set<String> = ["loop", "loop-playlist", "keep-open", "idle"]

    /// What the option means with this value (nil: without one); nil: the name is not known.
    public init?(_ name: String, _ value: String?) {
        guard let reader = Self.readers[name] else { return nil }
        self = reader(value) ?? .absent("the value \(value ?? "") has no counterpart")
    }

    /// Answers nil for values without a counterpart.
    private typealias Reader = @Sendable (String?) -> ForeignOption?

    private static func same(_ option: String) -> Reader { { value in value.map { .words([option, $0]) } } }

    private static func absent(_ why: String) -> Reader { { _ in .absent(why) } }

    /// Something that is switched on by `on`; without it there is nothing to switch off.
    private static func flag(_ on: [String]?, off: [String]? = [], _ why: String = "") -> Reader {
        { value in
            guard let words = (value ?? "yes") == "no" ? off : on else { return .absent(why) }
            return .words(words)
        }
    }

    private static func count(_ value: String?) -> Int? { value.flatMap { Int($0) }.flatMap { (1...10_000).contains($0) ? $0 : nil } }

    private static let loop: Reader = { value in
        switch value ?? "inf" {
        case "inf", "yes": .words(["--loop"])
        case "no", "0": .words(["--no-loop"])
        default: count(value).map { .words(["--loop-times", "\($0)"]) }
        }
    }

    private static let filters = "there are no filters; a program of one's own can take the frames (docs/export.md)"
    private static let windows = "the compositor places and sizes windows"
    private static let scripts = "there are no scripts; other programs command the player (--input-ipc-server)"
    private static let light = "curves have no parameters, and peaks come from the film's metadata"

    private static let readers: [String: Reader] = [
        "loop-file": loop, "loop": loop,
        "loop-playlist": { value in
            switch value {
            case "inf", "force": .words(["--loop-playlist"])
            default: count(value).map { .words(["--list-turns", "\($0)"]) }
            }
        },
        "keep-open": { value in value == "always" ? .words(["--keep-open-always"]) : nil },
        "idle": { value in value == "once" ? .words(["--idle-once"]) : nil },
        "length": same("--duration"), "frames": absent("--duration and --end say how much of the film is played"),
        "image-display-duration": same("--image-duration"),
        "hwdec": { value in
            switch value ?? "yes" {
            case "no": .words(["--decoder", "software"])
            case "yes", "auto", "auto-safe", "auto-copy", "auto-copy-safe": .words(["--decoder", "auto"])
            case "vaapi", "vaapi-copy": .words(["--decoder", "va-api"])
            default: .absent("--decoder says how to decode")
            }
        },
        "vo": { value in
            switch value {
            case "null": .words(["--sink", "headless"])
            case "drm": .words(["--sink", "kms"])
            case "gpu", "gpu-next": .words(["--sink", "auto"])
            case "dmabuf-wayland", "wlshm": .words(["--sink", "wayland"])
            default: .absent("--sink says where to show")
            }
        },
        "ao": { value in
            switch value {
            case "pipewire": .words(["--audio-device", "pipewire"])
            case "alsa": .words(["--audio-device", "alsa"])
            case "null": .words(["--audio-device", "null"])
            default: .absent("sound goes to PipeWire or ALSA; ALSA's default device reaches PulseAudio")
            }
        },
        "vaapi-device": same("--device"), "drm-device": same("--connector"), "drm-connector": same("--connector"),
        "drm-mode": { value in value == "preferred" ? .words(["--mode", "auto"]) : value.map { .words(["--mode", $0]) } },
        "keepaspect": flag([], off: ["--gravity", "stretch"]),
        "cache": flag([], off: nil, "a film from a web server is always read ahead"),
        "cache-pause": flag(["--on-stall", "wait"], off: ["--on-stall", "go-on"]),
        "tls-verify": flag(["--no-tls-no-verify"], off: ["--tls-no-verify"]), "tls-ca-file": same("--tls-ca"),
        "really-quiet": flag(["--quiet"]), "msg-level": absent("--quiet and --verbose say how much is told"),
        "terminal": flag([], off: nil, "--quiet tells errors only; keys are read from the terminal where there is one"),
        "sub-files": { value in value.map { .words($0.split(separator: ":").flatMap { ["--sub-file", String($0)] }) } },
        "sub-visibility": flag([], off: nil, "the key v hides subtitles; --no-sub plays without"),
        "vd-lavc-threads": same("--threads"),
        "osc": flag([], off: ["--no-osd-bar"]),
        "force-window": flag(nil, "a window needs a film"),
        "hdr-compute-peak": { value in ["no", "auto"].contains(value ?? "yes") ? .words([]) : .absent(light) },
        "tone-mapping-param": absent(light), "tone-mapping-mode": absent(light), "gamut-mapping-mode": absent(light),
        "interpolation": flag(nil, "frames are shown, not made"),
        "video-sync": absent("frames are shown at their times; --refresh and --vrr fit the monitor to them"),
        "watch-later-directory": same("--watch-later-dir"), "watch-later-options": absent("what is kept is always the same"),
        "write-filename-in-watch-later-config": flag(nil, "names of films are not kept"),
        "ignore-path-in-watch-later-config": flag(nil, "films are known by their whole paths"),
        "resume-playback-check-mtime": flag(nil, "a film that has changed continues where it was left"),
        "stop-screensaver": flag([], off: nil, "a film that plays keeps the screen on"),
        "title": absent("the window bears the film's title"), "geometry": absent(windows), "autofit": absent(windows), "screen": absent(windows),
        "ontop": absent(windows), "border": absent(windows),
        "vf": absent(filters), "af": absent(filters), "lavfi-complex": absent(filters), "glsl-shaders": absent(filters),
        "script": absent(scripts), "scripts": absent(scripts), "script-opts": absent(scripts), "load-scripts": flag(nil, scripts),
        "screenshot-format": { value in value == "png" ? .words([]) : .absent("screenshots are PNG files") },
        "screenshot-directory": same("--screenshot-dir"),
        "audio-files": { value in value.map { .words($0.split(separator: ":").flatMap { ["--audio-file", String($0)] }) } },
    ]
}
