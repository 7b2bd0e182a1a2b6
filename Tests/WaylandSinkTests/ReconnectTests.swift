import DisplaySink
import Foundation
import Media
import SurfacePool
import TestSupport
import Testing
import WaylandSink

/// A compositor that goes away and comes back under the same name.
@Suite("From one compositor to the next", .serialized)
struct ReconnectTests {
    /// A name that leads to one compositor and later to another.
    private final class Name {
        let path = NSTemporaryDirectory().appending("display-\(UUID().uuidString)")
        func lead(to weston: PrivateWeston) throws {
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: weston.display)
        }
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    @Test("a film goes on while there is no compositor, and is on the screen of the next one, as often as that happens")
    func goesOn() throws {
        let name = Name()
        var weston = try PrivateWeston(.gl)
        try name.lead(to: weston)
        let stage = try Stage(weston, sink: WaylandSink(display: name.path, reconnects: true))
        try stage.start()
        try stage.show(Quadrants(format: .yuv420p))
        try stage.fillScreen()
        for _ in 0..<TestExtent.rounds(3, full: 3, sanitized: 1) {
            weston.kill()
            // Frames shown to nobody come back; the decoder never waits for the compositor.
            for _ in 0..<20 { try stage.enqueueUnseen(Quadrants(format: .yuv420p)) }
            #expect(stage.wait { stage.queue.count == 0 })
            #expect(stage.inUse <= 1, "\(stage.inUse)")
            weston = try PrivateWeston(.gl)
            try name.lead(to: weston)
            #expect(stage.wait { stage.sink.isFullscreen }, "the new window covers its monitor as the old one did")
            let seen = try stage.quarters(of: PixelRect(weston.size), on: weston, expecting: Quadrants.colors, tolerance: 6)
            for (color, expected) in zip(seen, Quadrants.colors) { #expect(color.distance(to: expected) <= 6, "\(color) instead of \(expected)") }
        }
        #expect(stage.failures.isEmpty)
        stage.sink.stop()
        #expect(stage.inUse == 0)
    }

    @Test("a sink that waits for a compositor stops at once")
    func stopsWaiting() throws {
        let weston = try PrivateWeston(.gl)
        let stage = try Stage(weston, sink: WaylandSink(display: weston.display, reconnects: true))
        try stage.start()
        try stage.show(Quadrants(format: .yuv420p))
        weston.kill()
        #expect(stage.wait { stage.details.contains { $0.contains("waits for a compositor") } })
        stage.sink.stop()
        #expect(stage.inUse == 0 && stage.failures.isEmpty)
    }
}
