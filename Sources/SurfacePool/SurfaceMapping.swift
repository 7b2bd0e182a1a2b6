internal import CLinux
internal import Glibc
internal import Media

/// Where a surface's memory is mapped and what the CPU may do there.
///
/// At least one page that can be read follows every mapping: the vector instructions of libswscale, zimg and libavcodec read whole vectors, past
/// the last pixel, and a layout that another process or a driver states may end where its memory ends.
@safe
struct SurfaceMapping {
    let address: UnsafeMutableRawPointer
    let byteCount: Int
    let access: SurfaceMemory.Access

    init(address: UnsafeMutableRawPointer, byteCount: Int, access: SurfaceMemory.Access) {
        unsafe self.address = address
        self.byteCount = byteCount
        self.access = access
    }

    /// Maps the first of `ways` that the kernel allows, else reserves a range of addresses of the same size.
    init(_ fd: Int32, _ byteCount: Int, _ ways: [(protection: Int32, access: SurfaceMemory.Access)]) throws(SurfaceError) {
        for way in ways {
            guard let mapped = unsafe Self.map(fd, byteCount, way.protection) else { continue }
            unsafe self.init(address: mapped, byteCount: byteCount, access: way.access)
            return
        }
        guard let reserved = unsafe Self.reserve(byteCount, PROT_NONE) else {
            throw SurfaceError(.noMemory, SystemError(errno, "reserve \(byteCount) bytes of addresses"))
        }
        unsafe self.init(address: reserved, byteCount: byteCount, access: .none)
    }

    /// Maps a caller's descriptor, which must have `wanted` bytes.
    init(of fd: Int32, _ wanted: Int?, _ what: String) throws(SurfaceError) {
        let size = Int(clamping: clinux_size(fd)), count = wanted ?? size
        guard count > 0, count <= size else {
            throw SurfaceError(.unavailable, "The \(what) has \(max(size, 0)) bytes; \(count) are needed.")
        }
        try self.init(fd, count, [(PROT_READ | PROT_WRITE, .readWrite), (PROT_READ, .read)])
    }

    /// Maps the first `byteCount` bytes of a descriptor, with padding behind them; nil with `errno`. The corresponding C function is `mmap(2)`.
    static func map(_ fd: Int32, _ byteCount: Int, _ protection: Int32) -> UnsafeMutableRawPointer? {
        guard let place = unsafe reserve(byteCount, protection) else { return nil }
        let mapped = unsafe mmap(place, byteCount, protection, MAP_SHARED | MAP_FIXED, fd, 0)
        if unsafe mapped == place { return unsafe place }
        let code = errno
        unsafe unmap(place, byteCount)
        errno = code
        return nil
    }

    static func unmap(_ address: UnsafeMutableRawPointer, _ byteCount: Int) { unsafe munmap(address, extent(byteCount)) }

    private static func reserve(_ byteCount: Int, _ protection: Int32) -> UnsafeMutableRawPointer? {
        let place = unsafe mmap(nil, extent(byteCount), protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        return unsafe place == MAP_FAILED ? nil : place
    }

    /// Addresses that a mapping takes: its own pages and one page of padding.
    private static func extent(_ byteCount: Int) -> Int { (byteCount + padding - 1) / padding * padding + padding }

    /// One page, in bytes: more than the widest vectors, and more than the few vectors that a filter reads ahead.
    static let padding = sysconf(Int32(_SC_PAGESIZE))
}
