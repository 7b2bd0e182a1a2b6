import Media
import SurfacePool
import Testing

@testable import TextureCache

/// Which memory has textures, and when they go.
@Suite struct TextureCacheStateTests {
    private static let small = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 32, height: 16))
    private static let large = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 64, height: 32))

    private func name(_ generation: UInt32, _ slot: UInt32, pool: UInt32 = 7) -> SurfaceIdentity {
        SurfaceIdentity(pool: pool, generation: generation, slot: slot)
    }

    private func ask(
        _ state: inout TextureCacheState, _ name: SurfaceIdentity, picture: UInt64, layout: SurfaceLayout = small, extent: Int = 32,
        reported: Bool = true
    ) -> (answer: TextureCacheState.Answer, drop: [SurfaceIdentity]) {
        state.ask(
            name, .init(layout: layout, extent: PixelSize(width: extent, height: 16)),
            .init(sequence: picture, time: MediaTime(value: Int64(picture), timescale: 25)), isReported: reported)
    }

    @Test func `textures are made once for each memory, and looked at anew for each picture`() {
        var state = TextureCacheState()
        let table: [(slot: UInt32, picture: UInt64, answer: TextureCacheState.Answer)] = [
            (0, 0, .make), (0, 0, .keep), (1, 1, .make), (0, 2, .refresh), (0, 2, .keep), (1, 1, .keep), (1, 3, .refresh),
        ]
        for row in table {
            let (answer, drop) = ask(&state, name(0, row.slot), picture: row.picture)
            #expect(answer == row.answer && drop.isEmpty)
        }
        #expect(state.count == 2)
    }

    @Test func `another layout or another crop of the same memory needs other textures`() {
        var state = TextureCacheState()
        _ = ask(&state, name(0, 0), picture: 0)
        #expect(ask(&state, name(0, 0), picture: 0, extent: 30) == (.make, [name(0, 0)]))
        #expect(ask(&state, name(0, 0), picture: 0, layout: Self.large, extent: 30) == (.make, [name(0, 0)]))
        #expect(ask(&state, name(0, 0), picture: 0, layout: Self.large, extent: 30) == (.keep, []))
        #expect(state.count == 1)
    }

    @Test func `what a pool reports as gone goes, once`() {
        var state = TextureCacheState()
        _ = ask(&state, name(0, 0), picture: 0)
        _ = ask(&state, name(0, 1), picture: 1)
        #expect(state.gone(name(0, 0)) && !state.gone(name(0, 0)) && !state.gone(name(9, 9)))
        #expect(ask(&state, name(0, 1), picture: 1).answer == .keep)
        #expect(ask(&state, name(0, 0), picture: 2).answer == .make)
    }

    @Test func `memory that will be reported stays when a newer generation comes, other memory goes after a while`() {
        for reported in [true, false] {
            var state = TextureCacheState()
            _ = ask(&state, name(0, 0), picture: 0, reported: reported)
            _ = ask(&state, name(5, 3, pool: 8), picture: 0, reported: reported)
            var drops: [(after: Int, what: [SurfaceIdentity])] = []
            for picture in 1...40 {
                let drop = ask(&state, name(1, UInt32(picture % 3)), picture: UInt64(picture), reported: reported).drop
                if !drop.isEmpty { drops.append((picture, drop)) }
            }
            #expect(drops.map(\.what) == (reported ? [] : [[name(0, 0)]]))
            // Two asks came before the first of the new generation.
            #expect(drops.map(\.after) == (reported ? [] : [TextureCacheState.interval]))
        }
    }

    @Test func `frames of the old generation that are still asked for keep their textures`() {
        var state = TextureCacheState()
        for picture in 0..<60 {
            _ = ask(&state, name(1, UInt32(picture % 4)), picture: UInt64(picture), reported: false)
            if picture % 4 == 0 { #expect(ask(&state, name(0, 0), picture: 0, reported: false).answer == (picture == 0 ? .make : .keep)) }
        }
    }

    @Test func `beyond the limit the one not asked for the longest goes`() {
        var state = TextureCacheState(limit: 3)
        for slot in 0..<3 { _ = ask(&state, name(0, UInt32(slot)), picture: UInt64(slot)) }
        _ = ask(&state, name(0, 0), picture: 0)
        #expect(ask(&state, name(0, 3), picture: 3) == (.make, [name(0, 1)]))
        #expect(ask(&state, name(0, 0), picture: 0).answer == .keep)
        #expect(state.count == 3)
        #expect(Set(state.removeAll()) == [name(0, 0), name(0, 2), name(0, 3)] && state.count == 0)
    }
}
