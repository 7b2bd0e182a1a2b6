import Benchmark
import Bitstream

func nalBenchmarks() {
    // A megabyte of stream in units of 12 kB, as at 3 Mbit/s: nothing but zeros makes the scanner look twice.
    var stream: [UInt8] = []
    var state: UInt32 = 1
    while stream.count < 1 << 20 {
        stream += [0, 0, 0, 1, 0x41]
        for _ in 0..<12_000 {
            state = state &* 1_664_525 &+ 1_013_904_223
            stream.append(UInt8(truncatingIfNeeded: state >> 24) | 1)
        }
    }

    Benchmark("NALUnitScanner: 1 MiB of start-code stream", configuration: .init(scalingFactor: .one)) { benchmark in
        for _ in benchmark.scaledIterations {
            var scanner = NALUnitScanner()
            var units = 0
            unsafe stream.withUnsafeBytes { unsafe scanner.append($0) { _ in units += 1 } }
            scanner.finish { _ in units += 1 }
            blackHole(units)
        }
    }

    Benchmark("NALPackaging: 1 MiB to length prefixes", configuration: .init(scalingFactor: .one)) { benchmark in
        for _ in benchmark.scaledIterations {
            blackHole(NALPackaging.startCodes.convert(stream, to: .lengthPrefixes(byteCount: 4)))
        }
    }
}
