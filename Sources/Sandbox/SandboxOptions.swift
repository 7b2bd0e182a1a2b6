public import Media

/// Which of the code that reads a film's bytes runs in separate processes without rights.
public enum SandboxPolicy: String, Sendable, Hashable, CaseIterable {
    /// None: libavformat and libavcodec run in the program.
    case off
    /// The decoders of frames and of sound, each in a process. On a machine without the decoder program the program decodes by itself, and says so.
    case decoder
    /// The decoders, and in a process of its own the demuxer, which reads the container.
    case full
    /// As `full`, but nothing is played unless all processes are confined.
    case require

    /// Whether the demuxer has a process, too.
    public var includesDemuxer: Bool { self == .full || self == .require }
}

/// How processes without rights are started, and how many of their failures are accepted.
public struct SandboxOptions: Sendable, Hashable {
    /// What runs in processes without rights.
    public var policy: SandboxPolicy
    /// The decoder program, beside which the demuxer lies; nil: the one that the environment variable
    /// `SCANOUT_DECODER` names, else one beside the running program or in its `../libexec`.
    public var decoderPath: String?
    /// How often a process that dies is replaced.
    public var restarts: RestartLimit
    /// How long a process may work on one request before it counts as hung. Waiting for surfaces that readers hold does not count.
    public var hangDeadline: HostSpan

    /// 10 seconds: a thousand times what a large frame costs, so that a busy machine has room.
    public static let defaultHangDeadline = HostSpan.seconds(10)

    /// By default nothing runs in a process without rights.
    public init(
        policy: SandboxPolicy = .off, decoderPath: String? = nil, restarts: RestartLimit = RestartLimit(),
        hangDeadline: HostSpan = SandboxOptions.defaultHangDeadline
    ) {
        self.policy = policy
        self.decoderPath = decoderPath
        self.restarts = restarts
        self.hangDeadline = hangDeadline
    }
}
