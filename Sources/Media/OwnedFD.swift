internal import Glibc

/// The one owner of an open file descriptor; the descriptor is closed when the owner goes.
///
/// The corresponding C function is `close(2)`.
public struct OwnedFD: ~Copyable, Sendable {
    /// The number, for calls that borrow the descriptor. It identifies nothing once the owner is gone.
    public let rawValue: Int32

    /// Takes over `rawValue`, which must be open and owned by nobody else.
    public init(adopting rawValue: Int32) {
        precondition(rawValue >= 0, "not a file descriptor")
        self.rawValue = rawValue
    }

    deinit { close(rawValue) }

    /// A second descriptor for the same open file (`F_DUPFD_CLOEXEC`).
    public borrowing func duplicate() throws(SystemError) -> OwnedFD {
        let copy = fcntl(rawValue, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemError(errno, "duplicate a file descriptor") }
        return OwnedFD(adopting: copy)
    }

    /// Gives the descriptor up to the caller, who must close it.
    public consuming func take() -> Int32 {
        let fd = rawValue
        discard self
        return fd
    }
}

/// A failed system call: what failed, and the kernel's reason.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The `errno` value.
    public let code: Int32
    /// What failed, as the end of "cannot …".
    public let action: String

    /// Reports the failure of `action`, the end of a sentence that begins with "cannot", with the value of `errno`.
    public init(_ code: Int32, _ action: String) {
        self.code = code
        self.action = action
    }

    /// The text of `strerror(3)`.
    package var reason: String { unsafe String(cString: strerror(code)) }

    /// One sentence without a full stop: "cannot …: " and the text of `strerror(3)`.
    public var description: String { "cannot \(action): \(reason)" }
}
