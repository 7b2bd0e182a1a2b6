public import AudioSink
public import Capture
public import Decoding
public import Deinterlacing
public import Demuxing
public import FrameExport
public import Media
public import Sandbox

/// How a player plays. Every member has a default that suits a person watching a film.
public struct PlayerConfiguration: Sendable {
    /// Where playback begins, and begins again when it loops; nil: at the film's beginning, or where an HLS list asks players to begin. The viewer
    /// may seek back further. A film without this place begins as if it were nil, and a notice says so.
    public var start: FilmPoint?
    /// Where playback ends; nil: at the film's end, or after `playDuration`. The earlier one counts.
    public var end: FilmPoint?
    /// Playback ends after this much media time.
    public var playDuration: MediaTime?
    /// Playback ends after this share of the film's length, above 0 to 1; nil: after all of it. A film without a known end plays as if it were nil,
    /// and a notice says so. Together with `playDuration` and `end` the earliest counts.
    public var playShare: Double?
    /// Media seconds per second, above 0.
    public var rate = 1.0
    /// How many times each film begins again at its end; `Int.max`: for ever.
    public var loopCount = 0
    /// Whether the player shows the first frame and waits for `play()`.
    public var startsPaused = false
    /// Whether the film waits when its source is slower than the film. Otherwise time runs on and late frames are left out, which suits live
    /// sources.
    public var waitsForSource = true
    /// Whether the film waits while its display is gone (an unplugged monitor, a compositor that is being restarted) instead of playing unseen.
    public var pausesWithoutDisplay = false
    /// Whether a camera that is unplugged while it is shown is waited for, with its last frame on the display. Otherwise playback ends.
    public var reconnectsCamera = false
    /// Who gets a camera's frames besides the display: a recording, still frames, a program's own output. A player that is paused keeps its frame on
    /// the display, and changes nothing for these. They get one camera at a time.
    public var cameraOutputs: [VideoDataOutput] = []
    /// Which of the film's tracks play.
    public var tracks = TrackPreferences()
    /// Which files hold subtitles, and how they are shown.
    public var subtitles = SubtitleOptions()
    /// Whether the sound is played.
    public var playsAudio = true
    /// Paths of files whose sound is played with the film; the first one that can be opened plays unless `tracks` says another.
    public var audioFiles: [String] = []
    /// Whether files of sound beside the film that have its name are tracks, too: for `film.mkv` these are `film.mka`, `film.de.ac3` and the like.
    public var findsAudioFiles = false
    /// The program that takes the sound instead of a device; see `AudioExporter`. It serves one film at a time.
    public var audioExporter: AudioExporter?
    /// The sound device, one of `AudioDeviceInfo.all()`: `auto` is PipeWire's chosen sink where it runs, else ALSA's `default`.
    public var audioDevice = "auto"
    /// A factor on the samples: 0 is silence, 1 as recorded; above 1 a limiter turns down what would exceed full scale.
    public var volume = 1.0
    /// Whether films are played as loud as each other, by their tags. An `audioExporter` gets the sound as it was recorded.
    public var replayGain = ReplayGainOptions()
    /// How much later than its times the sound is heard; below zero: earlier.
    public var audioDelay = MediaTime.zero
    /// Decoding threads; 0 lets the decoder choose.
    public var threads = 0
    /// Which of decoder and demuxer run in processes without rights.
    public var sandbox = SandboxOptions()
    /// How films on web servers are fetched.
    public var network = NetworkOptions()
    /// The latency that live films are held at.
    public var latency = LiveLatency.automatic
    /// Hardware or software, and which device.
    public var decoder = DecoderSpecification()
    /// Which frames are deinterlaced, for the display and the exporters. bwdif makes a frame of each field.
    public var deinterlacing = Deinterlacing.no
    /// The codec of a file that holds start-code bytes instead of a container.
    public var rawCodec: VideoCodec?
    /// Clients that get the decoded frames as well. An exporter serves one film at a time.
    public var exporters: [FrameExporter] = []

    /// Where the viewer left the film that is opened, but not those that follow it without a gap; nil: it begins at its beginning.
    package var resumption: Resumption?
    /// Whether the player asks at the end of a film what follows without a gap; see `Player.follow`.
    package var joins = false
    /// How long a still image is shown on a display, positive infinity for ever; nil: as long as a frame of its container.
    package var imageDuration: MediaTime?
    /// The title of a film that has none of its own; nil: the file's name.
    package var fallbackTitle: String?

    /// The moment from which `PlaybackStatistics.startupMilliseconds` counts, on CLOCK_MONOTONIC; nil: when the player is made.
    public var startedAt: HostTime?

    /// Makes the default configuration.
    public init() {}

    /// Where playback begins, as a time; nil: `start` says no time.
    public var startTime: MediaTime? {
        get { if case .time(let time)? = start { time } else { nil } }
        set { start = newValue.map { .time($0) } }
    }

    /// Whether the film begins again at its end. Setting it to true lets it do so for ever.
    public var loops: Bool {
        get { loopCount > 0 }
        set { loopCount = newValue ? .max : 0 }
    }

    /// A program gets every sample of the sound, also where frames are taken as fast as they come.
    var takesAllSound: Bool { if case .everything = audioExporter?.delivery { true } else { false } }
}

/// Where a viewer left a film, and the tracks that they had chosen.
package struct Resumption: Sendable, Hashable {
    /// Playback begins here once; at later turns of a loop it begins where the configuration says. A time that is not in the film is left alone.
    package var time: MediaTime?
    /// The sound and the subtitles, instead of those of `PlayerConfiguration.tracks`.
    package var sound: TrackPreferences.Choice?, subtitles: TrackPreferences.Choice?

    package init(time: MediaTime? = nil, sound: TrackPreferences.Choice? = nil, subtitles: TrackPreferences.Choice? = nil) {
        (self.time, self.sound, self.subtitles) = (time, sound, subtitles)
    }
}
