/// The socket that releases go back on; it lives as long as a frame does.
///
/// Thread-safety: all of it.
final class RemoteConnection: Sendable {
    let socket: UnixSocket

    init(_ socket: consuming UnixSocket) { self.socket = socket }

    /// Says that the buffer is no longer read. A peer that is gone, or reads nothing, learns it when the connection closes.
    func release(_ id: UInt64) { _ = socket.send(UnixFDCommand.release(id)) }
}
