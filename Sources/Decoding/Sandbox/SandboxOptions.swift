public import Media

/// Which of the code that reads a film's bytes runs in processes of its own, without rights.
public enum SandboxPolicy: String, Sendable, Hashable, CaseIterable {
    /// None: libavcodec runs in the program.
    case off
    /// The video decoder. Where no decoder process can be started the program decodes by itself, and says so.
    case decoder
    /// The video decoder, and in a second process the demuxer, which takes the container apart.
    case full
    /// As `full`, and refuses to play where a process cannot be confined.
    case require

    /// Whether the demuxer is meant, too.
    public var includesDemuxer: Bool { self == .full || self == .require }
}

/// How the decoder process is started and how long its failures are put up with.
public struct SandboxOptions: Sendable, Hashable {
    public var policy: SandboxPolicy
    /// The decoder program, beside which the demuxer lies; nil looks in `DecoderProgram.path`.
    public var decoderPath: String?
    public var restarts: RestartLimit
    /// How long a decoder may work on one sample before it counts as hung. Waiting for surfaces that readers hold is no work.
    public var hangDeadline: HostSpan

    /// 10 seconds: a thousand times what a large picture costs, on a machine that does something else as well.
    public static let defaultHangDeadline = HostSpan.seconds(10)

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
