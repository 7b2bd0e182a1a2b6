internal import CLinux
internal import Glibc
package import Media

/// One end of a connection on which messages keep their borders and may carry descriptors.
///
/// Thread-safety: any thread may send and receive. The corresponding C functions are `socketpair(2)` with `SOCK_SEQPACKET`,
/// `sendmsg(2)` and `recvmsg(2)`.
package final class PacketSocket: Sendable {
    private let fd: OwnedFD

    package init(adopting fd: consuming OwnedFD) { self.fd = fd }

    /// Both ends of a new connection.
    package static func pair() throws(SystemError) -> (PacketSocket, PacketSocket) {
        var first: Int32 = -1, second: Int32 = -1
        guard unsafe clinux_packet_pair(&first, &second, roomEachWay) == 0 else { throw SystemError(errno, "connect two sockets") }
        return (PacketSocket(adopting: OwnedFD(adopting: first)), PacketSocket(adopting: OwnedFD(adopting: second)))
    }

    /// 256 KB: a word about every surface that there can be, several times over (the kernel counts about 1 KB for a small message).
    private static let roomEachWay: Int32 = 256 << 10

    package var rawValue: Int32 { fd.rawValue }

    /// Sends one message, with borrowed descriptors.
    /// - Parameter waits: for room, if the other end is behind; else that is an error.
    package func send(_ message: WireWriter, descriptors: [Int32] = [], waits: Bool = false) throws(SystemError) {
        let status = unsafe message.bytes.withUnsafeBytes { bytes in
            unsafe descriptors.withUnsafeBufferPointer { numbers in
                unsafe clinux_send_packet(fd.rawValue, bytes.baseAddress, bytes.count, numbers.baseAddress, Int32(numbers.count), waits ? 1 : 0)
            }
        }
        guard status == 0 else { throw SystemError(errno, "send a message") }
    }

    package enum Received: ~Copyable {
        case message([UInt8], Descriptors)
        /// Nothing has come.
        case nothing
        /// The other end has gone.
        case end
    }

    /// Descriptors that came with a message; those not taken are closed.
    package struct Descriptors: ~Copyable {
        private var first: OwnedFD?
        private var second: OwnedFD?
        private var third: OwnedFD?
        let count: Int

        fileprivate init(_ numbers: ArraySlice<Int32>) {
            count = numbers.count
            for (index, number) in numbers.enumerated() {
                let owned = OwnedFD(adopting: number)
                switch index {
                case 0: first = consume owned
                case 1: second = consume owned
                case 2: third = consume owned
                default: _ = consume owned
                }
            }
        }

        package mutating func takeFirst() -> OwnedFD? { first.take() }
        package mutating func takeSecond() -> OwnedFD? { second.take() }
        package mutating func takeThird() -> OwnedFD? { third.take() }
    }

    /// Takes one message, without waiting.
    package func receive() throws(SystemError) -> Received {
        var numbers: [Int32] = [-1, -1, -1, -1]
        var count: Int32 = 0
        var length = 0, code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: WireWriter.capacity) { place, filled in
            length = unsafe numbers.withUnsafeMutableBufferPointer { numbers in
                unsafe clinux_receive_packet(fd.rawValue, place.baseAddress, place.count, numbers.baseAddress, &count)
            }
            code = errno
            filled = max(0, length)
        }
        if length < 0 {
            if code == EAGAIN { return .nothing }
            if code == ECONNRESET { return .end }
            throw SystemError(code, "receive a message")
        }
        if length == 0 { return .end }
        return .message(bytes, Descriptors(numbers[..<Int(count)]))
    }

    /// Makes both ends see the end of the connection.
    package func shutDown() { shutdown(fd.rawValue, Int32(SHUT_RDWR)) }
}
