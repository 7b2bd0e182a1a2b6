/// Why there is no sound: what kind of failure, and one sentence that names the thing that failed.
public struct AudioError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// The device does not exist, is busy, or may not be opened.
        case cannotOpen
        /// The device takes no format that we make.
        case unsupportedFormat
        /// The device was unplugged, or stopped taking sound.
        case lost
        /// No decoder for this track, or it refused the track's set-up data.
        case noDecoder
        /// The process in which the sound is to be decoded cannot be had, is not confined as required, or died too often.
        case sandbox
        /// The system refused a resource.
        case system
    }
    /// The kind of failure, for a program's decisions.
    public let code: Code
    /// ALSA's or libavcodec's negative error number, or the kernel's `errno`; 0 when there is none.
    public let underlying: Int32
    /// One sentence that names what failed and why, for a message; it begins with a small letter and has no full stop.
    public let description: String

    /// An error of a device, a decoder or the system; `underlying` is the number that it gave.
    public init(_ code: Code, _ description: String, underlying: Int32 = 0) {
        self.code = code
        self.underlying = underlying
        self.description = description
    }
}
