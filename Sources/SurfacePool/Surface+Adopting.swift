internal import CLinux
package import Media

extension Surface {
    /// A surface in memory that another process has made and goes on writing: it belongs to no pool but one of its own, and its memory goes when
    /// `endWriting` has been called and the last use has ended.
    ///
    /// What stands in `layout` is that process's word; here it is held against the descriptor, whose memory must be as large as it says and never
    /// become smaller.
    /// - Parameters:
    ///   - descriptor: A DMA-BUF, or a memfd that is sealed against shrinking.
    ///   - owner: Reads the picture where it cannot be mapped.
    /// - Throws: `.unavailable` for a descriptor of anything else, `.noMemory` where it cannot be mapped.
    package static func adopting(
        _ descriptor: consuming OwnedFD, _ layout: SurfaceLayout, owner: any SurfaceMemoryOwner
    ) throws(SurfaceError) -> Surface {
        guard clinux_cannot_shrink(descriptor.rawValue) != 0 else {
            throw SurfaceError(.unavailable, "What was given as a picture's memory is none.")
        }
        guard clinux_size(descriptor.rawValue) >= layout.byteCount else {
            throw SurfaceError(.unavailable, "A picture's memory is smaller than its layout.")
        }
        let memory = try SurfaceMemory(
            kind: .va, descriptor: descriptor, byteCount: layout.byteCount, isLinear: layout.modifier == .linear, owner: owner)
        let pool = SurfacePool(layout: layout, allocator: SingleAllocator(memory), maximumCount: 1)
        guard let writer = try pool.acquire() else { throw SurfaceError(.closed, "A pool of one surface has none.") }
        return writer.detach()
    }
}

/// Hands out one piece of memory, once.
private final class SingleAllocator: SurfaceAllocator {
    private struct Store: ~Copyable {
        var memory: SurfaceMemory?
    }

    private let store: Monitor<Store>

    init(_ memory: consuming SurfaceMemory) { store = Monitor(Store(memory: memory)) }

    var name: String { "adopted" }

    func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory {
        var memory = store.withLock { $0.memory.take() }
        guard let memory = memory.take() else { throw SurfaceError(.noMemory, "The memory is in use.") }
        return memory
    }
}
