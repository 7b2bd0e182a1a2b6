public import Media

/// How to encode.
public struct EncoderOptions: Sendable, Hashable {
    /// Any encoder, one by name, software or hardware.
    public var specification: EncoderSpecification
    /// The layout of the frames that will come. Where the encoder does not take it, frames are converted to the nearest that it takes.
    public var pixelFormat: PixelFormat
    /// How the encoder weighs quality, size, delay and time.
    public var properties: EncodingProperties
    /// Options of libavcodec and of the encoder by name (`preset`, `x264-params`), which take precedence over the properties.
    public var encoderOptions: [String: String]
    /// What several passes are to reach (`CompressionSession.beginPass`); nil encodes every frame once.
    public var passes: MultiPassOptions?

    /// Makes options; the defaults are the preferred software encoder as it is, for frames of `yuv420p`.
    public init(
        specification: EncoderSpecification = EncoderSpecification(), pixelFormat: PixelFormat = .yuv420p,
        properties: EncodingProperties = EncodingProperties(), encoderOptions: [String: String] = [:],
        passes: MultiPassOptions? = nil
    ) {
        self.specification = specification
        self.pixelFormat = pixelFormat
        self.properties = properties
        self.encoderOptions = encoderOptions
        self.passes = passes
    }
}
