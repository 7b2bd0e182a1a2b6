internal import Glibc
internal import Media

/// A picture of another process: its memory's descriptor, and the duty to say when it is no longer read.
@safe
struct RemoteBuffer: ~Copyable, @unchecked Sendable {
    private let memory: OwnedFD
    private let connection: RemoteConnection
    private let id: UInt64
    private let byteCount: Int
    private let isDMABuf: Bool

    init(memory: consuming OwnedFD, connection: RemoteConnection, id: UInt64, byteCount: Int, isDMABuf: Bool) {
        self.memory = memory
        self.connection = connection
        self.id = id
        self.byteCount = byteCount
        self.isDMABuf = isDMABuf
    }

    deinit { connection.release(id) }

    var fd: Int32 { memory.rawValue }

    /// Maps the memory for as long as `body` runs. Nil when it cannot be mapped.
    borrowing func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
        let address = unsafe mmap(nil, byteCount, PROT_READ, MAP_SHARED, memory.rawValue, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else { return nil }
        defer { unsafe munmap(address, byteCount) }
        if isDMABuf { try? DMABuf.beginCPUAccess(memory.rawValue, .read) }
        defer { if isDMABuf { try? DMABuf.endCPUAccess(memory.rawValue, .read) } }
        return try unsafe body(UnsafeRawBufferPointer(start: address, count: byteCount))
    }

    consuming func release(after fence: consuming SyncFile) {
        let isCarried = isDMABuf && (try? DMABuf.importSyncFile(memory.rawValue, fence, as: .read)) != nil
        if !isCarried { _ = fence.wait(until: nil) }
    }
}

/// The socket that releases go back on; it lives as long as a frame does.
///
/// Thread-safety: all of it.
final class RemoteConnection: Sendable {
    let socket: UnixSocket

    init(_ socket: consuming UnixSocket) { self.socket = socket }

    /// Says that the buffer is no longer read. A peer that is gone, or reads nothing, learns it when the connection closes.
    func release(_ id: UInt64) { _ = socket.send(UnixFDCommand.release(id)) }
}
