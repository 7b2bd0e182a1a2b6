/// Why there is no encoder, or what went wrong with a frame.
public struct EncodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// The installed libavcodec has no such encoder, or none that the specification allows.
        case noEncoder
        /// The encoder has no such property, or does not take its value.
        case unsupportedProperty
        /// The encoder does not take the size, the pixel format or the properties together.
        case cannotOpen
        /// The frame can be neither read in place nor converted to what the encoder takes.
        case unsupportedPixelFormat
        /// The sample is of no codec that has a raw stream.
        case unsupportedFormat
        /// The system does not take the bytes of a sample.
        case output
        /// The frame's time is no number, or not after that of the frame before.
        case time
        /// The call does not belong where it stands among passes, or the encoder cannot make several.
        case pass
        /// What is kept between passes cannot be written or read.
        case storage
        /// The session has been invalidated.
        case invalidated
        /// libavcodec failed in another way.
        case encoder
    }

    /// The kind, for a program's decisions.
    public let code: Code
    /// libavcodec's error number (`AVERROR`) or the system's (`errno`); 0 where there is none.
    public let status: Int32
    /// One sentence.
    public let description: String

    init(_ code: Code, _ description: String, status: Int32 = 0) {
        self.code = code
        self.description = description
        self.status = status
    }
}
