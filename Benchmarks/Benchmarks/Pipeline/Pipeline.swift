import Benchmark

/// All suites, in the order of data. Each measures one thing done for every frame or sample, many times an iteration; a tone map, once.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .throughput], scalingFactor: .kilo, maxDuration: .seconds(2), maxIterations: .mega(1))
    mediaTimeBenchmarks()
    sampleQueueBenchmarks()
    nalBenchmarks()
    surfacePoolBenchmarks()
    toneMappingBenchmarks()
    displayBenchmarks()
}
