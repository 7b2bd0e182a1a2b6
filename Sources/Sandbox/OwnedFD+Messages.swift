internal import CLinux
internal import Glibc
package import Media

/// Bytes that came over a Unix socket, with the descriptors that were sent along.
package struct SocketMessage {
    /// Empty at the end of the connection.
    package var bytes: [UInt8]
    /// Owned by the receiver.
    package var descriptors: [Int32]
    /// The message had more bytes or descriptors than the receiver takes.
    package var isCut: Bool
}

/// Unix sockets.
extension OwnedFD {
    /// Sends bytes with borrowed descriptors, at most 16. The corresponding C function is `sendmsg(2)` with `SCM_RIGHTS`.
    ///
    /// - Parameter waits: Whether to wait while the receiver is behind; otherwise that is the error `EAGAIN`.
    /// - Returns: how many bytes were sent.
    package borrowing func send(_ bytes: [UInt8], descriptors: [Int32] = [], waits: Bool = false) throws(SystemError) -> Int {
        let count = unsafe descriptors.withUnsafeBufferPointer { numbers in
            unsafe clinux_send(rawValue, bytes, bytes.count, numbers.baseAddress, Int32(numbers.count), waits ? 1 : 0)
        }
        guard count >= 0 else { throw SystemError(errno, "send a message") }
        return count
    }

    /// Takes what has come, without waiting. The corresponding C function is `recvmsg(2)` with `SCM_RIGHTS`.
    ///
    /// - Parameter descriptorLimit: At most 16; more descriptors are closed.
    /// - Returns: nil when nothing has come.
    package borrowing func receive(byteLimit: Int, descriptorLimit: Int) throws(SystemError) -> SocketMessage? {
        var numbers = [Int32](repeating: -1, count: descriptorLimit)
        var count = Int32(descriptorLimit), isCut: Int32 = 0
        var length = 0, code: Int32 = 0
        let socket = rawValue
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteLimit) { place, filled in
            length = unsafe clinux_receive(socket, place.baseAddress, place.count, &numbers, &count, &isCut)
            code = errno
            filled = max(0, length)
        }
        if length < 0 {
            if code == EAGAIN { return nil }
            throw SystemError(code, "receive a message")
        }
        return SocketMessage(bytes: bytes, descriptors: Array(numbers[..<Int(count)]), isCut: isCut != 0)
    }
}
