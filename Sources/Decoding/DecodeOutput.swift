public import Media
public import SurfacePool

/// The answer to a sample: every sample gets one, in the order in which pictures are shown.
public enum DecodeOutput: ~Copyable, Sendable {
    /// A picture; whoever receives it owns its use.
    case frame(VideoFrame)
    /// No picture will come of the sample.
    case dropped(presentationTime: MediaTime, DropReason)
    /// The sample was damaged beyond use. Decoding goes on with the next.
    case failed(DecodingError)
}
