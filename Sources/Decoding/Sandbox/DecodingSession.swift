public import Media
public import PixelConversion
public import SampleQueue
public import SurfacePool

/// What decodes one stream: `DecompressionSession` in this process, `SandboxedSession` in another.
///
/// Thread-safety: as those say.
public protocol DecodingSession: AnyObject, Sendable {
    /// libavcodec's name of the decoder.
    var decoderName: String { get }
    /// How full the pool is whose surfaces the decoder in use writes.
    var poolStatistics: SurfacePoolStatistics { get }
    /// The conversion that `DecoderOptions.requirements` made necessary.
    var conversion: ConversionReport? { get }
    /// The decoder in use, and why it is not hardware if that was preferred.
    var backend: BackendInUse { get }
    /// As given when the session was made.
    var options: DecoderOptions { get }
    /// Whether samples of `other` can follow without a new session.
    func canAccept(_ other: VideoFormat) -> Bool
    /// Takes a sample and hands over the answers that are ready: none, one or several, for this or for earlier samples.
    /// - Throws: when the sample has not been taken; it gets no answer then.
    func decode(
        _ sample: SampleBuffer, _ instructions: DecodeInstructions, output: (consuming DecodeOutput) -> Void
    ) throws(DecodingError)
    /// Takes a sample and answers it as dropped.
    func drop(_ sample: SampleBuffer, _ reason: DropReason, output: (consuming DecodeOutput) -> Void) throws(DecodingError)
    /// Hands over every frame that the decoder holds back, and an answer for every sample without one.
    func finishDelayedFrames(output: (consuming DecodeOutput) -> Void)
    /// Forgets all samples; those without an answer are dropped as `.flushed`.
    func flush(output: (consuming DecodeOutput) -> Void)
    /// Makes a `decode` that waits for memory give up; `flush` must follow.
    func interrupt()
    /// Ends the session, from any thread. No answer comes after it has returned.
    func invalidate()
}

extension DecodingSession {
    /// Decodes a sample as usual: neither hidden nor with a deadline of its own.
    public func decode(_ sample: SampleBuffer, output: (consuming DecodeOutput) -> Void) throws(DecodingError) {
        try decode(sample, DecodeInstructions(), output: output)
    }

    /// As `flush(output:)`, without the answers.
    public func flush() { flush { _ in } }
}

extension DecompressionSession: DecodingSession {}
extension SandboxedSession: DecodingSession {}
