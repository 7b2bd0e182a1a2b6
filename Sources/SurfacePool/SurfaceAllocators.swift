internal import Media

/// Which kinds of frame memory this machine offers, and why it does not offer the others.
public enum SurfaceAllocators {
    /// One kind of memory: an allocator that has been tried, or the reason why there is none.
    public struct Finding: Sendable {
        /// The kind, as in `SurfaceAllocator.name`; `dma-heap` where the kernel has no heap.
        public let name: String
        /// nil when unusable.
        public let allocator: (any SurfaceAllocator)?
        /// One sentence; nil when usable.
        public let reason: String?
    }

    /// Tries every kind by allocating one small frame. In order of preference for a display: memory that can be imported as a
    /// DMA-BUF *and* read as a memfd, DMA-BUFs only, plain memory.
    public static func findings() -> [Finding] {
        var findings = [finding("udmabuf") { () throws(SurfaceError) in try UDMABufAllocator() }]
        let heaps = DMAHeapAllocator.heaps()
        if heaps.isEmpty {
            findings.append(Finding(name: "dma-heap", allocator: nil, reason: "\(DMAHeapAllocator.folder) is missing or empty"))
        }
        // The system heap before special-purpose ones, which are scarce.
        for heap in heaps.sorted(by: { ($0 == "system" ? "" : $0) < ($1 == "system" ? "" : $1) }) {
            findings.append(finding("dma-heap:\(heap)") { () throws(SurfaceError) in try DMAHeapAllocator(heap: heap) })
        }
        findings.append(finding("memfd") { () throws(SurfaceError) in MemfdAllocator() })
        return findings
    }

    /// The first usable kind of `findings()`. Plain memory, which every kernel has, when nothing else works.
    public static func best() -> any SurfaceAllocator {
        for finding in findings() {
            if let allocator = finding.allocator { return allocator }
        }
        return MemfdAllocator()
    }

    private static func finding(
        _ name: String, _ make: () throws(SurfaceError) -> any SurfaceAllocator
    ) -> Finding {
        do throws(SurfaceError) {
            let allocator = try make()
            _ = try allocator.allocate(SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 16, height: 16)))
            return Finding(name: name, allocator: allocator, reason: nil)
        } catch {
            return Finding(name: name, allocator: nil, reason: error.description)
        }
    }
}
