import Benchmark
import Media

func mediaTimeBenchmarks() {
    let first = MediaTime(value: 1_234_567, timescale: 90_000)
    let second = MediaTime(value: 1001, timescale: 24_000)

    Benchmark("MediaTime: add across timescales") { benchmark in
        for _ in benchmark.scaledIterations {
            blackHole(identity(first) + second)
        }
    }

    Benchmark("MediaTime: compare across timescales") { benchmark in
        for _ in benchmark.scaledIterations {
            blackHole(identity(first) < second)
        }
    }

    Benchmark("MediaTime: convert to nanoseconds") { benchmark in
        for _ in benchmark.scaledIterations {
            blackHole(identity(first).converted(to: 1_000_000_000))
        }
    }

    let timebase = Timebase()
    timebase.setRate(1)
    Benchmark("Timebase: read the time") { benchmark in
        for _ in benchmark.scaledIterations {
            blackHole(timebase.time)
        }
    }
}
