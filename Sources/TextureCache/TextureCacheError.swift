/// Why a frame cannot become a texture: one sentence, and its kind.
public struct TextureCacheError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// There is no library, no current context, or one that is too old.
        case device
        /// Neither import nor upload knows the format.
        case unsupported
        /// The driver refused, or memory is short.
        case failed
    }

    public var code: Code
    public var description: String

    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
