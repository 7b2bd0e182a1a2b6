import Media
import SampleQueue
import TestSupport
import Testing

/// A compressed sample of `bytes` bytes that takes `milliseconds` and is decoded at `at` milliseconds.
func sample(_ at: Int64? = nil, milliseconds: Int64? = 40, bytes: Int = 100) -> SampleBuffer {
    let block = unsafe [UInt8](repeating: 7, count: bytes).withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
    return SampleBuffer(
        content: .compressed(block, .other("test")), decodeTime: at.map { MediaTime(value: $0, timescale: 1000) } ?? .invalid,
        duration: milliseconds.map { MediaTime(value: $0, timescale: 1000) } ?? .invalid)
}

/// What a queue hands out, in words that a table can hold.
func word(_ item: SampleQueueState.Item?) -> String {
    switch item {
    case .sample(let sample):
        switch sample.content {
        case .marker(let marker): "\(marker)"
        case .compressed(let bytes, _): "\(bytes.count)"
        case .image: "image"
        }
    case .flush(let removeImage): removeImage ? "flush and blank" : "flush"
    case nil: "nothing"
    }
}

@Suite struct SampleQueueStateTests {
    @Test func `asks until a high mark is reached and again below both low ones`() {
        var state = SampleQueueState(watermarks: Watermarks(lowSeconds: 0.1, highSeconds: 0.2, lowBytes: 1000, highBytes: 2000))
        var answers: [Bool] = []
        for _ in 0..<5 {
            state.enqueue(sample())
            answers.append(state.isReadyForMoreSamples)
        }
        #expect(answers == [true, true, true, true, false])
        answers = (0..<5).map { _ in
            _ = state.dequeue()
            return state.isReadyForMoreSamples
        }
        // 0.16, 0.12, 0.08 …: the gap between the marks keeps it from changing at one point.
        #expect(answers == [false, false, true, true, true])
    }

    @Test(arguments: [
        (bytes: 2000, milliseconds: 1 as Int64?, isReady: false), (bytes: 1999, milliseconds: 1, isReady: true),
        (bytes: 1, milliseconds: 200, isReady: false), (bytes: 1, milliseconds: 199, isReady: true), (bytes: 1999, milliseconds: nil, isReady: true),
    ])
    func `either high mark is enough`(bytes: Int, milliseconds: Int64?, isReady: Bool) {
        var state = SampleQueueState(watermarks: Watermarks(lowSeconds: 0.1, highSeconds: 0.2, lowBytes: 1000, highBytes: 2000))
        state.enqueue(sample(milliseconds: milliseconds, bytes: bytes))
        #expect(state.isReadyForMoreSamples == isReady)
    }

    @Test func `without durations the distance of decode times counts, and a jump counts little`() {
        var state = SampleQueueState(watermarks: Watermarks())
        for time: Int64 in [0, 40, 80, 90_000, 90_040] { state.enqueue(sample(time, milliseconds: nil)) }
        #expect(state.bufferedSeconds == 0.04 + 0.04 + 1 + 0.04)
        while state.dequeue() != nil {}
        #expect(state.bufferedSeconds == 0 && state.bufferedBytes == 0 && state.count == 0)
    }

    @Test func `markers keep their place`() {
        var state = SampleQueueState(watermarks: Watermarks())
        for item in [
            sample(bytes: 1), SampleBuffer(marker: .discontinuity), sample(bytes: 2), SampleBuffer(marker: .drain),
            SampleBuffer(marker: .endOfStream),
        ] {
            state.enqueue(item)
        }
        #expect((0..<6).map { _ in word(state.dequeue()) } == ["1", "discontinuity", "2", "drain", "endOfStream", "nothing"])
    }

    @Test func `after the end nothing is asked for, until something follows all the same`() {
        var state = SampleQueueState(watermarks: Watermarks())
        state.enqueue(SampleBuffer(marker: .endOfStream))
        #expect(!state.isReadyForMoreSamples)
        state.enqueue(sample())
        #expect(state.isReadyForMoreSamples)
    }

    @Test(arguments: [([false], "flush"), ([true], "flush and blank"), ([true, false], "flush and blank"), ([false, true], "flush and blank")])
    func `the consumer hears of a flush before anything that follows`(flushes: [Bool], heard: String) {
        var state = SampleQueueState(watermarks: Watermarks(lowSeconds: 0.1, highSeconds: 0.2))
        for _ in 0..<9 { state.enqueue(sample()) }
        state.enqueue(SampleBuffer(marker: .endOfStream))
        for removeImage in flushes { state.flush(removeImage: removeImage) }
        #expect(state.isReadyForMoreSamples && state.bufferedBytes == 0 && state.bufferedSeconds == 0)
        state.enqueue(sample(bytes: 5))
        #expect((0..<3).map { _ in word(state.dequeue()) } == [heard, "5", "nothing"])
    }

    @Test(arguments: [1 as UInt64, 2, 3, 4])
    func `what goes in comes out in order, whatever the mixture`(seed: UInt64) {
        var dice = Dice(seed: seed)
        var state = SampleQueueState(watermarks: Watermarks())
        var model: [Int] = []
        for number in 1...3000 {
            if Int.random(in: 0..<5, using: &dice) < 3 {
                state.enqueue(sample(Int64(number), milliseconds: Bool.random(using: &dice) ? 3 : nil, bytes: number))
                model.append(number)
            } else {
                #expect(word(state.dequeue()) == (model.isEmpty ? "nothing" : "\(model.removeFirst())"), "seed \(seed)")
            }
            if state.count != model.count || state.bufferedBytes != model.reduce(0, +) {
                Issue.record("seed \(seed): \(state.count) samples of \(state.bufferedBytes) bytes where \(model.count) are")
                return
            }
        }
    }
}
