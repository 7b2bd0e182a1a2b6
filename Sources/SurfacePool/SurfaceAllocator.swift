internal import Media

/// A source of memory for frames: memfds everywhere, DMA-BUFs where the kernel offers them, buffers that a program brings.
///
/// Thread-safety: `allocate` may be called from any thread, also at the same time.
public protocol SurfaceAllocator: Sendable {
    /// A word for statistics and messages: `memfd`, `udmabuf`, `dma-heap:system`.
    var name: String { get }
    /// Changes when memory allocated before should be replaced: pools then begin a new generation. 0 for allocators that never change.
    var epoch: Int { get }
    /// Memory of at least `layout.byteCount` bytes that the CPU can write. A pool calls this for each new slot and reuses the slot.
    func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory
}

extension SurfaceAllocator {
    /// 0: the allocator's memory never needs replacing.
    public var epoch: Int { 0 }
}
