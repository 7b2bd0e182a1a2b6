internal import CLinux
internal import Glibc
internal import Media

/// Plain shared memory that a Wayland compositor can read in place through `wl_shm`. Works on every kernel.
///
/// Each surface is a memfd of its own, sealed against shrinking so that no reader can be made to fault.
/// The corresponding C function is `memfd_create(2)`.
public struct MemfdAllocator: SurfaceAllocator {
    /// Makes the allocator. It has no state and opens nothing.
    public init() {}
    /// `memfd`.
    public var name: String { "memfd" }

    /// Makes a memfd of `layout.byteCount` zero bytes and maps it for reading and writing. Any thread.
    /// - Throws: `.noMemory` when the system has no descriptor or memory left.
    public func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory {
        try SurfaceMemory(kind: .memfd, descriptor: Self.sealedMemory(byteCount: layout.byteCount), byteCount: layout.byteCount)
    }

    /// A memfd of `byteCount` zero bytes that nobody can shrink.
    static func sealedMemory(byteCount: Int) throws(SurfaceError) -> OwnedFD {
        let descriptor = unsafe clinux_memfd("surface")
        guard descriptor >= 0 else { throw SurfaceError(.noMemory, SystemError(errno, "create a memfd")) }
        let memory = OwnedFD(adopting: descriptor)
        guard ftruncate(descriptor, byteCount) == 0 else {
            throw SurfaceError(.noMemory, SystemError(errno, "size a memfd to \(byteCount) bytes"))
        }
        // No other seal can be added by those who get the descriptor: one against writing would spoil the memory for its next frame.
        guard clinux_memfd_seal_only_shrink(descriptor) == 0 else {
            throw SurfaceError(.noMemory, SystemError(errno, "seal a memfd"))
        }
        return memory
    }
}
