import Glibc
import Media
import SurfacePool
import TestSupport
import Testing

private let findings = SurfaceAllocators.findings()
private let usable = findings.filter { $0.allocator != nil }.map(\.name)
private let unusable = findings.filter { $0.allocator == nil }

/// What every kind of frame memory must do. Runs over all that this machine offers.
@Suite("every allocator", .serialized)
struct SurfaceAllocatorTests {
    private func allocator(_ name: String) throws -> any SurfaceAllocator {
        try #require(findings.first { $0.name == name }?.allocator)
    }

    @Test("memory is zeroed, as large as asked, page-aligned, and keeps what is written", arguments: usable)
    func memory(name: String) throws {
        let layout = SurfaceLayout(format: .yuv420p10le, covering: PixelSize(width: 321, height: 181))
        let pool = SurfacePool(layout: layout, allocator: try allocator(name), maximumCount: 2)
        let writer = try acquired(from: pool)
        unsafe writer.withUnsafeMutableBytes { bytes in
            let address = UInt(bitPattern: bytes.baseAddress), isZero = unsafe bytes.allSatisfy { $0 == 0 }
            #expect(bytes.count == layout.byteCount)
            #expect(address % 4096 == 0)
            #expect(isZero)
            for index in bytes.indices { unsafe bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        }
        let use = writer.finish()
        let isKept = unsafe use.surface.withUnsafeBytes { bytes in
            bytes.indices.allSatisfy { unsafe bytes[$0] == UInt8(truncatingIfNeeded: $0 &* 31) }
        }
        #expect(isKept)
    }

    @Test("the lent descriptor is another view of the same bytes", arguments: usable)
    func sharing(name: String) throws {
        let layout = SurfaceLayout(format: .nv12, covering: PixelSize(width: 64, height: 64))
        let pool = SurfacePool(layout: layout, allocator: try allocator(name), maximumCount: 1)
        let writer = try acquired(from: pool)
        unsafe writer.withUnsafeMutableBytes { unsafe $0[77] = 77 }
        let use = writer.finish()
        for descriptor in [use.surface.fd, use.surface.memfd].compactMap({ $0 }) {
            guard let view = unsafe mmap(nil, layout.byteCount, PROT_READ, MAP_SHARED, descriptor, 0), unsafe view != MAP_FAILED else {
                Issue.record("cannot map descriptor \(descriptor)")
                continue
            }
            let seen = unsafe view.load(fromByteOffset: 77, as: UInt8.self)
            #expect(seen == 77)
            unsafe munmap(view, layout.byteCount)
        }
        #expect(use.surface.isDMABuf == (use.surface.memoryKind != .memfd))
    }

    @Test("a memfd cannot be made smaller under a reader", arguments: usable)
    func sealing(name: String) throws {
        let layout = SurfaceLayout(format: .nv12, covering: PixelSize(width: 64, height: 64))
        let pool = SurfacePool(layout: layout, allocator: try allocator(name), maximumCount: 1)
        let use = try acquired(from: pool).finish()
        guard let memfd = use.surface.memfd else { return }
        #expect(ftruncate(memfd, 0) == -1 && errno == EPERM)
    }

    // In processes of their own, where nobody else opens descriptors meanwhile.

    @Test("a surface costs its descriptors and not one more, and they go with it")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            for finding in SurfaceAllocators.findings() {
                guard let allocator = finding.allocator else { continue }
                let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 64, height: 64))
                let before = OpenDescriptors.count
                var pool: SurfacePool? = SurfacePool(layout: layout, allocator: allocator, maximumCount: 10)
                let expected = finding.name == "udmabuf" ? 2 : 1
                do {
                    let use = try acquired(from: pool!).finish()
                    #expect(OpenDescriptors.settle(at: before + expected))
                    let other = try acquired(from: pool!).finish()
                    #expect(OpenDescriptors.settle(at: before + 2 * expected))
                    other.end()
                    #expect(OpenDescriptors.settle(at: before + 2 * expected), "a free slot keeps its memory")
                    pool = nil
                    #expect(OpenDescriptors.settle(at: before + expected), "what is in use outlives the pool")
                    use.end()
                }
                #expect(OpenDescriptors.settle(at: before))
            }
        }
    }

    @Test("memory that the system refuses is an error, and leaks nothing")
    func refusal() async {
        await #expect(processExitsWith: .success) {
            for finding in SurfaceAllocators.findings() {
                guard let allocator = finding.allocator else { continue }
                let layout = SurfaceLayout(
                    format: .gray, size: PixelSize(width: 1 << 20, height: 1 << 20), modifier: .linear,
                    planes: [.init(offset: 0, pitch: 1 << 40)], byteCount: 1 << 60)
                let before = OpenDescriptors.count
                #expect(throws: SurfaceError.self) { _ = try allocator.allocate(layout) }
                #expect(OpenDescriptors.settle(at: before))
            }
        }
    }

    @Test("a kind that this machine lacks says why")
    func reasons() {
        for finding in unusable {
            print("allocator \(finding.name) not tested: \(finding.reason ?? "")")
            #expect(finding.reason?.isEmpty == false)
        }
        #expect(findings.contains { $0.name == "memfd" && $0.allocator != nil })
        #expect(findings.contains { $0.name == "udmabuf" } && findings.contains { $0.name.hasPrefix("dma-heap") })
        #expect(SurfaceAllocators.best().name == usable.first)
    }
}

/// These run only where the device is; elsewhere the report shows them as skipped, with the reason.
@Suite("DMA-BUF allocators")
struct DMABufAllocatorTests {
    private static func reason(_ prefix: String) -> Comment {
        Comment(rawValue: unusable.first { $0.name.hasPrefix(prefix) }?.reason ?? "available")
    }

    @Test("udmabuf is a DMA-BUF and a memfd", .enabled(if: usable.contains("udmabuf"), Self.reason("udmabuf")))
    func udmabuf() throws {
        let memory = SurfacePool(
            layout: SurfaceLayout(format: .nv12, covering: PixelSize(width: 64, height: 64)), allocator: try UDMABufAllocator(), maximumCount: 1)
        let use = try acquired(from: memory).finish()
        #expect(use.surface.isDMABuf && use.surface.memfd != nil && use.surface.memfd != use.surface.fd)
    }

    @Test("a DMA heap gives a DMA-BUF only", .enabled(if: usable.contains { $0.hasPrefix("dma-heap") }, Self.reason("dma-heap")))
    func dmaHeap() throws {
        let memory = SurfacePool(
            layout: SurfaceLayout(format: .nv12, covering: PixelSize(width: 64, height: 64)),
            allocator: try DMAHeapAllocator(heap: DMAHeapAllocator.heaps()[0]), maximumCount: 1)
        let use = try acquired(from: memory).finish()
        #expect(use.surface.isDMABuf && use.surface.memfd == nil)
    }
}
