internal import CLinux
internal import Glibc

/// A bell that wakes a thread sleeping in `poll`.
///
/// Thread-safety: any thread may signal; the sleeper drains. The corresponding C function is `eventfd(2)`.
public final class EventFD: Sendable {
    private let fd: OwnedFD

    public init() throws(SystemError) {
        let raw = clinux_eventfd()
        guard raw >= 0 else { throw SystemError(errno, "create an event descriptor") }
        fd = OwnedFD(adopting: raw)
    }

    /// Borrowed; readable while the bell has been rung and not drained.
    public var rawValue: Int32 { fd.rawValue }

    /// Rings the bell; ringing twice before the sleeper looks is ringing once.
    public func signal() { clinux_eventfd_signal(fd.rawValue) }

    /// Makes the bell silent again. Drain *before* looking at the state that the bell announces.
    public func drain() { clinux_eventfd_drain(fd.rawValue) }
}
