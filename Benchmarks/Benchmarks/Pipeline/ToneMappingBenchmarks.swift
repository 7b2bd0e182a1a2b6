import Benchmark
import Media
import PixelConversion
import SurfacePool

func toneMappingBenchmarks() {
    for (name, transfer) in [("PQ", 16), ("HLG", 18)] as [(String, UInt8)] {
        for format in [PixelFormat.yuv420p10le, .p010le] {
            let configuration = Benchmark.Configuration(metrics: [.cpuTotal, .wallClock], maxDuration: .seconds(5), maxIterations: 50)
            Benchmark("Tone mapping: \(name), \(format.rawValue), 1920x1080", configuration: configuration) { benchmark in
                let frame = film(format, transfer)
                let session = PixelTransferSession(to: ConversionTarget(format: .bgr0, toneMapping: ToneMapping()), threads: 1)
                // The first frame makes the tables.
                blackHole(try session.convert(frame).sequence)
                benchmark.startMeasurement()
                blackHole(try session.convert(frame).sequence)
            }
        }
    }
}

/// A ramp of grey and colours, with noise.
private func film(_ format: PixelFormat, _ transfer: UInt8) -> VideoFrame {
    let size = PixelSize(width: 1920, height: 1080)
    let pool = SurfacePool(layout: SurfaceLayout(format: format, covering: size), allocator: MemfdAllocator(), minimumCount: 1, maximumCount: 1)
    guard let writer = try? pool.acquire() else { fatalError("there is no memory for a frame") }
    let layout = writer.surface.layout, isP010 = format == .p010le
    var seed: UInt32 = 1
    writer.withUnsafeMutableBytes { bytes in
        for plane in 0..<layout.planeCount {
            let rows = plane == 0 ? size.height : size.height / 2, columns = plane == 0 || isP010 ? size.width : size.width / 2
            let place = layout.plane(plane)
            for y in 0..<rows {
                for x in 0..<columns {
                    seed = seed &* 1_664_525 &+ 1_013_904_223
                    let noise = Int(seed >> 28), value = plane == 0 ? 100 + (x + y) / 6 + noise : 480 + x / 60 + y / 40 + noise / 2
                    bytes.storeBytes(of: UInt16(value) << (isP010 ? 6 : 0), toByteOffset: place.offset + y * place.pitch + 2 * x, as: UInt16.self)
                }
            }
        }
    }
    var attributes = FrameAttributes()
    attributes.color = ColorDescription(primaries: 9, transfer: transfer, matrix: 9, range: .limited, chromaSiting: .left)
    return VideoFrame(use: writer.finish(), visible: PixelRect(size), attributes: attributes, presentationTime: .zero, sequence: 0)
}
