import FrameExport
import Media
import SurfacePool
import TestSupport
import Testing

/// Fences that do not signal.
@Suite struct LateFenceTests {
    @Test func `fences that never signal cost their slots and a notice each, and not the film`() throws {
        let exporter = FrameExporter(FrameExporterConfiguration(budget: 2)), limit = MonotonicClock.shared.now() + .seconds(60)
        let film = ExportedFilm(TestAssets.path("plain.mp4"), exporter: exporter, allocator: MemfdAllocator(), loops: true)
        try film.begin()

        let device = try EventFD(), stuck = try exporter.nextFrame(until: limit), slot = stuck.description.identity
        stuck.take()?.release(after: try device.fence())
        // With what is left of its budget the client goes on.
        let first = film.notices(1, until: limit)
        var others: Set<SurfaceIdentity> = []
        for _ in 0..<100 {
            let frame = try exporter.nextFrame(until: limit)
            others.insert(frame.description.identity)
            frame.release()
        }
        #expect(!others.contains(slot) && !others.isEmpty)
        let begin =
            "Exporter \(exporter.number): the fence that slot \(slot.slot) (pool \(slot.pool), generation \(slot.generation)) was released with has "
        #expect(first.count == 1 && first[0].hasPrefix(begin + "not signalled for "), "\(first)")

        // When nothing is left it gets nothing, alone.
        let second = try EventFD()
        try exporter.nextFrame(until: limit).take()?.release(after: try second.fence())
        #expect(film.notices(2, until: limit).count == 2)
        // Until a newer frame is there it may have the one that it gave back last once more.
        var again: Bool?
        repeat { again = exporter.pull(.distantFuture).map(\.isNew) } while again == false && MonotonicClock.shared.now() < limit
        #expect(again == nil, "more than its budget")
        #expect(film.goesOn(200, until: limit), "the film stands still")
        #expect(exporter.statistics.lateFences == 2 && film.notices(2, until: limit).count == 2)

        // A device that comes back brings the slot back.
        device.signal()
        second.signal()
        _ = try exporter.nextFrame(until: limit)
    }
}
