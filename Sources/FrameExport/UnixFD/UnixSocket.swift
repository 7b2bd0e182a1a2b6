internal import CLinux
internal import Glibc
internal import Media
internal import Sandbox

/// A Unix socket over which bytes and descriptors go. Nothing here waits.
///
/// The corresponding C functions are `sendmsg(2)` and `recvmsg(2)` with `SCM_RIGHTS`.
struct UnixSocket: ~Copyable, Sendable {
    private let fd: OwnedFD

    enum Sent: Sendable { case whole, full, broken }
    enum Received: Sendable {
        case bytes([UInt8], fds: [Int32])
        case nothing
        case closed
    }

    init(adopting fd: consuming OwnedFD) { self.fd = fd }

    var rawValue: Int32 { fd.rawValue }

    /// Listens at `path`, for this user alone.
    static func listening(_ path: String) throws(ExportError) -> UnixSocket {
        let fd = unsafe path.withPath { unsafe clinux_unix_listen($0) }
        guard fd >= 0 else { throw ExportError(.socket, "\(path): cannot serve frames here: \(unsafe String(cString: strerror(errno))).") }
        return UnixSocket(adopting: OwnedFD(adopting: fd))
    }

    static func connected(_ path: String) throws(ExportError) -> UnixSocket {
        let fd = unsafe path.withPath { unsafe clinux_unix_connect($0) }
        guard fd >= 0 else { throw ExportError(.socket, "\(path): cannot connect: \(unsafe String(cString: strerror(errno))).") }
        return UnixSocket(adopting: OwnedFD(adopting: fd))
    }

    /// The next connection; nil when none waits.
    func accept() -> UnixSocket? {
        let peer = clinux_unix_accept(fd.rawValue)
        return peer >= 0 ? UnixSocket(adopting: OwnedFD(adopting: peer)) : nil
    }

    /// The peer is this user or root.
    var isPeerTrusted: Bool {
        var user: UInt32 = 0
        return unsafe clinux_unix_peer_user(fd.rawValue, &user) == 0 && (user == geteuid() || user == 0)
    }

    /// Sends a message at once or not at all. `descriptor` is borrowed; negative: none.
    func send(_ bytes: [UInt8], descriptor: Int32 = -1) -> Sent {
        // Messages of this size go as one piece; a part of one means that the stream is of no use any more.
        do throws(SystemError) {
            return try fd.send(bytes, descriptors: descriptor >= 0 ? [descriptor] : []) == bytes.count ? .whole : .broken
        } catch {
            return error.code == EAGAIN ? .full : .broken
        }
    }

    /// At most `limit` bytes, and the descriptors that came with them, which are the caller's.
    func receive(_ limit: Int, descriptorLimit: Int = 16) -> Received {
        do throws(SystemError) {
            guard let message = try fd.receive(byteLimit: limit, descriptorLimit: descriptorLimit) else { return .nothing }
            return message.bytes.isEmpty ? .closed : .bytes(message.bytes, fds: message.descriptors)
        } catch {
            return .closed
        }
    }
}
