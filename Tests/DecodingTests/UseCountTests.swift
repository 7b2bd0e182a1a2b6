import Decoding
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// The proof that a frame is never written while somebody may read it: consumers keep frames for random times, give them back
/// on another thread in random order, and compare each frame with its checksum at arrival.
@Suite("use counts")
struct UseCountTests {
    private struct Held: ~Copyable {
        var frame: VideoFrame
        var hash: String
    }

    /// - mpeg4: reference pictures, reordering, frames in parallel.
    /// - qtrle: updates its one frame in place from sample to sample, and asks libavcodec whether it may.
    /// - ffv1: slices in parallel.
    @Test(
        "thousands of frames seen by random holders never change",
        arguments: [("mpeg4", PixelFormat.yuv420p), ("qtrle", .rgb24), ("ffv1", .yuv422p10le)])
    func random(encoder: String, format: PixelFormat) throws {
        let stream = try SyntheticStream(
            encoder: encoder, pixelFormat: format, size: PixelSize(width: 48, height: 32), frames: 100,
            options: encoder == "mpeg4" ? ["bf": "2", "flags": "+global_header"] : [:])
        let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 3, holdCount: 8))
        let rounds = TestExtent.rounds(100, full: 100, sanitized: 20)
        let queue = Monitor(Ring<Held>(capacity: 8))
        let isDone = Monitor(false)
        let changed = Monitor(0)
        let consumer = LoopThread(name: "consumer") {
            var random = SyntheticStream.Noise(state: 7)
            var kept = Ring<Held>(capacity: 6)
            func release(_ held: consuming Held) {
                if FrameBytes(held.frame).md5 != held.hash { changed.withLock { $0 += 1 } }
            }
            while true {
                let next: Held? = queue.wait(until: MonotonicClock.shared.now() + .milliseconds(1)) { $0.popFirst() }
                queue.change { _ in }
                if let held = next {
                    if kept.isFull, let oldest = kept.popFirst() { release(oldest) }
                    kept.append(held)
                } else if isDone.withLock({ $0 }) {
                    break
                }
                // Turns the ring by a random number of places, so that frames come back in another order than they went.
                for _ in 0..<Int(random.next() % 4) { if let held = kept.popFirst() { kept.append(held) } }
                if random.next() % 3 == 0, let held = kept.popFirst() { release(held) }
            }
            while let held = kept.popFirst() { release(held) }
        }
        var frames = 0
        func receive(_ output: consuming DecodeOutput) {
            guard case .frame(let frame) = consume output else { return }
            frames += 1
            let hash = FrameBytes(frame).md5
            var held = Optional(Held(frame: frame, hash: hash))
            queue.wait { ring -> Void? in
                if ring.isFull { return nil }
                ring.append(held.take()!)
                return ()
            }
        }
        for _ in 0..<rounds {
            for sample in stream.samples { try session.decode(sample) { receive($0) } }
            session.finishDelayedFrames { receive($0) }
        }
        isDone.withLock { $0 = true }
        consumer.join()
        #expect(frames == rounds * 100)
        #expect(changed.withLock { $0 } == 0)
        #expect(session.poolStatistics.inUse <= 1, "the decoder's own reference at most")
        #expect(session.poolStatistics.allocated <= 40, "memory does not grow with the film")
    }
}
