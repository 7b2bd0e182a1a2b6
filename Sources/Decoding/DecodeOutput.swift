public import SurfacePool

/// The answer to a sample.
///
/// Every sample that a session takes gets exactly one, on the thread that makes the call (or on the one thread of an
/// `AsynchronousDecoder`), one at a time, and none once `invalidate` has returned:
///
/// - **A frame** answers the sample that began it, when its turn to be shown comes: frames come in the order of presentation. Of two fields in
///   two samples the first one's is answered with the frame.
/// - **No frame of its own**: the second field, a hidden reference (VP9's and AV1's alternate references in samples of their own),
///   parameter sets alone. libavcodec does not say so; it is certain when the decoder has been drained, or when `SampleLedger.capacity` (128)
///   later samples have been given, and the answer is `.dropped` as `.noFrame` then. A superframe is one sample: the frame that it shows answers it.
/// - **Left out**: a sample that is not to be shown, is to be skipped, or comes too late to be decoded is answered at once.
/// - **Damage** is answered as soon as the decoder reports it. libavcodec's frame threads report it some samples later without saying for which;
///   the session counts back, and may be one off where a decoder splits its samples.
/// - **Flushed**: `flush` answers all samples that have no answer, in their order.
///
/// A decoder may put out a frame that answers no sample: one that was damaged but not lost (its sample has failed already), or a second one from
/// the same sample. It is handed over as well, with `VideoFrame.sampleNumber` nil.
public enum DecodeOutput: ~Copyable, Sendable {
    /// A frame; whoever receives it owns its use. `VideoFrame.sampleNumber` says which sample it answers.
    case frame(VideoFrame)
    /// No frame will come of the sample.
    case dropped(SampleReceipt, DropReason)
    /// The sample was damaged beyond use. Decoding goes on with the next.
    case failed(SampleReceipt, DecodingError)
}
