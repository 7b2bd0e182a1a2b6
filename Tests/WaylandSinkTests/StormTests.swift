import DisplaySink
import Media
import SinkConformance
import TestSupport
import Testing
import WaylandSink

/// What people do to a window, far more often than people do it.
@Suite("Storms", .serialized)
struct StormTests {
    @Test("full screen and back two hundred times while the film runs")
    func fullscreen() throws {
        let scene = try CompositorManners.Scene()
        scene.play()
        try scene.enqueue(0..<8)
        #expect(scene.wait { scene.queue.statistics.framesPresented > 0 })
        var number = 8
        for round in 1...200 {
            // A compositor that a sanitizer's machine lets answer after more than five seconds cannot be counted on; see `FullscreenState`.
            if TestExtent.isSanitized { scene.sink.setFullscreen(round % 2 == 1) } else { scene.sink.toggleFullscreen() }
            try scene.enqueue(number..<number + 2)
            number += 2
            // Every ninth is waited for; of the others some overtake one another.
            if round % 9 == 0 { #expect(scene.wait { scene.sink.isFullscreen == (round % 2 == 1) }) }
        }
        // On a busy machine the film's own frames may all be late by now; this one is shown whatever the time.
        try scene.show(number)
        scene.queue.markEndOfStream()
        #expect(scene.wait { scene.count(of: .finished) == 1 })
        #expect(scene.failures.isEmpty, "\(scene.failures)")
        scene.sink.stop()
        #expect(scene.frames.inUse == 0)
        let findings = scene.tap.findings
        #expect(findings.fullscreenRequests > 20 && findings.hastyRequests == 0, "\(findings)")
    }

    @Test("five hundred sizes while the film runs, the last of them stays")
    func sizes() throws {
        let scene = try CompositorManners.Scene()
        scene.play()
        try scene.enqueue(0..<8)
        #expect(scene.wait { scene.queue.statistics.framesPresented > 0 })
        var dice = Dice(seed: 500)
        let sizes = (0..<500).map { _ in PixelSize(width: .random(in: 160...660, using: &dice), height: .random(in: 90...490, using: &dice)) }
        for (index, first) in stride(from: 0, to: 500, by: 5).enumerated() {
            scene.tap.change { $0.sizes += sizes[first..<first + 5] }
            try scene.enqueue((8 + index)..<(9 + index))
        }
        #expect(scene.wait { scene.sizes.last == sizes.last })
        #expect(scene.failures.isEmpty, "\(scene.failures)")
        scene.sink.stop()
        #expect(scene.frames.inUse == scene.queue.count)
    }
}
