internal import Media

/// A source of memory for frames: plain memory everywhere, DMA-BUFs where the kernel offers them.
///
/// Thread-safety: `allocate` may be called from any thread, also at the same time.
public protocol SurfaceAllocator: Sendable {
    /// A word for statistics and for people: `memfd`, `udmabuf`, `dma-heap:system`.
    var name: String { get }
    /// Changes when memory that was allocated before is better replaced: pools then begin a new generation. 0 for allocators that never change.
    var epoch: Int { get }
    /// Fresh memory of at least `layout.byteCount` bytes, zeroed, mapped, page-aligned.
    func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory
}

extension SurfaceAllocator {
    public var epoch: Int { 0 }
}
