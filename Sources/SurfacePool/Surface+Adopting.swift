internal import CLinux
package import Media

extension SurfaceUse {
    /// The right to read a finished frame in memory that the caller brings: a camera's DMA-BUF, a renderer's memfd, plain bytes.
    ///
    ///     let memory = try SurfaceMemory(dmabuf: descriptor) { camera.requeue(buffer) }
    ///     let frame = VideoFrame(use: try SurfaceUse(memory, layout), visible: visible, presentationTime: time, sequence: number)
    ///     queue.enqueue(frame)
    ///
    /// Nobody may write the memory before its `onRelease` has been called. Each call makes another surface, which importers import anew: a
    /// producer with a fixed set of buffers conforms to `SurfaceAllocator` and lets a `SurfacePool` use them again.
    /// - Parameters:
    ///   - memory: Taken over, also when this throws.
    ///   - layout: Where the planes lie; `SurfaceLayout.init(checking:…)` makes one of numbers that come from elsewhere.
    /// - Throws: `.layout` when the memory is smaller than the layout.
    public init(_ memory: consuming SurfaceMemory, _ layout: SurfaceLayout) throws(SurfaceError) {
        let surface = try Surface.adopting(memory, layout)
        surface.core.share(surface, keeper: nil)
        surface.endWriting()
        self.init(counted: surface)
    }
}

extension Surface {
    /// A surface in memory that somebody else made and goes on writing. It belongs to a pool of its own, and its memory goes when
    /// `endWriting` has been called and the last use has ended.
    /// - Throws: `.layout` when the memory is smaller than the layout.
    package static func adopting(_ memory: consuming SurfaceMemory, _ layout: SurfaceLayout) throws(SurfaceError) -> Surface {
        guard memory.byteCount >= layout.byteCount else {
            throw SurfaceError(.layout, "The memory has \(memory.byteCount) bytes; the layout needs \(layout.byteCount).")
        }
        return SurfacePoolCore.surface(adopting: memory, layout)
    }

    /// As above, for memory of another process, which also states `layout`. The descriptor's memory must be at least as large as the layout
    /// and must never shrink.
    /// - Parameters:
    ///   - descriptor: A DMA-BUF, or a memfd that is sealed against shrinking.
    ///   - owner: Reads the frame where it cannot be mapped.
    /// - Throws: `.unavailable` for a descriptor of anything else, `.noMemory` where it cannot be mapped.
    package static func adopting(
        _ descriptor: consuming OwnedFD, _ layout: SurfaceLayout, owner: any SurfaceMemoryOwner
    ) throws(SurfaceError) -> Surface {
        guard clinux_cannot_shrink(descriptor.rawValue) != 0 else {
            throw SurfaceError(.unavailable, "The descriptor is neither a DMA-BUF nor a sealed memfd.")
        }
        guard clinux_size(descriptor.rawValue) >= layout.byteCount else {
            throw SurfaceError(.unavailable, "The memory is smaller than the layout.")
        }
        return try adopting(
            SurfaceMemory(
                kind: .va, descriptor: descriptor, byteCount: layout.byteCount, isLinear: layout.modifier == .linear, owner: owner), layout)
    }
}
