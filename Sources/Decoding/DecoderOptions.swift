public import Media
public import PixelConversion

/// How to decode.
public struct DecoderOptions: Sendable, Hashable {
    /// Decoding threads; 0 chooses by the machine and the size of the frame.
    public var threads: Int
    /// Puts a frame out with the sample that carries it, at the price of less parallelism: slices but no frames in parallel.
    public var lowDelay: Bool
    /// Frames that consumers may hold at once (queues, sinks, exporters); the pool has room for them besides the decoder's own.
    public var holdCount: Int
    /// Limit of the frames' memory in bytes. A sample whose frame would exceed it fails with `.outOfSurfaces`.
    public var maximumSurfaceBytes: Int
    /// How long a sample's frame is useful after the sample was given to the session; nil: for ever. A deadline that comes with a
    /// sample (`DecodeInstructions.deadline`) takes precedence.
    public var deadline: HostSpan?
    /// Rows of the frames begin so many bytes apart, or a multiple of it: a power of two from 64 to 4096, not kept by hardware. Any other number
    /// counts as the next of these.
    public var rowAlignment = 64
    /// The alignment that applies: the next power of two that is allowed.
    var keptRowAlignment: Int {
        var alignment = 64
        while alignment < min(rowAlignment, 4096) { alignment *= 2 }
        return alignment
    }
    /// What consumers need; empty hands frames out as the decoder makes them.
    public var requirements: OutputRequirements
    /// Hardware or software.
    public var specification: DecoderSpecification

    /// 384 MB: 17 frames of 4K in 10 bit, 120 of 1080p. Keeps what a file can cost, all told, below 512 MB.
    public static let defaultMaximumSurfaceBytes = 384 << 20

    /// Makes options; the defaults suit playback: hardware where there is some, no deadline, frames as the decoder makes them.
    public init(
        threads: Int = 0, lowDelay: Bool = false, holdCount: Int = 4, maximumSurfaceBytes: Int = DecoderOptions.defaultMaximumSurfaceBytes,
        deadline: HostSpan? = nil, requirements: OutputRequirements = OutputRequirements(),
        specification: DecoderSpecification = DecoderSpecification()
    ) {
        self.threads = threads
        self.lowDelay = lowDelay
        self.holdCount = holdCount
        self.maximumSurfaceBytes = maximumSurfaceBytes
        self.deadline = deadline
        self.requirements = requirements
        self.specification = specification
    }
}
