internal import CLinux
internal import Media
internal import SurfacePool

/// The surfaces of a connection. Memory that the server sends again is recognised by its file, so importers import it once.
///
/// Thread-safety: one thread at a time.
struct RemoteMemory: Sendable {
    private struct File: Sendable, Hashable {
        var device: UInt64
        var inode: UInt64
    }

    private struct Known: Sendable {
        var surface: Surface
        var lastSeen: UInt64
    }

    /// 32: twice the slots of a usual pool. Memory unseen for that many frames is unlikely to come again; keeping it costs the server.
    private static let interval: UInt64 = 32

    private var known: [File: Known] = [:]
    /// Frames so far.
    private(set) var count: UInt64 = 0

    /// The surface in which the next frame lies. The descriptor of memory that is known already is closed.
    mutating func surface(_ descriptor: consuming OwnedFD, _ layout: SurfaceLayout, isDMABuf: Bool) throws(SurfaceError) -> Surface {
        var file = File(device: 0, inode: 0), size: Int64 = 0
        guard unsafe clinux_file_identity(descriptor.rawValue, &file.device, &file.inode, &size) == 0 else {
            throw SurfaceError(.unavailable, "The memory has no file.")
        }
        count += 1
        let now = count
        defer { forget { now - $0.lastSeen >= Self.interval } }
        if let old = known[file], old.surface.layout == layout {
            known[file]?.lastSeen = count
            return old.surface
        }
        let memory =
            try isDMABuf
            ? SurfaceMemory(dmabuf: descriptor, byteCount: layout.byteCount) : SurfaceMemory(memfd: descriptor, byteCount: layout.byteCount)
        let surface = try Surface.adopting(memory, layout)
        known.updateValue(Known(surface: surface, lastSeen: count), forKey: file)?.surface.endWriting()
        return surface
    }

    /// Gives up the memory so far: no frame will lie in it. Each piece goes when its last use ends.
    mutating func forgetAll() { forget { _ in true } }

    private mutating func forget(_ isForgotten: (Known) -> Bool) {
        for (file, entry) in known where isForgotten(entry) {
            known[file] = nil
            entry.surface.endWriting()
        }
    }
}
