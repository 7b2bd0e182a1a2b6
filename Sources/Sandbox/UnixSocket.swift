internal import CLinux
internal import Glibc
package import Media

/// A Unix socket over which bytes and descriptors go. Nothing here waits.
///
/// The corresponding C functions are `sendmsg(2)` and `recvmsg(2)` with `SCM_RIGHTS`.
package struct UnixSocket: ~Copyable, Sendable {
    private let fd: OwnedFD

    package enum Sent: Sendable { case whole, full, broken }
    package enum Received: Sendable {
        case bytes([UInt8], fds: [Int32])
        case nothing
        case closed
    }

    package init(adopting fd: consuming OwnedFD) { self.fd = fd }

    package var rawValue: Int32 { fd.rawValue }

    /// Listens at `path`, for this user alone. A socket there that nobody listens on is replaced.
    package static func listening(_ path: String) throws(SystemError) -> UnixSocket {
        let fd = unsafe path.withPath { unsafe clinux_unix_listen($0) }
        guard fd >= 0 else { throw SystemError(errno, "listen here") }
        return UnixSocket(adopting: OwnedFD(adopting: fd))
    }

    /// Connects to who listens at `path`.
    package static func connected(_ path: String) throws(SystemError) -> UnixSocket {
        let fd = unsafe path.withPath { unsafe clinux_unix_connect($0) }
        guard fd >= 0 else { throw SystemError(errno, "connect") }
        return UnixSocket(adopting: OwnedFD(adopting: fd))
    }

    /// The next connection; nil when none waits. Throws when none can be taken in, whether one waits or not: the process has no descriptors left,
    /// or the system no memory. See `AcceptPause`.
    package func accept() throws(SystemError) -> UnixSocket? {
        while true {
            let peer = clinux_unix_accept(fd.rawValue)
            if peer >= 0 { return UnixSocket(adopting: OwnedFD(adopting: peer)) }
            switch errno {
            case EAGAIN: return nil
            case ECONNABORTED, EINTR: continue
            default: throw SystemError(errno, "accept a connection")
            }
        }
    }

    /// The peer is this user or root.
    package var isPeerTrusted: Bool {
        var user: UInt32 = 0
        return unsafe clinux_unix_peer_user(fd.rawValue, &user) == 0 && (user == geteuid() || user == 0)
    }

    /// Sends a message at once or not at all. `descriptor` is borrowed; negative: none.
    package func send(_ bytes: [UInt8], descriptor: Int32 = -1) -> Sent {
        // Messages of this size go as one piece; a part of one means that the stream is of no use any more.
        do throws(SystemError) {
            return try fd.send(bytes, descriptors: descriptor >= 0 ? [descriptor] : []) == bytes.count ? .whole : .broken
        } catch {
            return error.code == EAGAIN ? .full : .broken
        }
    }

    /// Sends as many of the bytes as there is room for, and says how many; nil: the connection is broken.
    package func write(_ bytes: [UInt8]) -> Int? {
        do throws(SystemError) { return try fd.send(bytes) } catch { return error.code == EAGAIN ? 0 : nil }
    }

    /// At most `limit` bytes, and the descriptors that came with them, which are the caller's.
    package func receive(_ limit: Int, descriptorLimit: Int = 16) -> Received {
        do throws(SystemError) {
            guard let message = try fd.receive(byteLimit: limit, descriptorLimit: descriptorLimit) else { return .nothing }
            return message.bytes.isEmpty ? .closed : .bytes(message.bytes, fds: message.descriptors)
        } catch {
            return .closed
        }
    }
}
