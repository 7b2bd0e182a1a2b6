internal import CLinux
internal import Glibc

/// The events of a descriptor in `poll(2)`.
public struct PollEvents: OptionSet, Sendable, Hashable {
    /// The bits of `pollfd.events` and `pollfd.revents`.
    public var rawValue: Int16
    /// Takes bits as `poll(2)` defines them.
    public init(rawValue: Int16) { self.rawValue = rawValue }
    /// Bytes, a connection or the end of the stream can be read without waiting (`POLLIN`).
    public static let readable = PollEvents(rawValue: Int16(POLLIN))
    /// Bytes can be written without waiting (`POLLOUT`).
    public static let writable = PollEvents(rawValue: Int16(POLLOUT))
    /// An exceptional condition, such as out-of-band data (`POLLPRI`).
    public static let urgent = PollEvents(rawValue: Int16(POLLPRI))
    /// An error on the descriptor (`POLLERR`). Reported without being asked for.
    public static let error = PollEvents(rawValue: Int16(POLLERR))
    /// The other end is closed (`POLLHUP`). Reported without being asked for.
    public static let hangUp = PollEvents(rawValue: Int16(POLLHUP))
    /// The number is not an open descriptor (`POLLNVAL`). Reported without being asked for.
    public static let invalid = PollEvents(rawValue: Int16(POLLNVAL))
}

/// One descriptor to wait for. It has the memory layout of C's `struct pollfd`.
public struct PollDescriptor: Sendable {
    /// Borrowed; a negative number is ignored.
    public var fd: Int32
    /// The events to wait for. `error`, `hangUp` and `invalid` are reported in any case.
    public var interest: PollEvents
    /// The events that have happened; `pollDescriptors` sets it.
    public var ready: PollEvents

    /// Asks for `interest` on a borrowed descriptor; no event is ready yet.
    public init(fd: Int32, interest: PollEvents) {
        self.fd = fd
        self.interest = interest
        ready = []
    }
}

/// Sleeps until a descriptor is ready or `deadline` (CLOCK_MONOTONIC, honoured to the timer's resolution; nil waits for ever)
/// has passed. Returns how many are ready: 0 at the deadline. A signal does not end the sleep.
///
/// The corresponding C function is `ppoll(2)`. It allocates nothing.
public func pollDescriptors(_ descriptors: inout [PollDescriptor], until deadline: HostTime? = nil) throws(SystemError) -> Int {
    while true {
        var timeout: Int64 = -1
        if let deadline { timeout = max(0, (deadline - MonotonicClock.shared.now()).nanoseconds) }
        let count = unsafe descriptors.withUnsafeMutableBytes { bytes in
            unsafe clinux_poll(bytes.baseAddress, UInt(bytes.count / MemoryLayout<PollDescriptor>.stride), timeout)
        }
        if count >= 0 { return Int(count) }
        let code = errno
        guard code == EINTR else { throw SystemError(code, "wait for descriptors") }
    }
}
