internal import CLinux
internal import Glibc

/// The events of a descriptor in `poll(2)`.
public struct PollEvents: OptionSet, Sendable, Hashable {
    public var rawValue: Int16
    public init(rawValue: Int16) { self.rawValue = rawValue }
    public static let readable = PollEvents(rawValue: Int16(POLLIN))
    public static let writable = PollEvents(rawValue: Int16(POLLOUT))
    public static let urgent = PollEvents(rawValue: Int16(POLLPRI))
    /// Reported without being asked for: an error on the descriptor, the other end is closed, or not a descriptor.
    public static let error = PollEvents(rawValue: Int16(POLLERR))
    public static let hangUp = PollEvents(rawValue: Int16(POLLHUP))
    public static let invalid = PollEvents(rawValue: Int16(POLLNVAL))
}

/// One descriptor to wait for. It has the memory layout of C's `struct pollfd`.
public struct PollDescriptor: Sendable {
    /// Borrowed; a negative number is ignored.
    public var fd: Int32
    public var interest: PollEvents
    /// The events that have happened; `pollDescriptors` sets it.
    public var ready: PollEvents

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
