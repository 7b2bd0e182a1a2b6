import Benchmark
import Media
import SurfacePool

func surfacePoolBenchmarks() {
    let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 1280, height: 720))

    let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), minimumCount: 2, maximumCount: 4)
    Benchmark("SurfacePool: acquire, finish, end") { benchmark in
        for _ in benchmark.scaledIterations {
            guard let writer = try pool.acquire() else { fatalError("the pool has four slots and one user") }
            writer.finish().end()
        }
    }

    Benchmark("SurfaceUse: another, end") { benchmark in
        guard let writer = try pool.acquire() else { fatalError("the pool has four slots and one user") }
        let use = writer.finish()
        for _ in benchmark.scaledIterations {
            use.another().end()
        }
    }
}
