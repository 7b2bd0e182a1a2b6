import Decoding
import Demuxing
import DisplaySink
import Media
import SampleQueue
import SinkConformance
import SurfacePool
import TestSupport
import Testing

@Suite("No frame changes while it is being read")
struct UseCountTests {
    private static let frameCount = TestExtent.rounds(10_000, full: 10_000, sanitized: 2_000)

    /// Frames held at once, and the seed of the dice.
    @Test("thousands of decoded frames withheld for random times", arguments: [(4, 1), (6, 2)])
    func decoded(holding: Int, seed: UInt64) throws {
        let reader = try AssetReader(url: TestAssets.demo)
        let track = try #require(reader.tracks.first { $0.kind == .video })
        guard case .video(let format) = track.format else { return }
        reader.select([track.id])
        let sink = WithholdingSink(holding: holding, seed: seed)
        let queue = PresentationQueue(capacity: 3, timebase: Timebase(), pacing: sink.pacing)
        let session = try DecompressionSession(
            format: format, options: DecoderOptions(threads: 3, holdCount: holding + 3), allocator: sink.preferredAllocator)
        try sink.start(queue) { _ in }
        var decoded = 0
        while decoded < Self.frameCount / 2 {
            while let sample = try reader.nextSample() {
                try session.decode(sample) { output in if Self.pass(output, to: queue) { decoded += 1 } }
            }
            session.finishDelayedFrames { output in if Self.pass(output, to: queue) { decoded += 1 } }
            session.flush()
            try reader.seek(to: .zero)
        }
        sink.stop()
        let waiting = queue.count
        queue.flush(removeImage: false)
        #expect(sink.changed == [])
        #expect(sink.compared + waiting == decoded)
        session.invalidate()
        #expect(session.poolStatistics.inUse == 0)
    }

    @Test("thousands of frames written as fast as slots come back")
    func written() throws {
        let frames = TestFrames(maximumCount: 9)
        let sink = WithholdingSink(holding: 5, seed: 3)
        let queue = PresentationQueue(capacity: 3, timebase: Timebase(), pacing: sink.pacing)
        try sink.start(queue) { _ in }
        for number in 0..<Self.frameCount { queue.enqueue(try frames.frame(number)) }
        sink.stop()
        let waiting = queue.count
        queue.flush(removeImage: false)
        #expect(sink.changed == [])
        #expect(sink.compared + waiting == Self.frameCount)
        #expect(frames.inUse == 0)
        #expect(frames.pool.statistics.allocations <= 9, "slots are used again")
    }

    private static func pass(_ output: consuming DecodeOutput, to queue: PresentationQueue) -> Bool {
        switch consume output {
        case .frame(let frame):
            queue.enqueue(frame)
            return true
        case .dropped: return false
        case .failed: return false
        }
    }
}
