import Foundation
import Media
import SurfacePool
import TestSupport
import Testing

@testable import FrameExport

/// A renderer takes frames for a year.
@Suite struct ExportGrowthTests {
    @Test func `frames lent and given back, 1,000,000 with --full, leave descriptors and memory as they were`() async {
        await #expect(processExitsWith: .success) {
            let cycles = TestExtent.rounds(200_000, full: 1_000_000, sanitized: 20_000)
            let run = try ExportCycles()
            try run.cycle(cycles / 10)
            let before = ExportCycles.usage
            try run.cycle(cycles - cycles / 10)
            let after = ExportCycles.usage
            #expect(run.exporter.statistics.delivered == cycles)
            #expect(run.pool.statistics.allocations <= 4, "slots are used again")
            #expect(after.descriptors == before.descriptors)
            // Sanitizers keep what was freed; that is no growth of ours.
            #expect(TestExtent.isSanitized || after.residentKiB <= before.residentKiB + 1024, "\(before) KiB became \(after)")
        }
    }
}

/// A client of the socket takes frames for a day.
@Suite struct SocketGrowthTests {
    @Test func `frames through the socket, 1,000,000 with --full, leave descriptors and memory as they were`() async {
        await #expect(processExitsWith: .success) {
            let count = TestExtent.rounds(20_000, full: 1_000_000, sanitized: 2_000), stage = ExportStage()
            let server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
            defer { server.stop() }
            server.exporter.connect(to: stage.timebase, isPaced: false)
            let source = try RemoteFrameSource(path: server.path), limit = MonotonicClock.shared.now() + .seconds(6000)
            var before = ExportCycles.usage
            for number in 1...count {
                server.exporter.offer(try stage.nextWhenFree().copy())
                switch source.waitForFrame(until: limit) {
                case .some(let frame): frame.release()
                case .none: throw source.error ?? ExportError(.closed, "no frame came")
                }
                if number == count / 10 { before = ExportCycles.usage }
            }
            let after = ExportCycles.usage
            // A slot of the pool that is used for the first time after the first tenth has a descriptor with the pool, the server and the client.
            #expect(after.descriptors < before.descriptors + 3 * 16, "\(before) became \(after)")
            #expect(TestExtent.isSanitized || after.residentKiB <= before.residentKiB + 4096, "\(before) KiB became \(after)")
        }
    }
}

/// Frames out of a pool into an exporter, to a client and back; each hundredth after a fence.
private final class ExportCycles {
    let pool = SurfacePool(
        layout: SurfaceLayout(format: .nv12, covering: PixelSize(width: 64, height: 16)), allocator: MemfdAllocator(), maximumCount: 4)
    let exporter = FrameExporter(FrameExporterConfiguration(budget: 2, bound: 1, delivery: .whenDecoded))
    private let device: EventFD
    private var count: UInt64 = 0

    init() throws { device = try EventFD() }

    func cycle(_ number: Int) throws {
        for _ in 0..<number {
            guard let writer = try pool.acquire(waitingUntil: MonotonicClock.shared.now() + .seconds(60)) else {
                throw ExportError(.closed, "no slot")
            }
            exporter.offer(
                VideoFrame(
                    use: writer.finish(), visible: PixelRect(PixelSize(width: 64, height: 16)),
                    presentationTime: MediaTime(value: Int64(count), timescale: 25), sequence: count))
            count += 1
            let isFenced = count % 100 == 0
            switch exporter.frame(for: .distantPast) {
            case .some(let frame):
                if isFenced { frame.release(after: try device.fence()) } else { frame.release() }
            case .none: throw ExportError(.closed, "no frame")
            }
            guard isFenced else { continue }
            device.signal()
            // The exporter itself keeps the newest.
            while exporter.state.withLock({ $0.heldCount }) > 0 { usleep(20) }
            device.drain()
        }
    }

    static var usage: (descriptors: Int, residentKiB: Int) {
        let status = TextFile.contents(of: "/proc/self/status") ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let descriptors = OpenDescriptors.count
        return (descriptors, line.flatMap { Int($0.filter(\.isNumber)) } ?? 0)
    }
}
