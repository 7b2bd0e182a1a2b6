/// Why a frame cannot become a texture: one sentence, and its kind.
public struct TextureCacheError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// There is no library, no current context or no device, or what there is is too old.
        case device
        /// Neither import nor upload knows the format.
        case unsupported
        /// The driver refused, or memory is short.
        case failed
    }

    /// The kind, for a program's decisions.
    public var code: Code
    /// One sentence.
    public var description: String

    /// Makes an error. `description` is one sentence.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
