import DisplaySink
import Foundation
import Media
import SinkConformance
import SurfacePool
import TestSupport
import Testing
import WaylandSink

/// Frames larger than any monitor, as a process without rights may say that it has decoded: what the display makes of them has bounds.
@Suite(.serialized) struct LargeFrameTests {
    /// Bytes of the anonymous files that are open.
    private static var fileBytes: Int {
        let folder = "/proc/self/fd", numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return numbers.reduce(0) { sum, number in
            guard let name = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)"), name.hasPrefix("/memfd:") else {
                return sum
            }
            var status = stat()
            return unsafe stat("\(folder)/\(number)", &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }

    /// In 32 bits a pixel such a frame would take 268 MB.
    @Test func `frames that must be converted become no larger than the largest monitor`() throws {
        let scene = try CompositorManners.Scene(), before = Self.fileBytes
        let large = TestFrames(format: .gray, size: PixelSize(width: 8192, height: 8192), maximumCount: 2)
        for number in 0..<4 {
            let shown = scene.queue.statistics.framesPresented
            scene.queue.enqueue(try large.frame(number, rate: 60, flags: .displayImmediately))
            try #require(scene.wait { scene.queue.statistics.framesPresented > shown }, "frame \(number) is not shown")
        }
        let made = Self.fileBytes - before - 2 * (8192 * 8192 + 65_536)
        #expect(made > 0 && made < 4 * 135_000_000, "\(made) bytes")
        scene.sink.stop()
        #expect(scene.failures.isEmpty && large.inUse == 0)
    }
}
