/// How a camera's pixels come into surfaces.
public enum BufferPath: String, Sendable, Hashable, CaseIterable {
    /// The driver writes into DMA-BUFs of the surface pool (`V4L2_MEMORY_DMABUF`): no copy, memory that the display chose.
    case imported
    /// The driver's own memory becomes surfaces (`VIDIOC_EXPBUF`): no copy.
    case exported
    /// Each frame is copied once out of the driver's memory (`mmap`).
    case copied

    /// The paths to try, the best first.
    ///
    /// - Parameters:
    ///   - hasDMABufs: The allocator makes DMA-BUFs.
    ///   - importsDMABufs: The driver says that it takes them; nil: it says nothing, as kernels before 4.20.
    ///   - only: The only path to try; nil: all.
    package static func candidates(hasDMABufs: Bool, importsDMABufs: Bool?, only: BufferPath? = nil) -> [BufferPath] {
        let possible: [BufferPath] = (hasDMABufs && importsDMABufs != false ? [.imported] : []) + [.exported, .copied]
        return possible.filter { only == nil || $0 == only }
    }
}
