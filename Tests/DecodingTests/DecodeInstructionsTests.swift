import Decoding
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// One answer, with the number of the sample.
private enum Answer: Hashable {
    case frame(UInt64?)
    case dropped(UInt64, DropReason)
    case failed(UInt64)
}

private func answer(_ output: consuming DecodeOutput) -> Answer {
    switch consume output {
    case .frame(let frame): .frame(frame.sampleNumber)
    case .dropped(let sample, let reason): .dropped(sample.number, reason)
    case .failed(let sample, _): .failed(sample.number)
    }
}

/// I B B P … in the order of decoding: I P B B P B B …; what no other needs is flagged.
private func film(frames: Int = 25) throws -> SyntheticStream {
    try SyntheticStream(
        encoder: "mpeg4", pixelFormat: .yuv420p, size: PixelSize(width: 64, height: 48), frames: frames,
        options: ["bf": "2", "g": "12", "b_strategy": "0", "flags": "+global_header"])
}

@Suite("DecodeInstructions")
struct DecodeInstructionsTests {
    private func answers(
        _ samples: [SampleBuffer], _ session: any DecodingSession, _ instructions: (Int) -> DecodeInstructions
    ) throws -> [Answer] {
        var answers: [Answer] = []
        for (index, sample) in samples.enumerated() { try session.decode(sample, instructions(index)) { answers.append(answer($0)) } }
        session.finishDelayedFrames { answers.append(answer($0)) }
        return answers
    }

    /// Both kinds of sessions.
    private func sessions(_ format: VideoFormat, threads: Int = 2, deadline: HostSpan? = nil) throws -> [any DecodingSession] {
        let options = DecoderOptions(threads: threads, deadline: deadline)
        return [
            try DecompressionSession(format: format, options: options),
            try SandboxedSession(format: format, options: options, sandbox: SandboxedSessionTests.options()),
        ]
    }

    @Test("what is not to be put out is decoded for the others' sake")
    func doNotOutput() throws {
        let stream = try film()
        for session in try sessions(stream.format) {
            let answers = try answers(stream.samples, session) { DecodeInstructions(doNotOutput: $0 < 7) }
            #expect(Set(answers.prefix(7)) == Set((0..<7).map { .dropped($0, .doNotDisplay) }))
            #expect(Set(answers.dropFirst(7)) == Set((7..<25).map { .frame($0) }) && answers.count == 25)
        }
    }

    @Test("catching up leaves out what no other needs, whether the sample says so or the decoder finds out", arguments: [false, true])
    func skipping(isFlagged: Bool) throws {
        var stream = try film()
        // Of three samples in a row the second and the third are B; libavcodec's encoder says so by their times.
        let isB = stream.samples.indices.map { index in
            stream.samples[..<index].contains { $0.presentationTime > stream.samples[index].presentationTime }
        }
        #expect(isB.count { $0 } > 10)
        for index in stream.samples.indices {
            stream.samples[index].flags.remove(.droppable)
            if isFlagged, isB[index] { stream.samples[index].flags.insert(.droppable) }
        }
        for session in try sessions(stream.format) {
            let answers = try answers(stream.samples, session) { _ in DecodeInstructions(skipsNonReference: true) }
            let expected = stream.samples.indices.map { isB[$0] ? Answer.dropped(UInt64($0), .skipped) : .frame(UInt64($0)) }
            #expect(Set(answers) == Set(expected) && answers.count == expected.count)
        }
    }

    @Test("a droppable sample given to catch up never reaches the decoder")
    func skippedUnseen() throws {
        var stream = try film()
        for index in stream.samples.indices.dropFirst() {
            stream.samples[index].flags.insert(.droppable)
            let junk = [UInt8](repeating: 0x55, count: 40)
            stream.samples[index].content = unsafe junk.withUnsafeBytes { unsafe .compressed(BlockBuffer(copying: $0), .video(stream.format)) }
        }
        for session in try sessions(stream.format) {
            let answers = try answers(stream.samples, session) { _ in DecodeInstructions(skipsNonReference: true) }
            #expect(Set(answers) == Set([.frame(0)] + (1..<25).map { .dropped($0, .skipped) }))
        }
    }

    @Test("what comes too late is not decoded if nobody needs it, else decoded and not put out")
    func deadlines() throws {
        let clock = ManualClock()
        let stream = try SyntheticStream(encoder: "mpeg4", pixelFormat: .yuv420p, size: PixelSize(width: 64, height: 48), frames: 6)
        let session = try DecompressionSession(
            format: stream.format, options: DecoderOptions(threads: 1, lowDelay: true, deadline: .milliseconds(10)), clock: clock)
        var answers: [Answer] = []
        func decode(_ index: Int, isDroppable: Bool, deadline: HostTime?) throws {
            var sample = stream.samples[index]
            sample.flags.remove(.droppable)
            if isDroppable { sample.flags.insert(.droppable) }
            try session.decode(sample, DecodeInstructions(deadline: deadline)) { answers.append(answer($0)) }
        }
        let now = clock.now()
        try decode(0, isDroppable: false, deadline: now + .milliseconds(1))
        try decode(1, isDroppable: false, deadline: now)
        try decode(2, isDroppable: false, deadline: nil)
        try decode(3, isDroppable: true, deadline: now - .milliseconds(1))
        #expect(answers == [.frame(0), .dropped(1, .late), .frame(2), .dropped(3, .late)])
        #expect(session.poolStatistics.inUse <= 2, "what is too late gives its surface back")
    }

    /// The decoder holds the first frame back until the second comes; meanwhile the time passes that the options give it.
    @Test("the options' deadline counts from the moment that a sample is given")
    func optionsDeadline() throws {
        let clock = ManualClock()
        let stream = try film()
        let session = try DecompressionSession(
            format: stream.format, options: DecoderOptions(threads: 1, deadline: .milliseconds(10)), clock: clock)
        var answers: [Answer] = []
        try session.decode(stream.samples[0]) { answers.append(answer($0)) }
        #expect(answers == [])
        clock.advance(by: .milliseconds(10))
        for sample in stream.samples.dropFirst() { try session.decode(sample) { answers.append(answer($0)) } }
        session.finishDelayedFrames { answers.append(answer($0)) }
        #expect(answers.count == 25 && answers.first == .dropped(0, .late))
        #expect(answers.dropFirst().allSatisfy { if case .frame = $0 { true } else { false } })
    }

    @Test("a moving timebase gives a deadline, a standing one none")
    func timebase() {
        let clock = ManualClock()
        let timebase = Timebase(clock: clock)
        let time = MediaTime(value: 3, timescale: 2)
        #expect(DecodeInstructions(endingAt: time, of: timebase).deadline == nil)
        timebase.setRate(2, time: .zero, atHostTime: clock.now())
        #expect(DecodeInstructions(endingAt: time, of: timebase).deadline == clock.now() + .milliseconds(750))
        #expect(DecodeInstructions(endingAt: .invalid, of: timebase).deadline == nil)
        timebase.setRate(-1)
        #expect(DecodeInstructions(endingAt: time, of: timebase).deadline == nil)
    }
}
