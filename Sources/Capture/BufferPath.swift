/// How a camera's pixels come into surfaces.
public enum BufferPath: String, Sendable, Hashable, CaseIterable {
    /// The driver writes into DMA-BUFs of the surface pool (`V4L2_MEMORY_DMABUF`): no copy, memory that the display chose.
    case imported
    /// The driver's own memory becomes surfaces (`VIDIOC_EXPBUF`): no copy.
    case exported
    /// Each frame is copied once out of the driver's memory (`mmap`).
    case copied
    /// The driver gives compressed frames (Motion-JPEG, H.264, HEVC), which are decoded into surfaces of the pool.
    case decoded

    /// The paths to try, the best first.
    ///
    /// - Parameters:
    ///   - hasDMABufs: The allocator makes DMA-BUFs.
    ///   - importsDMABufs: The driver says that it takes them; nil: it says nothing, as kernels before 4.20.
    ///   - isCompressed: The driver gives no pixels.
    ///   - isInPieces: The driver writes each plane, or each field, to memory of its own; a surface is one piece of memory.
    ///   - only: The only path to try; nil: all.
    package static func candidates(
        hasDMABufs: Bool, importsDMABufs: Bool?, isCompressed: Bool = false, isInPieces: Bool = false, only: BufferPath? = nil
    ) -> [BufferPath] {
        let pixels: [BufferPath] = (hasDMABufs && importsDMABufs != false ? [.imported] : []) + [.exported, .copied]
        let possible = isCompressed ? [.decoded] : isInPieces ? [.copied] : pixels
        return possible.filter { only == nil || $0 == only }
    }
}
