/// Why a sink cannot show frames: a code and a sentence.
public struct SinkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure that a program may want to tell apart.
    public enum Code: Sendable, Hashable {
        /// There is no display, or it cannot be used.
        case noDisplay
        /// The display went away while it was in use.
        case lost
        /// The display cannot do what is required.
        case unsupported
        /// An output file cannot be created.
        case cannotCreate
        /// An output file cannot be written whole.
        case cannotWrite
        /// An exporter of frames serves another film.
        case inUse
        /// A system call failed.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// One sentence that says what failed and why.
    public var description: String

    /// Creates an error. `description` is one sentence for the viewer.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
