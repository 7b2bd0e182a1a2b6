internal import Sandbox

/// The socket over which frames are released; it lives as long as any of them.
///
/// Thread-safety: all of it.
final class RemoteConnection: Sendable {
    let socket: UnixSocket

    init(_ socket: consuming UnixSocket) { self.socket = socket }

    /// Says that the buffer is no longer read. A peer that is gone, or reads nothing, learns it when the connection closes.
    func release(_ id: UInt64) { _ = socket.send(UnixFDCommand.release(id)) }
}
