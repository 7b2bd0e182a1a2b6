internal import CLinux
internal import Glibc
internal import Media

/// DMA-BUFs over plain memory (`/dev/udmabuf`): what a CPU decoder writes, a GPU or a display can import, and a compositor without
/// DMA-BUFs can still read through `wl_shm`.
///
/// The corresponding ioctl is `UDMABUF_CREATE`. The kernel limits one buffer to 64 MB unless told otherwise
/// (`udmabuf.size_limit_mb`).
public final class UDMABufAllocator: SurfaceAllocator {
    /// The kernel's device file that makes DMA-BUFs of memfds.
    public static let device = "/dev/udmabuf"
    private let descriptor: OwnedFD

    /// Opens the device.
    /// - Throws: `.unavailable` where the kernel has no udmabuf or the program may not open it.
    public init() throws(SurfaceError) { descriptor = try Self.openDevice(Self.device) }

    /// `udmabuf`.
    public var name: String { "udmabuf" }

    /// Makes a memfd of `layout.byteCount` bytes and a DMA-BUF over its pages, and maps the memfd for reading and writing. Any thread.
    /// - Throws: `.noMemory` when the system has no descriptor or memory left, or the kernel's limit for one buffer is lower.
    public func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory {
        let memory = try MemfdAllocator.sealedMemory(byteCount: layout.byteCount)
        let buffer = clinux_udmabuf_create(descriptor.rawValue, memory.rawValue, 0, UInt64(layout.byteCount))
        guard buffer >= 0 else {
            throw SurfaceError(.noMemory, SystemError(errno, "make a DMA-BUF of \(layout.byteCount) bytes with \(Self.device)"))
        }
        return try SurfaceMemory(
            kind: .udmabuf, descriptor: OwnedFD(adopting: buffer), backing: memory, byteCount: layout.byteCount)
    }

    static func openDevice(_ path: String) throws(SurfaceError) -> OwnedFD {
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw SurfaceError(.unavailable, SystemError(errno, "open \(path)")) }
        return OwnedFD(adopting: descriptor)
    }
}
