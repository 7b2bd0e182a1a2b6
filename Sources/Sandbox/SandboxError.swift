internal import Glibc
package import Media

/// Why a process without rights cannot be started.
public struct SandboxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// The program is missing or cannot be started at all: this machine has no such sandbox.
        case unavailable
        /// The system has no descriptor, memory or process left at the moment, or refuses the program for another passing reason. A film can bring
        /// that about, so it is never a reason to do the work in the program itself.
        case outOfResources
    }

    /// The kind of failure, for a program's decisions.
    public let code: Code
    /// The system's error number (`errno`), 0 where it has none.
    public let status: Int32
    /// What failed and why, in one sentence.
    public let description: String

    package init(_ code: Code, _ description: String, status: Int32 = 0) {
        self.code = code
        self.status = status
        self.description = description
    }

    /// What the system said when a process, a socket or shared memory was to be made.
    package init(_ error: SystemError) {
        let isShortage = [EMFILE, ENFILE, ENOMEM, EAGAIN, ENOBUFS, ENOSPC, EFBIG].contains(error.code)
        self.init(isShortage ? .outOfResources : .unavailable, error.description, status: error.code)
    }
}
