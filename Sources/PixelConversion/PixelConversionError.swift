/// Why a frame cannot be converted.
public struct PixelConversionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// The source's or the target's pixel format or colours cannot be converted. The next frame like this one fails, too.
        case unsupportedFormat
        /// There is no surface to write into: consumers hold them all, the wait was interrupted, or the system has no memory.
        case outOfSurfaces
    }

    /// The kind, for a program's decisions.
    public let code: Code
    /// One sentence.
    public let description: String

    /// Makes an error, also for a `FrameConverter` that a program brings. `description` is one sentence.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension PixelConversionError {
    /// Formats by name.
    package static func noConversion(from source: String, to target: String) -> PixelConversionError {
        PixelConversionError(.unsupportedFormat, "there is no conversion from \(source) to \(target)")
    }
}
