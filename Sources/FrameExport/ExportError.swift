/// Why frames cannot be served or received: a kind and one sentence.
public struct ExportError: Error, Sendable, Hashable, CustomStringConvertible {
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

    public var code: Code
    public var description: String

    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
