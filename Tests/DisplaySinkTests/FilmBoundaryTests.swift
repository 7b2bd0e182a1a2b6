import DisplaySink
import Media
import SinkConformance
import SurfacePool
import Testing

/// Films that follow each other in one queue, on a hand-driven clock.
@Suite struct FilmBoundaryTests {
    private let clock = ManualClock(HostTime(nanoseconds: 1_000_000_000))
    private let queue: PresentationQueue
    private let frames = TestFrames()

    init() { queue = PresentationQueue(capacity: 4, timebase: Timebase(clock: clock), pacing: .untimed) }

    /// Takes the next frame as a sink does. Returns its number; nil when none waits.
    private func take() -> UInt64? {
        let now = clock.now()
        guard case .show(let frame, _) = queue.next(for: DisplayInterval(deadline: now, nextDeadline: now, period: nil)) else { return nil }
        return frame.sequence
    }

    /// When the frame with this number is due.
    private func time(_ number: Int64) -> MediaTime { MediaTime(value: number, timescale: 100) }

    private func isOver(before number: Int) -> Bool { queue.isOver(before: number, at: clock.now()) }

    @Test func `a film is over when its last frame has been reported`() throws {
        for number in 0..<4 { queue.enqueue(try frames.frame(number)) }
        queue.follow(1, from: time(2))
        #expect(isOver(before: 0) && !isOver(before: 1))
        #expect(take() == 0 && take() == 1)
        #expect(!isOver(before: 1), "none waits, and none has been reported")
        queue.didPresent(sequence: 0, at: clock.now())
        #expect(!isOver(before: 1))
        queue.didPresent(sequence: 1, at: clock.now())
        #expect(isOver(before: 1) && !isOver(before: 2))
        #expect(queue.statistics(of: 0)?.framesPresented == 2)
    }

    @Test func `frames that the display throws away end a film, also after the next one has begun`() throws {
        for number in 0..<4 { queue.enqueue(try frames.frame(number)) }
        queue.follow(1, from: time(2))
        #expect(take() == 0 && take() == 1 && take() == 2)
        #expect(!isOver(before: 1))
        queue.didDiscard(sequence: 0)
        queue.didPresent(sequence: 1, at: clock.now())
        #expect(isOver(before: 1))
        #expect(queue.statistics(of: 0)?.framesPresented == 1 && queue.statistics(of: 0)?.dropped(.late) == 1)
        queue.follow(2, from: time(3))
        #expect(isOver(before: 1) && !isOver(before: 2))
    }

    @Test func `a display that reports nothing is not waited for`() throws {
        for number in 0..<2 { queue.enqueue(try frames.frame(number)) }
        queue.follow(1, from: time(2))
        #expect(take() == 0 && take() == 1 && take() == nil)
        #expect(!isOver(before: 1))
        clock.advance(by: .seconds(1))
        #expect(isOver(before: 1))
    }

    @Test func `a flush leaves nothing to wait for`() throws {
        for number in 0..<2 { queue.enqueue(try frames.frame(number)) }
        queue.follow(1, from: time(2))
        #expect(!isOver(before: 1))
        queue.flush(removeImage: false)
        #expect(isOver(before: 1))
    }
}
