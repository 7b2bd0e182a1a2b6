import Decoding
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

private let size = PixelSize(width: 64, height: 48)

private func film(frames: Int) throws -> SyntheticStream {
    try SyntheticStream(
        encoder: "mpeg4", pixelFormat: .yuv420p, size: size, frames: frames, options: ["bf": "2", "g": "12", "flags": "+global_header"])
}

/// Keeps what comes, until told otherwise.
private final class Keeper: Sendable {
    private struct State: ~Copyable, Sendable {
        var frames = Ring<VideoFrame>(capacity: 256)
        var hashes: [String] = []
        var drops: [DropReason] = []
        var failures = 0
        var isLettingGo = false
    }

    private let state = Monitor(State())

    func receive(_ output: consuming DecodeOutput) {
        switch consume output {
        case .frame(let frame):
            let hash = FrameBytes(frame).md5
            var kept = Optional(frame)
            state.change { state in
                state.hashes.append(hash)
                if !state.isLettingGo { state.frames.append(kept.take()!) }
            }
        case .dropped(_, let reason): state.change { $0.drops.append(reason) }
        case .failed: state.change { $0.failures += 1 }
        }
    }

    func letGo() {
        while true {
            let frame = state.change { state -> VideoFrame? in
                state.isLettingGo = true
                return state.frames.popFirst()
            }
            if frame == nil { return }
        }
    }

    var hashes: [String] { state.withLock { $0.hashes } }
    var drops: [DropReason] { state.withLock { $0.drops } }
    var failures: Int { state.withLock { $0.failures } }
    var count: Int { state.withLock { $0.hashes.count } }
}

@Suite("AsynchronousDecoder")
struct AsynchronousDecoderTests {
    @Test("gives the frames of the session that is called directly", arguments: [1, 4])
    func frames(threads: Int) throws {
        let stream = try film(frames: 40)
        var expected: [String] = []
        let direct = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: threads))
        for sample in stream.samples { try direct.decode(sample) { if case .frame(let frame) = $0 { expected.append(FrameBytes(frame).md5) } } }
        direct.finishDelayedFrames { if case .frame(let frame) = $0 { expected.append(FrameBytes(frame).md5) } }
        let keeper = Keeper()
        keeper.letGo()
        let decoder = AsynchronousDecoder(try DecompressionSession(format: stream.format, options: DecoderOptions(threads: threads)), capacity: 2) {
            keeper.receive($0)
        }
        for _ in 0..<2 {
            for sample in stream.samples { try decoder.decode(sample) }
            decoder.waitForAsynchronousFrames()
        }
        #expect(expected.count == 40 && keeper.hashes == expected + expected && keeper.drops == [] && keeper.failures == 0)
    }

    /// Frames are kept until nothing moves: the pool is empty, so the decoder waits; the line is full, so the caller waits.
    @Test("holds its caller back when consumers hold the surfaces; a flush and an end free it", arguments: ["letting go", "flush", "end"])
    func backPressure(way: String) throws {
        let stream = try film(frames: 100)
        let probe = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 1))
        try probe.decode(stream.samples[0]) { _ in }
        let slot = probe.poolStatistics.byteCount / probe.poolStatistics.allocated
        let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 2, maximumSurfaceBytes: 12 * slot))
        let keeper = Keeper()
        let decoder = AsynchronousDecoder(session, capacity: 4) { keeper.receive($0) }
        let given = Monitor(0)
        let feeder = LoopThread(name: "feeder") {
            for sample in stream.samples {
                guard (try? decoder.decode(sample)) != nil else { return }
                given.change { $0 += 1 }
            }
        }
        // A sample may still be taken out of the full line, whose place the next one takes: looked at once, never again.
        #expect(Polling.until { session.poolStatistics.inUse == 12 && decoder.waitingCount == 4 })
        #expect(given.withLock { $0 } < 100 && keeper.count < 13)
        switch way {
        case "letting go":
            keeper.letGo()
            feeder.join()
            decoder.waitForAsynchronousFrames()
            #expect(keeper.count == 100 && keeper.drops == [] && keeper.failures == 0)
        case "flush":
            decoder.flush()
            keeper.letGo()
            feeder.join()
            decoder.waitForAsynchronousFrames()
            // What follows the flush begins in the middle: some of it fails.
            #expect(keeper.count + keeper.drops.count + keeper.failures == 100 && keeper.drops.contains(.flushed))
        default:
            decoder.invalidate()
            feeder.join()
            let before = keeper.count
            keeper.letGo()
            #expect(given.withLock { $0 } < 100 && keeper.count == before)
            #expect(throws: DecodingError.self) { try decoder.decode(stream.samples[0]) }
        }
    }

    /// The first frame is received while the time passes that the others have; they wait for the decoder meanwhile.
    @Test("the options' deadline counts from the hand-over, not from the decoder's taking up")
    func deadline() throws {
        let clock = ManualClock()
        let stream = try SyntheticStream(encoder: "mpeg4", pixelFormat: .yuv420p, size: size, frames: 4)
        let session = try DecompressionSession(
            format: stream.format, options: DecoderOptions(threads: 1, lowDelay: true, deadline: .milliseconds(10)), clock: clock)
        let keeper = Keeper(), isOpen = Monitor(false), isReceiving = Monitor(false)
        let decoder = AsynchronousDecoder(session, clock: clock) { output in
            isReceiving.change { $0 = true }
            isOpen.wait { $0 ? () : nil }
            keeper.receive(output)
        }
        try decoder.decode(stream.samples[0])
        isReceiving.wait { $0 ? () : nil }
        for sample in stream.samples.dropFirst() { try decoder.decode(sample) }
        clock.advance(by: .milliseconds(10))
        isOpen.change { $0 = true }
        decoder.waitForAsynchronousFrames()
        #expect(keeper.count == 1 && keeper.drops == [.late, .late, .late])
    }

    @Test("ends itself when nobody has it any more, also from within an answer")
    func forgotten() throws {
        let stream = try film(frames: 30)
        let answers = Monitor(0)
        do {
            let decoder = AsynchronousDecoder(try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 1))) { _ in
                answers.change { $0 += 1 }
            }
            for sample in stream.samples.prefix(3) { try decoder.decode(sample) }
        }
        let after = answers.withLock { $0 }
        #expect(after <= 3)
        let box = Monitor<AsynchronousDecoder?>(nil)
        let decoder = AsynchronousDecoder(try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 1))) { _ in
            box.withLock { $0 }?.invalidate()
            answers.change { $0 += 100 }
        }
        box.withLock { $0 = decoder }
        for sample in stream.samples { try? decoder.decode(sample) }
        decoder.invalidate()
        #expect(answers.withLock { $0 } == after + 100, "its own answer is the last")
        box.withLock { $0 = nil }
    }
}
