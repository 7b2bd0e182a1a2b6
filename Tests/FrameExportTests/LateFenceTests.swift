import Decoding
import DisplaySink
import Foundation
import FrameExport
import Media
import Player
import SurfacePool
import TestSupport
import Testing

/// Fences that do not signal.
@Suite struct LateFenceTests {
    @Test func `fences that never signal cost their slots and a notice each, and not the film`() throws {
        let exporter = FrameExporter(FrameExporterConfiguration(budget: 2)), notices = Monitor<[String]>([])
        var configuration = PlayerConfiguration()
        configuration.loops = true
        configuration.playsAudio = false
        configuration.decoder.hardware = .disable
        configuration.exporters = [exporter]
        let player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration) { event in
            if case .notice(let sentence) = event { notices.change { $0.append(sentence) } }
        }
        defer { player.close() }
        try player.open(TestAssets.path("plain.mp4"))
        let limit = MonotonicClock.shared.now() + .seconds(60)
        func nextFrame() throws -> HeldFrame {
            // Nil also where the film begins again.
            while MonotonicClock.shared.now() < limit {
                switch exporter.waitForFrame(until: limit) {
                case .some(let frame): return HeldFrame(frame)
                case .none: usleep(200)
                }
            }
            throw ExportError(.closed, "no frame came")
        }
        func play(_ pictures: Int) {
            let goal = player.statistics.framesPresented + pictures
            while player.statistics.framesPresented < goal, MonotonicClock.shared.now() < limit { usleep(500) }
            #expect(player.statistics.framesPresented >= goal, "the film stands still")
        }

        let device = try EventFD(), stuck = try nextFrame(), slot = stuck.description.identity
        stuck.take()?.release(after: try device.fence())
        // With what is left of its budget the client goes on.
        var others: Set<SurfaceIdentity> = []
        let first = notices.wait(until: limit) { $0.first }
        for _ in 0..<100 {
            let frame = try nextFrame()
            others.insert(frame.description.identity)
            frame.release()
        }
        #expect(!others.contains(slot) && !others.isEmpty)
        #expect(
            first?.hasPrefix(
                "Exporter \(exporter.number): the fence that slot \(slot.slot) (pool \(slot.pool), generation \(slot.generation)) was released with has not signalled for "
            ) == true, "\(first ?? "no notice")")

        // When nothing is left it gets nothing, alone.
        let second = try EventFD()
        try nextFrame().take()?.release(after: try second.fence())
        let both = notices.wait(until: limit) { $0.count == 2 ? true : nil }
        #expect(both == true)
        let isRefused = exporter.frame(for: .distantFuture) == nil
        #expect(isRefused)
        play(200)
        #expect(exporter.statistics.lateFences == 2 && notices.withLock { $0.count } == 2)

        // A device that comes back brings the slot back.
        device.signal()
        second.signal()
        _ = try nextFrame()
    }
}
