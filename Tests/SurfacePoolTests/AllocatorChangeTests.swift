import Media
import SurfacePool
import Testing

/// An allocator that changes over to other memory, as one does that follows a display.
private final class ChangingAllocator: SurfaceAllocator {
    private let changes = Monitor(0)
    let name = "changing"
    var epoch: Int { changes.withLock { $0 } }
    func change() { changes.change { $0 += 1 } }
    func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory { try MemfdAllocator().allocate(layout) }
}

@Suite("A pool whose allocator changes over to other memory")
struct AllocatorChangeTests {
    @Test("new surfaces are of a new generation, those in use stay as they are, and free ones of the old go")
    func changesOver() throws {
        let allocator = ChangingAllocator()
        let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 64, height: 48))
        let pool = SurfacePool(layout: layout, allocator: allocator, maximumCount: 3)
        let shown = try acquired(from: pool).finish()
        let old = shown.surface.identity
        _ = try acquired(from: pool).finish()

        allocator.change()
        let next = try acquired(from: pool).finish()
        #expect(next.surface.identity.generation == old.generation + 1)
        #expect(pool.statistics.allocated == 2, "the one in use and the new one")
        #expect(shown.surface.identity == old)
        shown.end()
        #expect(pool.statistics.allocated == 1)

        // Without a change surfaces are used again.
        let identity = next.surface.identity
        next.end()
        let again = try acquired(from: pool).finish()
        #expect(again.surface.identity == identity)
        #expect(pool.layout == layout)
    }
}
