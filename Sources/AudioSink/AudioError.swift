/// Why there is no sound: what kind of failure, and one sentence that names the thing that failed.
public struct AudioError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// The device does not exist, is busy, or may not be opened.
        case cannotOpen
        /// The device takes no format that we make.
        case unsupportedFormat
        /// The device was unplugged, or stopped taking sound.
        case lost
        /// No decoder for this track, or it refused the track's set-up data.
        case noDecoder
        /// The system refused a resource.
        case system
    }
    public let code: Code
    /// ALSA's, libavcodec's or the kernel's negative error number; 0 when there is none.
    public let underlying: Int32
    public let description: String

    public init(_ code: Code, _ description: String, underlying: Int32 = 0) {
        self.code = code
        self.underlying = underlying
        self.description = description
    }
}
