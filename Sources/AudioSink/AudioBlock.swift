public import Media

/// A piece of a film's sound.
public struct AudioBlock: Sendable {
    /// Interleaved: `frameCount` times `channelCount`.
    public var samples: [Float]
    /// Frames a second.
    public var sampleRate: Int
    /// Samples in a frame.
    public var channelCount: Int
    /// The film time of the first frame.
    public var presentationTime: MediaTime
    /// The number of the seek that it follows, as `Player.seek` returned it; 0 before the first.
    public var serial: UInt64
    /// It does not continue the block before.
    public var isDiscontinuous: Bool
    /// The number of frames.
    public var frameCount: Int { samples.count / max(channelCount, 1) }
}
