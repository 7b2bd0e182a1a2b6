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
        _ state: inout TextureCacheState, _ name: SurfaceIdentity, frame: UInt64, layout: SurfaceLayout = small, extent: Int = 32
    ) -> (answer: TextureCacheState.Answer, drop: [SurfaceIdentity]) {
        state.ask(
            name, .init(layout: layout, extent: PixelSize(width: extent, height: 16)),
            .init(sequence: frame, time: MediaTime(value: Int64(frame), timescale: 25)))
    }

    @Test func `textures are made once for each memory, and looked at anew for each frame`() {
        var state = TextureCacheState()
        let table: [(slot: UInt32, frame: UInt64, answer: TextureCacheState.Answer)] = [
            (0, 0, .make), (0, 0, .keep), (1, 1, .make), (0, 2, .refresh), (0, 2, .keep), (1, 1, .keep), (1, 3, .refresh),
        ]
        for row in table {
            let (answer, drop) = ask(&state, name(0, row.slot), frame: row.frame)
            #expect(answer == row.answer && drop.isEmpty)
        }
        #expect(state.count == 2)
    }

    @Test func `another layout or another crop of the same memory needs other textures`() {
        var state = TextureCacheState()
        _ = ask(&state, name(0, 0), frame: 0)
        #expect(ask(&state, name(0, 0), frame: 0, extent: 30) == (.make, [name(0, 0)]))
        #expect(ask(&state, name(0, 0), frame: 0, layout: Self.large, extent: 30) == (.make, [name(0, 0)]))
        #expect(ask(&state, name(0, 0), frame: 0, layout: Self.large, extent: 30) == (.keep, []))
        #expect(state.count == 1)
    }

    @Test func `what a pool reports as gone goes, once`() {
        var state = TextureCacheState()
        _ = ask(&state, name(0, 0), frame: 0)
        _ = ask(&state, name(0, 1), frame: 1)
        #expect(state.gone(name(0, 0)) && !state.gone(name(0, 0)) && !state.gone(name(9, 9)))
        #expect(ask(&state, name(0, 1), frame: 1).answer == .keep)
        #expect(ask(&state, name(0, 0), frame: 2).answer == .make)
    }

    @Test func `textures of an older generation stay until the memory is gone`() {
        var state = TextureCacheState()
        _ = ask(&state, name(0, 0), frame: 0)
        for frame in 1...40 { #expect(ask(&state, name(1, UInt32(frame % 3)), frame: UInt64(frame)).drop.isEmpty) }
        #expect(ask(&state, name(0, 0), frame: 0).answer == .keep)
    }

    @Test func `beyond the limit the one not asked for the longest goes`() {
        var state = TextureCacheState(limit: 3)
        for slot in 0..<3 { _ = ask(&state, name(0, UInt32(slot)), frame: UInt64(slot)) }
        _ = ask(&state, name(0, 0), frame: 0)
        #expect(ask(&state, name(0, 3), frame: 3) == (.make, [name(0, 1)]))
        #expect(ask(&state, name(0, 0), frame: 0).answer == .keep)
        #expect(state.count == 3)
        #expect(Set(state.removeAll()) == [name(0, 0), name(0, 2), name(0, 3)] && state.count == 0)
    }
}
