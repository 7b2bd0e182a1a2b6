public import Media
public import SampleQueue
public import SurfacePool

/// The answer to a frame.
///
/// Every frame that a session takes gets exactly one, on the thread that makes the call, and none once `invalidate` has returned. Samples come in
/// the order in which they are to be decoded.
public enum EncodeOutput: Sendable {
    /// The compressed sample of the frame, with the frame's own times and attachments.
    case sample(SampleBuffer, FrameReceipt)
    /// No sample will come of the frame: a flush discarded it (`.flushed`), or the encoder left it out to keep its rate (`.skipped`).
    case dropped(FrameReceipt, DropReason)
    /// The frame could not be encoded. The next one may be given.
    case failed(FrameReceipt, EncodingError)

    /// The frame that is answered.
    public var receipt: FrameReceipt {
        switch self {
        case .sample(_, let receipt), .dropped(let receipt, _), .failed(let receipt, _): receipt
        }
    }
}

/// Which frame an answer is about.
public struct FrameReceipt: Sendable, Hashable {
    /// Counts the frames given to a session since it was made, from 0.
    public let number: UInt64
    /// When the frame is shown, in media time, as given.
    public let presentationTime: MediaTime
    /// How long, as given; `.invalid` when unknown.
    public let duration: MediaTime
    /// What the program attached to the frame.
    public let attachments: Attachments
}

/// How to treat one frame.
///
/// The counterpart of the frame properties of `VTCompressionSessionEncodeFrame`.
public struct EncodeInstructions: Sendable, Hashable {
    /// Decoding can begin with the sample of this frame, as after the beginning of the film.
    public var forcesKeyFrame: Bool

    /// Makes instructions; without arguments the encoder decides.
    public init(forcesKeyFrame: Bool = false) { self.forcesKeyFrame = forcesKeyFrame }
}
