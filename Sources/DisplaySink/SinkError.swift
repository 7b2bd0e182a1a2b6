/// Why a sink cannot show: one sentence, and its kind.
public struct SinkError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// There is no display to connect to.
        case noDisplay
        /// The display went away while it was in use.
        case lost
        /// The display cannot show this at all.
        case unsupported
        /// A file that was to be written cannot be.
        case cannotCreate
        /// The system refused something it normally grants.
        case system
    }

    public var code: Code
    /// What failed and why, as one sentence that names the thing.
    public var description: String

    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
