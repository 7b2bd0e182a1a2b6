internal import CLinux
internal import Glibc
package import Media

/// One end of a connection that delivers whole messages, which may carry descriptors.
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

    /// 256 KB: several messages about every surface that there can be (the kernel counts about 1 KB for a small message).
    private static let roomEachWay: Int32 = 256 << 10

    package var rawValue: Int32 { fd.rawValue }

    /// Sends one message, with borrowed descriptors.
    /// - Parameter waits: Whether to wait for room while the other end is behind; otherwise that is an error.
    package func send(_ message: WireWriter, descriptors: [Int32] = [], waits: Bool = false) throws(SystemError) {
        _ = try fd.send(message.bytes, descriptors: descriptors, waits: waits)
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

        /// The most descriptors in one message; a message with more is malformed.
        fileprivate static let most = 4

        fileprivate init(_ numbers: [Int32]) {
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
        let received: SocketMessage?
        do throws(SystemError) {
            received = try fd.receive(byteLimit: WireWriter.capacity, descriptorLimit: Descriptors.most)
        } catch {
            if error.code == ECONNRESET { return .end }
            throw error
        }
        guard let received else { return .nothing }
        let descriptors = Descriptors(received.descriptors)
        if received.isCut { throw SystemError(EMSGSIZE, "receive a message") }
        return received.bytes.isEmpty ? .end : .message(received.bytes, descriptors)
    }

    /// Takes one message, and waits for it without limit; nil when the other end has gone.
    package func next() throws(SystemError) -> Incoming? {
        var waiting = [PollDescriptor(fd: rawValue, interest: .readable)]
        while true {
            switch try receive() {
            case .message(let bytes, let descriptors): return Incoming(bytes: bytes, descriptors: descriptors)
            case .end: return nil
            case .nothing: _ = try pollDescriptors(&waiting)
            }
        }
    }

    /// A message, and what came with it.
    package struct Incoming: ~Copyable {
        package let bytes: [UInt8]
        package var descriptors: Descriptors
    }

    /// Makes both ends see the end of the connection.
    package func shutDown() { shutdown(fd.rawValue, Int32(SHUT_RDWR)) }
}
