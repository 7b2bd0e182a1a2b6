// swift-tools-version: 6.3
// Micro benchmarks of the parts that run for every frame or sample. A package of its own: the player itself needs none of this.
import PackageDescription

let package = Package(
    name: "benchmarks",
    dependencies: [
        .package(name: "player", path: ".."),
        // Without its traits it needs no jemalloc; allocation counts then read 0 and are not asked for.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Pipeline",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "Bitstream", package: "player"),
                .product(name: "SampleQueue", package: "player"),
                .product(name: "SurfacePool", package: "player"),
                .product(name: "PixelConversion", package: "player"),
                .product(name: "DisplaySink", package: "player"),
            ],
            path: "Benchmarks/Pipeline",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    ]
)
