public import Decoding
public import DisplaySink
public import FrameExport
public import Media
public import Sandbox

/// How a player plays; everything has a default that suits a person watching a film.
public struct PlayerConfiguration: Sendable {
    /// Begin here instead of at the start, and begin anew here. A viewer may go back further.
    public var startTime: MediaTime?
    /// End after this much media time.
    public var playDuration: MediaTime?
    /// Media seconds per second, above 0.
    public var rate = 1.0
    /// Begin again at the end, for ever.
    public var loops = false
    /// Show the first picture and wait for `play()`.
    public var startsPaused = false
    /// Whether the film waits when its source brings less than is played, until there is enough to go on with; else time goes on and what comes too
    /// late is left out, as live pictures may be better.
    public var waitsForSource = true
    /// Whether the film waits while its display is gone (a monitor that was unplugged, a compositor that `--reconnect` waits for)
    /// instead of going on unseen.
    public var pausesWithoutDisplay = false
    public var playsAudio = true
    /// ALSA's name of the device that sound is played on.
    public var audioDevice = "default"
    /// 0 (silent) to 1 (as recorded).
    public var volume = 1.0
    /// Decoding threads; 0 lets the decoder choose.
    public var threads = 0
    /// Whether the video decoder runs in a process of its own, without rights.
    public var sandbox = SandboxOptions()
    /// Hardware or software, and which device.
    public var decoder = DecoderSpecification()
    /// The file holds start-code bytes of this codec instead of a container.
    public var rawCodec: VideoCodec?
    /// Who else gets the decoded pictures; each serves one film at a time.
    public var exporters: [FrameExporter] = []

    public init() {}
}

/// What a player reports, in the order in which it happens.
public enum PlayerEvent: Sendable {
    /// The last picture and sound have had their time.
    case ended
    /// Playback cannot go on.
    case failed(PlayerError)
    /// A sentence the viewer should see: the sound device is gone, a frame is damaged.
    case notice(String)
    /// A sentence for whoever asks for details: what was chosen and why.
    case detail(String)
    /// The viewer asked to close the window.
    case closeRequested
    /// The viewer pressed a key in the window.
    case key(PlayerKey)
}
