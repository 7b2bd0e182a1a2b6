internal import Media

/// Why there is no surface or no allocator.
public struct SurfaceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// This machine lacks the device, the program may not open it, or a descriptor is of another kind than it should be.
        case unavailable
        /// The system refused the memory.
        case noMemory
        /// The pool has been closed.
        case closed
        /// The planes do not fit the format or the memory.
        case layout
    }
    /// The kind, for a program's decisions.
    public let code: Code
    /// The kernel's reason (`errno`) or libva's (`VAStatus`); 0 where there is none.
    public let status: Int32
    /// One sentence.
    public let description: String

    /// Makes an error, also for an allocator that a program brings. `description` is one sentence.
    public init(_ code: Code, _ description: String, status: Int32 = 0) {
        self.code = code
        self.status = status
        self.description = description
    }

    init(_ code: Code, _ error: SystemError) { self.init(code, error.description, status: error.code) }
}
