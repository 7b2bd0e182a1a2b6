internal import CLinux
internal import CWaylandClient
internal import Glibc
internal import Media

/// Memory of our own that the compositor reads through `wl_shm`: converted pictures, the pointer's arrow, a black pixel.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class SharedMemory {
    let base: UnsafeMutableRawPointer
    let byteCount: Int
    private let descriptor: OwnedFD
    private let pool: OpaquePointer

    init?(_ connection: WaylandConnection, byteCount: Int) {
        let fd = unsafe clinux_memfd("picture")
        guard fd >= 0 else { return nil }
        let descriptor = OwnedFD(adopting: fd)
        guard ftruncate(fd, byteCount) == 0, clinux_memfd_seal_shrink(fd) == 0,
            let base = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), unsafe base != MAP_FAILED
        else { return nil }
        guard let pool = unsafe wl_shm_create_pool(connection.shm, fd, Int32(byteCount)) else {
            unsafe munmap(base, byteCount)
            return nil
        }
        unsafe self.base = base
        self.byteCount = byteCount
        self.descriptor = descriptor
        unsafe self.pool = pool
    }

    deinit {
        unsafe wl_shm_pool_destroy(pool)
        unsafe munmap(base, byteCount)
    }

    /// A picture at the memory's beginning; `format` is `wl_shm`'s code.
    func buffer(size: PixelSize, pitch: Int, format: UInt32) -> WaylandBuffer? {
        unsafe wl_shm_pool_create_buffer(pool, 0, Int32(size.width), Int32(size.height), Int32(pitch), format).map {
            unsafe WaylandBuffer($0, size: size)
        }
    }
}
