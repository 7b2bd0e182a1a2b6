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
    var poolStatistics: SurfacePoolStatistics { get }
    /// The conversion that `DecoderOptions.requirements` made necessary.
    var conversion: ConversionReport? { get }
    /// Hardware or software, and why.
    var backend: BackendInUse { get }
    var options: DecoderOptions { get }
    /// Whether samples of `other` can follow without a new session.
    func canAccept(_ other: VideoFormat) -> Bool
    func decode(
        _ sample: SampleBuffer, _ instructions: DecodeInstructions, output: (consuming DecodeOutput) -> Void
    ) throws(DecodingError)
    /// Takes a sample and answers it as dropped.
    func drop(_ sample: SampleBuffer, _ reason: DropReason, output: (consuming DecodeOutput) -> Void) throws(DecodingError)
    func finishDelayedFrames(output: (consuming DecodeOutput) -> Void)
    func flush(output: (consuming DecodeOutput) -> Void)
    /// Makes a `decode` that waits for memory give up; `flush` must follow.
    func interrupt()
    func invalidate()
}

extension DecodingSession {
    public func decode(_ sample: SampleBuffer, output: (consuming DecodeOutput) -> Void) throws(DecodingError) {
        try decode(sample, DecodeInstructions(), output: output)
    }

    /// As `flush(output:)` for who does not ask what becomes of the samples.
    public func flush() { flush { _ in } }
}

extension DecompressionSession: DecodingSession {}
extension SandboxedSession: DecodingSession {}
