internal import CLinux
internal import Glibc
internal import Media

/// DMA-BUFs from one of the kernel's heaps (`/dev/dma_heap/NAME`): `system` for ordinary pages, others for memory that
/// devices without an IOMMU can reach.
///
/// The corresponding ioctl is `DMA_HEAP_IOCTL_ALLOC`.
public final class DMAHeapAllocator: SurfaceAllocator {
    /// Where the kernel lists its heaps, one device file each.
    public static let folder = "/dev/dma_heap"
    /// The heap's name in the folder.
    public let heap: String
    private let descriptor: OwnedFD

    /// Opens the heap.
    /// - Throws: `.unavailable` where the kernel has no such heap or the program may not open it.
    public init(heap: String = "system") throws(SurfaceError) {
        self.heap = heap
        descriptor = try UDMABufAllocator.openDevice("\(Self.folder)/\(heap)")
    }

    /// `dma-heap:` and the name of the heap.
    public var name: String { "dma-heap:\(heap)" }

    /// Allocates a DMA-BUF of `layout.byteCount` bytes and maps it for reading and writing. Any thread.
    /// - Throws: `.noMemory` when the heap has too little, for more than half of the machine's memory, and where the buffer cannot be mapped.
    public func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory {
        guard layout.byteCount <= Self.mostBytes else {
            throw SurfaceError(.noMemory, "\(layout.byteCount) bytes are more than half of this machine's memory")
        }
        let buffer = clinux_dma_heap_alloc(descriptor.rawValue, UInt64(layout.byteCount))
        guard buffer >= 0 else {
            throw SurfaceError(.noMemory, SystemError(errno, "allocate \(layout.byteCount) bytes from \(Self.folder)/\(heap)"))
        }
        return try SurfaceMemory(kind: .dmaHeap, descriptor: OwnedFD(adopting: buffer), byteCount: layout.byteCount)
    }

    /// The kernel takes page after page for a request of any size, until the machine has no memory left and kills a process.
    private static let mostBytes = sysconf(Int32(_SC_PHYS_PAGES)) / 2 * sysconf(Int32(_SC_PAGESIZE))

    /// The heaps that this kernel offers, by name; empty where it has none.
    public static func heaps() -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
