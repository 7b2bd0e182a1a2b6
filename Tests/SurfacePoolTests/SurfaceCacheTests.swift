import Media
import SurfacePool
import Testing

@Suite struct SurfaceCacheTests {
    private static let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 64, height: 32))

    private struct NoSurface: Error {}

    private static func use(of pool: SurfacePool) throws -> SurfaceUse {
        guard let writer = try pool.acquire() else { throw NoSurface() }
        return writer.finish()
    }

    @Test func `an import is found again until its memory is gone, and is then taken out once`() throws {
        let pool = SurfacePool(layout: Self.layout, allocator: MemfdAllocator(), maximumCount: 2)
        var cache = SurfaceCache<String>()
        let first = try Self.use(of: pool), second = try Self.use(of: pool)
        let identities = [first.surface.identity, second.surface.identity]
        cache.insert("first", for: first.surface)
        cache.insert("second", for: second.surface)
        #expect(cache[identities[0]] == "first" && cache[identities[1]] == "second")

        pool.retire(SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 128, height: 64)))
        #expect(cache.takeGone().isEmpty, "the memory is in use")
        first.end()
        let gone = cache.takeGone()
        #expect(gone.map(\.identity) == [identities[0]] && gone.map(\.made) == ["first"])
        #expect(cache[identities[0]] == nil && cache[identities[1]] == "second")
        second.end()
        #expect(cache.takeGone().map(\.made) == ["second"])
        #expect(cache.takeGone().isEmpty)
    }

    @Test func `what takes another import's place is taken out once`() throws {
        let pool = SurfacePool(layout: Self.layout, allocator: MemfdAllocator(), maximumCount: 1)
        var cache = SurfaceCache<Int>()
        let use = try Self.use(of: pool)
        cache.insert(1, for: use.surface)
        cache.insert(2, for: use.surface)
        #expect(Array(cache.values) == [2])
        use.end()
        pool.close()
        #expect(cache.takeGone().map(\.made) == [2])
    }

    @Test func `memory of another process goes when somebody says so`() {
        var cache = SurfaceCache<Int>()
        let identities = (0..<3).map { SurfaceIdentity(pool: 7, generation: 1, slot: $0) }
        for (value, identity) in identities.enumerated() { cache.insert(value, for: identity) }
        cache.noteGone(identities[1])
        cache.noteGone(SurfaceIdentity(pool: 7, generation: 1, slot: 9))
        #expect(cache.takeGone().map(\.made) == [1], "what was never imported is ignored")
        #expect(cache.remove(identities[0]) == 0)
        #expect(cache.remove(identities[0]) == nil)
        #expect(cache.removeAll() == [2])
        #expect(cache.values.isEmpty)
    }
}
