import Dispatch
import Media
import SampleQueue
import Testing

@Suite struct SampleQueueTests {
    private func word(_ item: SampleQueue.Dequeued) -> String {
        switch item {
        case .sample(let sample): "\(sample.byteCount)"
        case .flush(let removeImage): removeImage ? "flush and blank" : "flush"
        case .none: "none"
        }
    }

    @Test func `an unconstrained source is called again and again, and stopped at the high mark`() {
        let queue = SampleQueue(watermarks: Watermarks(lowSeconds: 0.2, highSeconds: 0.4))
        let made = Monitor(0)
        let producer = DispatchQueue(label: "producer")
        queue.requestSamples(whenReadyOn: producer) {
            // One a call, though it is ready for more: it must be called again.
            let number = made.change { number in
                number += 1
                return number
            }
            queue.enqueue(sample(milliseconds: 40, bytes: number))
        }
        for expected in 1...50 { #expect(word(queue.dequeue(waitingUntil: nil)) == "\(expected)") }
        // Ten samples make the high mark of 0.4 s; with fewer than five it is asked again.
        _ = made.wait { $0 >= 55 ? $0 : nil }
        queue.stopRequestingSamples()
        producer.sync {}
        let total = made.withLock { $0 }
        #expect(total <= 60 && queue.count == total - 50)
        while queue.count > 0 { _ = queue.dequeue(waitingUntil: nil) }
        #expect(queue.isReadyForMoreSamples && queue.bufferedBytes == 0 && queue.bufferedDuration == .zero)
        #expect(word(queue.dequeue(waitingUntil: .distantPast)) == "none")
        #expect(made.withLock { $0 } == total)
    }

    @Test func `a periodic source just enqueues, beyond the mark too`() {
        let queue = SampleQueue(watermarks: Watermarks(lowSeconds: 0.01, highSeconds: 0.02))
        for number in 1...5 { queue.enqueue(sample(bytes: number)) }
        #expect(queue.count == 5 && !queue.isReadyForMoreSamples)
        #expect((1...6).map { _ in word(queue.dequeue(waitingUntil: .distantPast)) } == ["1", "2", "3", "4", "5", "none"])
    }

    @Test func `a second request replaces the first`() {
        let queue = SampleQueue(watermarks: Watermarks(lowSeconds: 0.04, highSeconds: 0.04))
        defer { queue.stopRequestingSamples() }
        queue.requestSamples(whenReadyOn: DispatchQueue(label: "first")) { queue.enqueue(sample(bytes: 1)) }
        #expect(word(queue.dequeue(waitingUntil: nil)) == "1")
        queue.requestSamples(whenReadyOn: DispatchQueue(label: "second")) { queue.enqueue(sample(bytes: 2)) }
        var seen: [String] = []
        while seen.suffix(3) != ["2", "2", "2"], seen.count < 20 { seen.append(word(queue.dequeue(waitingUntil: nil))) }
        #expect(seen.suffix(3) == ["2", "2", "2"])
    }

    @Test func `flush is heard first, and starts the source again`() {
        let queue = SampleQueue()
        queue.enqueue(sample(bytes: 1))
        queue.enqueue(SampleBuffer(marker: .endOfStream))
        #expect(!queue.isReadyForMoreSamples && queue.status == .rendering)
        queue.flushAndRemoveImage()
        #expect(queue.isReadyForMoreSamples && queue.status == .unknown)
        queue.enqueue(sample(bytes: 2))
        #expect((0..<2).map { _ in word(queue.dequeue(waitingUntil: nil)) } == ["flush and blank", "2"])
    }

    @Test func `a failure asks for a flush, which takes it away`() {
        let queue = SampleQueue()
        queue.enqueue(sample())
        queue.fail("the decoder is gone")
        #expect(queue.status == .failed && queue.error == "the decoder is gone" && queue.requiresFlushToResumeDecoding)
        queue.flush()
        #expect(queue.status == .unknown && queue.error == nil && !queue.requiresFlushToResumeDecoding)
    }

    @Test func `an interrupt ends a wait from another thread, and one that comes early is not lost`() {
        let queue = SampleQueue()
        queue.interrupt()
        #expect(word(queue.dequeue(waitingUntil: nil)) == "none")
        let thread = LoopThread(name: "interrupter") { queue.interrupt() }
        #expect(word(queue.dequeue(waitingUntil: nil)) == "none")
        thread.join()
    }

    @Test func `the control timebase can be replaced at any time`() {
        let queue = SampleQueue()
        #expect(queue.controlTimebase.rate == 0 && queue.controlTimebase.time == .zero)
        let other = Timebase(clock: ManualClock())
        queue.controlTimebase = other
        #expect(queue.controlTimebase === other)
    }
}
