import Media
import PixelConversion
import SurfacePool
import Testing

/// What a display is given when its viewer changes the colours.
@Suite struct DisplayBalancerTests {
    private struct TestFrameError: Error {}

    private static func frame(_ size: PixelSize) throws -> VideoFrame {
        let pool = SurfacePool(layout: SurfaceLayout(format: .gray, covering: size), allocator: MemfdAllocator(), maximumCount: 1)
        // Nothing is written: only what is read of it is memory.
        guard let writer = try pool.acquire() else { throw TestFrameError() }
        return VideoFrame(use: writer.finish(), visible: PixelRect(x: 0, y: 0, width: 16, height: 16), presentationTime: .zero, sequence: 0)
    }

    @Test(arguments: [(7680, 4000, true), (7680, 4400, false), (16_384, 12_288, false)] as [(Int, Int, Bool)])
    func `frames that are larger than any monitor keep their colours, which is said once`(_ width: Int, _ height: Int, _ isChanged: Bool) throws {
        var sentences: [String] = []
        let balancer = DisplayBalancer(allocator: MemfdAllocator(), holdCount: 3) { sentences.append($0) }
        balancer.balance[.contrast] = 50
        for _ in 0..<2 {
            let frame = try Self.frame(PixelSize(width: width, height: height)), made = balancer.balanced(frame)
            guard let made else { throw TestFrameError() }
            #expect((made.surface.identity != frame.surface.identity) == isChanged)
            #expect((balancer.report != nil) == isChanged)
        }
        #expect(sentences.count == (isChanged ? 0 : 1), "\(sentences)")
    }
}
