internal import CLinux
internal import Glibc

/// Wakes a thread that sleeps in `poll`.
///
/// Thread-safety: any thread may signal; the thread that waits drains. The corresponding C function is `eventfd(2)`.
public final class EventFD: Sendable {
    private let fd: OwnedFD

    /// Opens a descriptor that is not readable yet. Throws when the process has no descriptor left.
    public init() throws(SystemError) {
        let raw = clinux_eventfd()
        guard raw >= 0 else { throw SystemError(errno, "create an event descriptor") }
        fd = OwnedFD(adopting: raw)
    }

    /// The descriptor to wait for. Borrowed; readable from a `signal` until the next `drain`.
    public var rawValue: Int32 { fd.rawValue }

    /// Makes the descriptor readable. Several signals before a `drain` count as one.
    public func signal() { clinux_eventfd_signal(fd.rawValue) }

    /// Makes the descriptor unreadable again. Drain *before* reading the state that the signal announces, so that no change is missed.
    public func drain() { clinux_eventfd_drain(fd.rawValue) }
}
