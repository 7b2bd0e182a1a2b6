import DisplaySink
import Media
import SinkConformance
import SurfacePool
import TestSupport
import Testing

/// What `next` said, without the frame that the testing macros cannot take.
private enum Said: Equatable {
    case show(UInt64, isFirst: Bool)
    case keep(HostTime?)
    case removeImage
    case finished
}

/// A queue on a hand-driven clock, asked as a 60 Hz display would.
private struct Stage {
    let clock = ManualClock(HostTime(nanoseconds: 1_000_000_000))
    let timebase: Timebase
    let queue: PresentationQueue
    let frames = TestFrames()

    init(capacity: Int = 4, pacing: Pacing = .display) {
        timebase = Timebase(clock: clock)
        queue = PresentationQueue(capacity: capacity, timebase: timebase, pacing: pacing)
    }

    func enqueue(_ numbers: Range<Int>, rate: Int32 = 60, flags: VideoFrame.Flags = []) throws {
        for number in numbers { queue.enqueue(try frames.frame(number, rate: rate, flags: flags)) }
    }

    /// Asks for the refresh at the clock's present time; a frame shown ends at once.
    func ask() -> Said {
        let now = clock.now()
        switch queue.next(for: DisplayInterval(deadline: now, nextDeadline: now + .nanoseconds(16_666_667))) {
        case .show(let frame, let isFirst): return .show(frame.sequence, isFirst: isFirst)
        case .keep(let time): return .keep(time)
        case .removeImage: return .removeImage
        case .finished: return .finished
        }
    }

    func refresh() -> Said {
        defer { clock.advance(by: .nanoseconds(16_666_667)) }
        return ask()
    }
}

@Suite("PresentationQueue")
struct PresentationQueueTests {
    @Test("a film from its first frame to its end")
    func film() throws {
        let stage = Stage()
        #expect(stage.ask() == .keep(nil))
        stage.timebase.setRate(1)
        try stage.enqueue(0..<3)
        stage.queue.markEndOfStream()
        #expect(stage.refresh() == .show(0, isFirst: true))
        #expect(stage.refresh() == .show(1, isFirst: false))
        #expect(stage.refresh() == .show(2, isFirst: false))
        #expect(stage.frames.inUse == 0)
        #expect(stage.refresh() == .finished, "the last frame has had its time")
        #expect(stage.refresh() == .keep(nil), "said once")
        let statistics = stage.queue.statistics
        #expect(statistics.framesSubmitted == 3)
        #expect(statistics.droppedTotal == 0)
    }

    @Test("the last frame has its whole time before the end is told")
    func lastFrame() throws {
        let stage = Stage()
        stage.timebase.setRate(1)
        try stage.enqueue(0..<1, rate: 10)
        #expect(stage.refresh() == .show(0, isFirst: true))
        stage.queue.markEndOfStream()
        #expect(stage.ask() == .keep(HostTime(nanoseconds: 1_100_000_000)))
        stage.timebase.setRate(0)
        #expect(stage.ask() == .keep(nil), "a film that stands still does not end")
        stage.timebase.setRate(1)
        stage.clock.advance(by: .milliseconds(100))
        #expect(stage.ask() == .finished)
    }

    @Test("another frame takes the end back")
    func endTakenBack() throws {
        let stage = Stage(pacing: .untimed)
        stage.queue.markEndOfStream()
        #expect(stage.ask() == .finished)
        try stage.enqueue(0..<1)
        #expect(stage.ask() == .show(0, isFirst: true))
        #expect(stage.ask() == .keep(nil))
        stage.queue.markEndOfStream()
        #expect(stage.ask() == .finished)
    }

    @Test("a flush drops what waits, and the next frame is a first one")
    func flush() throws {
        let stage = Stage()
        stage.timebase.setRate(1)
        try stage.enqueue(0..<4)
        #expect(stage.refresh() == .show(0, isFirst: true))
        stage.queue.flush(removeImage: false)
        #expect(stage.frames.inUse == 0)
        #expect(stage.queue.statistics.dropped(.flushed) == 3)
        #expect(stage.queue.statistics.droppedTotal == 0, "nobody missed them")
        #expect(stage.ask() == .keep(nil))
        try stage.enqueue(4..<5)
        stage.clock.advance(by: .milliseconds(50))
        #expect(stage.ask() == .show(4, isFirst: true))
        stage.queue.flush(removeImage: true)
        #expect(stage.ask() == .removeImage)
        #expect(stage.ask() == .keep(nil), "said once")
    }

    @Test("late frames end, and are counted")
    func late() throws {
        let stage = Stage()
        stage.timebase.setRate(1)
        try stage.enqueue(0..<4)
        stage.clock.advance(by: .milliseconds(50))
        #expect(stage.ask() == .show(3, isFirst: true))
        #expect(stage.queue.statistics.dropped(.late) == 3)
        #expect(stage.frames.inUse == 0)
    }

    @Test("an untimed queue gives everything in order, whatever the timebase does")
    func untimed() throws {
        let stage = Stage(pacing: .untimed)
        try stage.enqueue(0..<3)
        for number in 0..<3 { #expect(stage.ask() == .show(UInt64(number), isFirst: number == 0)) }
        #expect(stage.ask() == .keep(nil))
        stage.queue.markEndOfStream()
        #expect(stage.ask() == .finished)
    }

    @Test("a step shows one frame of a film that stands still, and says its time")
    func steps() throws {
        let stage = Stage()
        let times = Monitor([MediaTime]())
        try stage.enqueue(0..<3)
        #expect(stage.ask() == .show(0, isFirst: true))
        #expect(stage.ask() == .keep(nil))
        stage.queue.showNext { time in times.withLock { $0.append(time) } }
        #expect(stage.ask() == .show(1, isFirst: false))
        #expect(stage.ask() == .keep(nil))
        #expect(times.withLock { $0 } == [MediaTime(value: 1, timescale: 60)])
    }

    @Test("enqueue waits for room, until its deadline")
    func deadline() throws {
        let stage = Stage(capacity: 1)
        try stage.enqueue(0..<1)
        let accepted = stage.queue.enqueue(try stage.frames.frame(1), waitingUntil: MonotonicClock.shared.now() + .milliseconds(5))
        #expect(!accepted)
        #expect(stage.frames.inUse == 1, "a frame that is not accepted ends")
    }

    @Test("a decoder that waits for room goes on when there is some, and gives up at a flush or when cancelled")
    func waiting() throws {
        for interruption in 0..<3 {
            // On a busy machine the decoder may come to the queue only after the interruption.
            let wrong = try withinAttempts {
                let stage = Stage(capacity: 1)
                try stage.enqueue(0..<1, flags: .displayImmediately)
                let hasBegun = Monitor(false), result = Monitor<Bool?>(nil)
                let thread = LoopThread(name: "decode") {
                    let frame = try? stage.frames.frame(1)
                    hasBegun.change { $0 = true }
                    guard let frame else { return }
                    let accepted = stage.queue.enqueue(frame)
                    result.change { $0 = accepted }
                }
                let _: Void? = hasBegun.wait { $0 ? () : nil }
                let limit = MonotonicClock.shared.now() + .milliseconds(20)
                #expect(result.wait(until: limit) { $0 } == nil, "it waits")
                switch interruption {
                case 0: #expect(stage.ask() == .show(0, isFirst: true))
                case 1: stage.queue.flush(removeImage: false)
                default: stage.queue.cancel()
                }
                thread.join()
                guard result.withLock({ $0 }) == (interruption == 0) else { return ["interruption \(interruption): not as it should end"] }
                #expect(stage.frames.inUse == (interruption == 0 ? 1 : 0))
                return []
            }
            #expect(wrong == [])
        }
    }

    @Test("a cancelled queue takes nothing until it is resumed")
    func cancelled() throws {
        let stage = Stage(pacing: .untimed)
        stage.queue.cancel()
        #expect(!stage.queue.enqueue(try stage.frames.frame(0)))
        stage.queue.resume()
        #expect(stage.queue.enqueue(try stage.frames.frame(0)))
        #expect(stage.ask() == .show(0, isFirst: true))
    }

    @Test("a sleeping sink is woken by what concerns it, and by nothing else")
    func waking() throws {
        let stage = Stage()
        let wakes = Monitor(0)
        stage.queue.setWake { wakes.withLock { $0 += 1 } }
        func woken(_ body: () throws -> Void) rethrows -> Int {
            let before = wakes.withLock { $0 }
            try body()
            return wakes.withLock { $0 } - before
        }
        #expect(try woken { try stage.enqueue(0..<1) } == 1)
        #expect(try woken { try stage.enqueue(1..<2) } == 0, "it has not slept since")
        #expect(stage.ask() == .show(0, isFirst: true))
        #expect(stage.ask() == .keep(nil))
        #expect(try woken { try stage.enqueue(2..<3) } == 1)
        #expect(woken { stage.timebase.setRate(1) } == 1)
        #expect(woken { stage.timebase.setTime(MediaTime(value: -1, timescale: 1)) } == 1)
        if case .keep(.some) = stage.ask() {} else { Issue.record("a time to look again was expected") }
        #expect(try woken { try stage.enqueue(3..<4) } == 0, "it knows when to look")
        #expect(try woken { try stage.enqueue(4..<5, flags: .displayImmediately) } == 1)
        #expect(woken { stage.queue.markEndOfStream() } == 1)
        #expect(woken { stage.queue.flush(removeImage: false) } == 1)
        #expect(woken { stage.queue.showNext() } == 1)
        let other = Timebase(clock: stage.clock)
        #expect(woken { stage.queue.timebase = other } == 1)
        #expect(woken { stage.timebase.setRate(2) } == 0, "the one before has nothing to say")
        #expect(woken { other.setRate(1) } == 1)
        stage.queue.setWake(nil)
        #expect(woken { other.setRate(2) } == 0)
    }

    @Test("errors are measured against the moment that a frame's time asked for")
    func measuring() throws {
        let stage = Stage()
        stage.timebase.setRate(1)
        let period = HostSpan.nanoseconds(16_666_667)
        for number in 0..<100 {
            try stage.enqueue(number..<(number + 1), rate: 30)
            let start = stage.clock.now()
            guard case .show = stage.ask() else { Issue.record("frame \(number) was not shown"); return }
            // Every tenth a refresh late, the others 1 ms.
            let late: HostSpan = number % 10 == 9 ? period : .milliseconds(1)
            stage.queue.didPresent(sequence: UInt64(number), at: start + late, refresh: period, flags: .vsync)
            stage.clock.set(to: HostTime(nanoseconds: 1_000_000_000 + Int64(number + 1) * 1_000_000_000 / 30))
        }
        let statistics = stage.queue.statistics
        #expect(statistics.framesPresented == 100)
        #expect(statistics.measuredFrames == 100)
        #expect(abs(statistics.error(percentile: 0.5) - 1000) < 35)
        #expect(abs(statistics.error(percentile: 0.95) - 16_667) < 550)
        #expect(abs(statistics.maximumError - 16_666.667) < 0.01)
        #expect(abs(statistics.meanSignedError - (0.9 * 1000 + 0.1 * 16_666.667)) < 1)
        #expect(statistics.missedRefreshes == 10)
        #expect(statistics.repeats == 100, "99 changes of frame in 199 refreshes")
        #expect(statistics.firstFrameTime == HostTime(nanoseconds: 1_001_000_000))
        stage.queue.didDiscard(sequence: 7)
        #expect(stage.queue.statistics.dropped(.late) == 1)
    }

    @Test("time that passes the last frame's end is told once, and not of a film that stands still or ends")
    func starving() throws {
        let stage = Stage()
        stage.timebase.setRate(1)
        let told = Monitor(0)
        stage.queue.onStarving { told.withLock { $0 += 1 } }
        try stage.enqueue(0..<1, rate: 10)
        guard case .show = stage.ask() else { Issue.record("the frame was not shown"); return }
        // Within its time the sink is to come back at its end.
        #expect(stage.ask() == .keep(HostTime(nanoseconds: 1_100_000_000)))
        #expect(told.withLock { $0 } == 0)
        stage.timebase.setRate(0)
        stage.clock.set(to: HostTime(nanoseconds: 3_000_000_000))
        #expect(stage.ask() == .keep(nil))
        #expect(told.withLock { $0 } == 0, "a film that stands still")
        stage.timebase.setRate(1)
        stage.clock.set(to: HostTime(nanoseconds: 3_200_000_000))
        #expect(stage.ask() == .keep(nil))
        #expect(stage.ask() == .keep(nil))
        #expect(told.withLock { $0 } == 1)
        // Another frame, and then the end of the stream.
        try stage.enqueue(1..<2, rate: 10)
        guard case .show = stage.ask() else { Issue.record("the frame was not shown"); return }
        stage.queue.markEndOfStream()
        stage.clock.set(to: HostTime(nanoseconds: 4_000_000_000))
        #expect(stage.ask() == .finished)
        #expect(told.withLock { $0 } == 1)
    }

    @Test("frame and sound are as far apart as both their errors together, while there is sound")
    func soundOffset() throws {
        let stage = Stage()
        stage.timebase.setRate(1)
        // Sound 3 ms early, then 5 ms late, then none.
        let leads: [HostSpan?] = [.milliseconds(3), .milliseconds(-5), nil]
        let lead = Monitor<HostSpan?>(nil)
        stage.queue.setSoundLead { lead.withLock { $0 } }
        for (number, told) in leads.enumerated() {
            try stage.enqueue(number..<(number + 1), rate: 30)
            let start = stage.clock.now()
            guard case .show = stage.ask() else { Issue.record("frame \(number) was not shown"); return }
            lead.withLock { $0 = told }
            // Each frame 1 ms late.
            stage.queue.didPresent(sequence: UInt64(number), at: start + .milliseconds(1), refresh: .milliseconds(16), flags: .vsync)
            stage.clock.set(to: HostTime(nanoseconds: 1_000_000_000 + Int64(number + 1) * 1_000_000_000 / 30))
        }
        let statistics = stage.queue.statistics
        #expect(statistics.measuredFrames == 3 && statistics.framesWithSound == 2)
        #expect(abs(statistics.meanSoundOffset - (4000 - 4000) / 2) < 1)
        #expect(abs(statistics.maximumSoundOffset - 4000) < 1)
    }

    @Test("how the display has shown the frames is counted")
    func kindsOfPresentation() throws {
        let stage = Stage()
        let kinds: [PresentationFlags] = [[.vsync, .zeroCopy], [.vsync, .hardwareClock, .zeroCopy], .vsync, .estimated, []]
        for (number, flags) in kinds.enumerated() { stage.queue.didPresent(sequence: UInt64(number), at: stage.clock.now(), flags: flags) }
        let statistics = stage.queue.statistics
        #expect(statistics.framesPresented == 5 && statistics.framesScannedOut == 2 && statistics.framesEstimated == 1)
    }

    @Test("frames shown whatever the clock says have no error")
    func unmeasured() throws {
        let stage = Stage()
        try stage.enqueue(50..<51)
        #expect(stage.ask() == .show(50, isFirst: true))
        stage.queue.didPresent(sequence: 50, at: stage.clock.now())
        #expect(stage.queue.statistics.framesPresented == 1)
        #expect(stage.queue.statistics.measuredFrames == 0)
    }
}
