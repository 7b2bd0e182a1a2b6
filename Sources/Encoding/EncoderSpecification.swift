/// Which encoder a session is to use.
///
/// The counterpart of Video Toolbox's encoder specification.
public struct EncoderSpecification: Sendable, Hashable {
    /// Whether a device encodes.
    public enum Hardware: Sendable, Hashable {
        /// A device that encodes the codec at the size, keeps the depth of the frames and has the properties; else software, and
        /// `CompressionSession.reason` says why.
        case prefer
        /// A device or nothing: without one the session cannot be made (`EncodingError.Code.noEncoder`).
        case require
        /// Software only.
        case disable
    }

    /// Whether a device encodes; of no effect when `name` is an encoder of devices.
    public var hardware: Hardware
    /// libavcodec's name of the encoder, such as `libx265`, or `hevc_vaapi` for a device; nil takes the preferred one for the codec.
    public var name: String?
    /// The render node to encode on; nil takes the first that encodes the stream.
    public var device: String?

    /// Makes a specification; without arguments: the preferred software encoder.
    public init(hardware: Hardware = .disable, name: String? = nil, device: String? = nil) {
        self.hardware = hardware
        self.name = name
        self.device = device
    }
}
