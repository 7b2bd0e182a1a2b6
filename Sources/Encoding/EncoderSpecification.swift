/// Which encoder a session is to use.
///
/// The counterpart of Video Toolbox's encoder specification.
public struct EncoderSpecification: Sendable, Hashable {
    /// Whether a device encodes.
    public enum Hardware: Sendable, Hashable {
        /// A device where there is an encoder for it, else software. At present there is none: `CompressionSession.reason` says so.
        case prefer
        /// A device or nothing. At present always `EncodingError.Code.noEncoder`.
        case require
        /// Software only.
        case disable
    }

    /// Whether a device encodes.
    public var hardware: Hardware
    /// libavcodec's name of the encoder, such as `libx265`; nil takes the preferred one for the codec.
    public var name: String?

    /// Makes a specification; without arguments: the preferred software encoder.
    public init(hardware: Hardware = .disable, name: String? = nil) {
        self.hardware = hardware
        self.name = name
    }
}
