import Media
import SurfacePool
import Testing

private let small = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 50, height: 30))

/// A slot of `pool`, which must have one; the testing macros take no noncopyable values.
func acquired(from pool: SurfacePool) throws -> SurfaceWriter {
    guard let writer = try pool.acquire() else { throw PoolIsExhausted() }
    return writer
}

func isExhausted(_ pool: SurfacePool) throws -> Bool {
    switch try pool.acquire() {
    case .some: false
    case .none: true
    }
}

struct PoolIsExhausted: Error {}

@Suite("SurfacePool")
struct SurfacePoolTests {
    @Test("a slot returns to its pool when its last use ends, and is the next one written")
    func recycling() throws {
        let pool = SurfacePool(layout: small, allocator: MemfdAllocator(), maximumCount: 2)
        let first = try acquired(from: pool).finish()
        let identity = first.surface.identity
        let second = first.another()
        first.end()
        #expect(pool.statistics.inUse == 1)
        second.end()
        #expect(pool.statistics.inUse == 0)
        let again = try acquired(from: pool)
        #expect(again.surface.identity == identity)
        #expect(pool.statistics.allocations == 1)
    }

    @Test("an exhausted pool refuses, and tells when a slot is free again")
    func exhaustion() throws {
        let pool = SurfacePool(layout: small, allocator: MemfdAllocator(), maximumCount: 1)
        let notices = Monitor(0)
        pool.whenFree { notices.change { $0 += 1 } }
        let use = try acquired(from: pool).finish()
        #expect(try isExhausted(pool))
        use.end()
        #expect(notices.withLock { $0 } == 1)
        try acquired(from: pool).finish().end()
        #expect(notices.withLock { $0 } == 1)
    }
}
