import Decoding
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// Collects what a session answers.
private final class Answers {
    var frames = Ring<VideoFrame>(capacity: 1024)
    var dropped: [DropReason] = []
    var errors: [DecodingError] = []

    func receive(_ output: consuming DecodeOutput) {
        switch consume output {
        case .frame(let frame): frames.append(frame)
        case .dropped(_, let reason): dropped.append(reason)
        case .failed(_, let error): errors.append(error)
        }
    }

    var times: [MediaTime] { (0..<frames.count).map { frames[$0].presentationTime } }
}

private let size = PixelSize(width: 64, height: 48)

/// 25 frames of MPEG-4 with reordering, a key frame every 12.
private func film(frames: Int = 25, size: PixelSize = size, pixelFormat: PixelFormat = .yuv420p, seed: UInt64 = 1) throws -> SyntheticStream {
    try SyntheticStream(
        encoder: "mpeg4", pixelFormat: pixelFormat, size: size, frames: frames, seed: seed,
        options: ["bf": "2", "g": "12", "flags": "+global_header"])
}

@Suite("DecompressionSession")
struct DecompressionSessionTests {
    @Test("every sample is answered, in the order of presentation, with its own times", arguments: [1, 2, 5])
    func answers(threads: Int) throws {
        let stream = try film()
        let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: threads, holdCount: 30))
        let answers = Answers()
        for sample in stream.samples { try session.decode(sample) { answers.receive($0) } }
        session.finishDelayedFrames { answers.receive($0) }
        #expect(answers.times == (0..<25).map { MediaTime(value: $0, timescale: 25) })
        #expect((0..<25).allSatisfy { answers.frames[$0].sequence == UInt64($0) })
        #expect(answers.frames[0].visible == PixelRect(size))
        #expect(answers.frames[0].flags.contains(.sync))
        #expect(answers.dropped == [] && answers.errors == [])
        #expect(session.decoderName == "mpeg4" && session.pixelFormat == .yuv420p)
    }

    @Test("samples not to be shown are decoded for the others' sake and answered as such")
    func doNotDisplay() throws {
        var stream = try film()
        let shown = MediaTime(value: 6, timescale: 25)
        for index in stream.samples.indices where stream.samples[index].presentationTime < shown { stream.samples[index].flags.insert(.doNotDisplay) }
        let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 2, holdCount: 30))
        let answers = Answers()
        for sample in stream.samples { try session.decode(sample) { answers.receive($0) } }
        session.finishDelayedFrames { answers.receive($0) }
        #expect(answers.times == (6..<25).map { MediaTime(value: $0, timescale: 25) })
        #expect(answers.dropped == Array(repeating: .doNotDisplay, count: 6))
    }

    @Test("flush forgets; what follows decodes as from the start")
    func flush() throws {
        let stream = try film()
        let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 3, holdCount: 60))
        let answers = Answers()
        for sample in stream.samples.prefix(9) { try session.decode(sample) { answers.receive($0) } }
        session.flush()
        let before = answers.frames.count
        for sample in stream.samples { try session.decode(sample) { answers.receive($0) } }
        session.finishDelayedFrames { answers.receive($0) }
        #expect(answers.times.dropFirst(before).elementsEqual((0..<25).map { MediaTime(value: $0, timescale: 25) }))
    }

    @Test("a session can be drained and used on")
    func drainAndGoOn() throws {
        let stream = try film()
        let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 2, holdCount: 60))
        let answers = Answers()
        for _ in 0..<2 {
            for sample in stream.samples { try session.decode(sample) { answers.receive($0) } }
            session.finishDelayedFrames { answers.receive($0) }
        }
        #expect(answers.frames.count == 50)
    }

    @Test("a new size in mid-stream starts a new generation, and the old one's frames stay as they were")
    func sizeChange() throws {
        let small = try SyntheticStream(encoder: "png", pixelFormat: .rgb24, size: PixelSize(width: 40, height: 30), frames: 3)
        let large = try SyntheticStream(encoder: "png", pixelFormat: .rgba, size: PixelSize(width: 81, height: 55), frames: 3)
        let session = try DecompressionSession(format: small.format, options: DecoderOptions(threads: 1, holdCount: 10))
        let answers = Answers()
        for sample in small.samples + large.samples + small.samples { try session.decode(sample) { answers.receive($0) } }
        session.finishDelayedFrames { answers.receive($0) }
        let hashes = (0..<answers.frames.count).map { FrameBytes(answers.frames[$0]).md5 }
        #expect(hashes == small.hashes + large.hashes + small.hashes)
        #expect(session.poolStatistics.generation == 2 && session.poolStatistics.inUse == 9)
        let identities = Set((0..<9).map { answers.frames[$0].surface.identity })
        #expect(identities.count == 9)
        answers.frames.removeAll()
        #expect(session.poolStatistics.inUse <= 1, "the decoder's own reference at most")
    }

    @Test("damage is an answer, and decoding goes on")
    func damage() throws {
        var stream = try SyntheticStream(encoder: "png", pixelFormat: .rgb24, size: size, frames: 3)
        let junk = [UInt8](repeating: 0x55, count: 400)
        stream.samples[1].content = unsafe junk.withUnsafeBytes { unsafe .compressed(BlockBuffer(copying: $0), .video(stream.format)) }
        let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 1))
        let answers = Answers()
        for sample in stream.samples { try session.decode(sample) { answers.receive($0) } }
        session.finishDelayedFrames { answers.receive($0) }
        #expect(answers.frames.count == 2 && answers.errors.count == 1 && answers.dropped == [])
        #expect(answers.errors[0].code == .invalidData)
    }

    @Test("damage in the last samples is told, however many threads decode", arguments: [1, 2, 3, 5])
    func damageAtTheEnd(threads: Int) throws {
        var stream = try SyntheticStream(encoder: "png", pixelFormat: .rgb24, size: size, frames: 4)
        let junk = [UInt8](repeating: 0x55, count: 400)
        for index in [2, 3] {
            stream.samples[index].content = unsafe junk.withUnsafeBytes { unsafe .compressed(BlockBuffer(copying: $0), .video(stream.format)) }
        }
        let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: threads))
        var frames: [UInt64?] = [], failed: [UInt64] = [], dropped = 0
        func receive(_ output: consuming DecodeOutput) {
            switch consume output {
            case .frame(let frame): frames.append(frame.sampleNumber)
            case .failed(let sample, _): failed.append(sample.number)
            case .dropped: dropped += 1
            }
        }
        for sample in stream.samples { try session.decode(sample) { receive($0) } }
        session.finishDelayedFrames { receive($0) }
        #expect(frames == [0, 1] && failed == [2, 3] && dropped == 0)
    }

    @Test("a frame too large for the limit is refused before memory is spent")
    func limit() throws {
        let stream = try SyntheticStream(encoder: "png", pixelFormat: .gray, size: PixelSize(width: 2000, height: 2000), frames: 1)
        let session = try DecompressionSession(
            format: VideoFormat(codec: VideoCodec(name: "png"), codedSize: size),
            options: DecoderOptions(threads: 1, maximumSurfaceBytes: 1 << 20))
        let answers = Answers()
        for sample in stream.samples { try session.decode(sample) { answers.receive($0) } }
        session.finishDelayedFrames { answers.receive($0) }
        #expect(answers.errors.count == 1 && answers.frames.isEmpty)
        #expect(session.poolStatistics.allocations == 0)
    }

    @Test("no decoder, and set-up data that makes no sense, are said at once")
    func opening() {
        #expect(throws: DecodingError.self) {
            try DecompressionSession(format: VideoFormat(codec: VideoCodec(name: "no such codec"), codedSize: size))
        }
        #expect(throws: DecodingError.self) { try DecompressionSession(format: VideoFormat(codec: VideoCodec(name: "aac"), codedSize: size)) }
    }

    /// Consumers keep frames until told otherwise; the decoder fills what the memory limit leaves and then has to wait.
    @Test("a decoder that waits for consumers goes on when they let go, and gives up when invalidated", arguments: [false, true])
    func backPressure(isInvalidated: Bool) throws {
        let stream = try film(frames: 60)
        let probe = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 1))
        try probe.decode(stream.samples[0]) { _ in }
        let slot = probe.poolStatistics.byteCount / probe.poolStatistics.allocated
        let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 2, maximumSurfaceBytes: 12 * slot))
        let held = Monitor(Ring<VideoFrame>(capacity: 128))
        let count = Monitor(0)
        let thread = LoopThread(name: "decode") {
            func receive(_ output: consuming DecodeOutput) {
                guard case .frame(let frame) = consume output else { return }
                var kept = Optional(frame)
                held.change { $0.append(kept.take()!) }
                count.change { $0 += 1 }
            }
            for sample in stream.samples { try? session.decode(sample) { receive($0) } }
            session.finishDelayedFrames { receive($0) }
            count.change { $0 += 1000 }
        }
        // All the memory there is has been handed out, so that the decoder must be waiting or about to.
        let isFull: Bool? = count.wait(until: MonotonicClock.shared.now() + .seconds(60)) { _ in session.poolStatistics.inUse == 12 ? true : nil }
        #expect(isFull == true)
        #expect(count.withLock { $0 } < 60)
        if isInvalidated {
            session.invalidate()
            thread.join()
            #expect(count.withLock { $0 } < 1060)
        } else {
            while count.withLock({ $0 }) < 1000 {
                let frame = held.wait(until: MonotonicClock.shared.now() + .milliseconds(20)) { $0.popFirst() }
                _ = consume frame
            }
            thread.join()
            #expect(count.withLock { $0 } == 1060)
        }
    }

    @Test("low delay answers with the sample that carries the frame")
    func lowDelay() throws {
        let stream = try SyntheticStream(encoder: "mpeg4", pixelFormat: .yuv420p, size: size, frames: 5)
        let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 4, lowDelay: true))
        let answers = Answers()
        for (number, sample) in stream.samples.enumerated() {
            try session.decode(sample) { answers.receive($0) }
            #expect(answers.frames.count == number + 1)
        }
    }

    @Test("after invalidation samples are refused, frames handed out stay")
    func invalidation() throws {
        let stream = try SyntheticStream(encoder: "png", pixelFormat: .rgb24, size: size, frames: 2)
        let answers = Answers()
        do {
            let session = try DecompressionSession(format: stream.format, options: DecoderOptions(threads: 1))
            try session.decode(stream.samples[0]) { answers.receive($0) }
            session.invalidate()
            #expect(throws: DecodingError.self) { try session.decode(stream.samples[1]) { answers.receive($0) } }
        }
        #expect(FrameBytes(answers.frames[0]).md5 == stream.hashes[0])
    }
}
