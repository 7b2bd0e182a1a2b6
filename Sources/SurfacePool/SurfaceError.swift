internal import Media

/// Why a surface or an allocator cannot be had.
public struct SurfaceError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// This machine lacks the device, the program may not open it, or a descriptor is of another kind than it should be.
        case unavailable
        /// The system would not give the memory.
        case noMemory
        /// The pool has been closed.
        case closed
        /// The planes do not fit the format or the memory.
        case layout
    }
    public let code: Code
    /// The kernel's reason (`errno`), 0 where it gave none.
    public let status: Int32
    /// One sentence.
    public let description: String

    public init(_ code: Code, _ description: String, status: Int32 = 0) {
        self.code = code
        self.status = status
        self.description = description
    }

    init(_ code: Code, _ error: SystemError) { self.init(code, error.description, status: error.code) }
}
