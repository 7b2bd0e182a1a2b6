/// Why frames cannot be served or received: a kind and one sentence.
public struct ExportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// The socket cannot be made or reached.
        case socket
        /// The peer does not keep to the protocol.
        case malformed
        /// The peer sends something that this library cannot describe.
        case unsupported
        /// The peer is gone.
        case closed
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
