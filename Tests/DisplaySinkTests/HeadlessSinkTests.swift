import DisplaySink
import Media
import SinkConformance
import SurfacePool
import Testing

/// A sink on a hand-driven clock, and the film that it shows.
private struct Stage<Sink: DisplaySink> {
    let clock = ManualClock(HostTime(nanoseconds: 1_000_000_000))
    let timebase: Timebase
    let queue: PresentationQueue
    let frames = TestFrames()
    let sink: Sink
    let events = Monitor([SinkEvent]())

    init(_ make: (ManualClock) -> Sink) throws {
        timebase = Timebase(clock: clock)
        sink = make(clock)
        queue = PresentationQueue(capacity: 8, timebase: timebase, pacing: sink.pacing)
        try sink.start(queue) { [events] event in events.withLock { $0.append(event) } }
    }

    func enqueue(_ numbers: Range<Int>, rate: Int32 = 24) throws {
        for number in numbers { queue.enqueue(try frames.frame(number, rate: rate)) }
    }
}

@Suite("HeadlessSink")
struct HeadlessSinkTests {
    @Test("a recording of 24 frames a second on 60 Hz: started, paused, sought and ended")
    func recording() throws {
        let log = PresentationLog()
        let stage = try Stage { HeadlessSink(refreshRate: Ratio(60, 1), clock: $0, probe: log) }
        try stage.enqueue(0..<6)
        stage.clock.advance(by: .milliseconds(40))
        stage.timebase.setRate(1)
        stage.clock.advance(by: .milliseconds(150))
        stage.timebase.setRate(0)
        stage.clock.advance(by: .milliseconds(100))
        stage.queue.flush(removeImage: false)
        stage.timebase.setTime(MediaTime(value: 100, timescale: 24))
        try stage.enqueue(100..<103)
        stage.clock.advance(by: .milliseconds(30))
        stage.timebase.setRate(1)
        stage.queue.markEndOfStream()
        stage.clock.advance(by: .milliseconds(200))
        stage.queue.flush(removeImage: true)
        stage.sink.stop()
        #expect(
            log.lines == [
                "0.016667 show 0 00:00:00.000 still",
                "0.083333 show 1 00:00:00.042 error +1.667 ms after 4 refreshes",
                "0.116667 show 2 00:00:00.083 error -6.667 ms after 2 refreshes",
                "0.166667 show 3 00:00:00.125 error +1.667 ms after 3 refreshes",
                // Handed over before the pause.
                "0.200000 show 4 00:00:00.167 still after 2 refreshes",
                "0.300000 drop 1 flushed",
                "0.300000 show 100 00:00:04.167 still after 6 refreshes",
                "0.366667 show 101 00:00:04.208 error +5.000 ms after 4 refreshes",
                "0.400000 show 102 00:00:04.250 error -3.333 ms after 2 refreshes",
                "0.433333 finished",
                "0.520000 remove image",
            ])
        #expect(stage.frames.inUse == 0)
    }

    @Test("each frame's use is held until the refresh that replaces it")
    func holding() throws {
        let stage = try Stage { HeadlessSink(refreshRate: Ratio(50, 1), clock: $0) }
        stage.timebase.setRate(1)
        try stage.enqueue(0..<2, rate: 50)
        #expect(stage.frames.inUse == 2)
        #expect(stage.queue.count == 1, "one is on its way to the glass")
        stage.clock.advance(by: .milliseconds(20))
        #expect(stage.frames.inUse == 2)
        #expect(stage.queue.count == 0)
        stage.clock.advance(by: .milliseconds(20))
        #expect(stage.frames.inUse == 1, "the second has replaced the first")
        stage.clock.advance(by: .seconds(1))
        #expect(stage.frames.inUse == 1)
        stage.sink.stop()
        #expect(stage.frames.inUse == 0)
    }

    @Test("the statistics of a film that is shown in time", arguments: [24, 25, 30, 50, 60] as [Int32])
    func statistics(rate: Int32) throws {
        let stage = try Stage { HeadlessSink(clock: $0) }
        // The film begins at the second refresh: at the first, a frame that comes now would be late.
        stage.timebase.setRate(1, time: .zero, atHostTime: stage.clock.now() + .milliseconds(33))
        var next = 0
        for _ in 0..<400 {
            while stage.queue.count < 4, next < Int(rate) * 2 {
                try stage.enqueue(next..<(next + 1), rate: rate)
                next += 1
            }
            if next == Int(rate) * 2 { stage.queue.markEndOfStream() }
            stage.clock.advance(by: .milliseconds(6))
        }
        let statistics = stage.queue.statistics
        #expect(statistics.framesPresented == Int(rate) * 2)
        #expect(statistics.droppedTotal == 0)
        #expect(statistics.missedRefreshes == 0)
        #expect(statistics.maximumError <= 16_667, "within a refresh")
        #expect(stage.events.withLock { $0.last } == .finished)
        stage.sink.stop()
    }

    @Test("a frame handed over too late for a refresh gets the one after")
    func missed() throws {
        let stage = try Stage { HeadlessSink(refreshRate: Ratio(10, 1), clock: $0) }
        stage.timebase.setRate(1)
        try stage.enqueue(0..<1, rate: 10)
        let first = try #require(stage.events.withLock { $0.first })
        #expect(first == .firstFrameShown(HostTime(nanoseconds: 1_000_000_000)))
        stage.clock.advance(by: .milliseconds(100))
        #expect(stage.queue.statistics.firstFrameTime == HostTime(nanoseconds: 1_100_000_000))
        stage.sink.stop()
    }

    @Test("untimed, a frame is done with when enqueue returns, on the thread that enqueues")
    func inline() throws {
        let stage = try Stage { _ in HeadlessSink(isUntimed: true) }
        for number in 0..<100 {
            try stage.enqueue(number..<(number + 1))
            #expect(stage.frames.inUse == 0)
        }
        #expect(stage.queue.statistics.framesPresented == 100)
        stage.queue.markEndOfStream()
        #expect(stage.events.withLock { $0.last } == .finished)
        stage.sink.stop()
        try stage.enqueue(100..<101)
        #expect(stage.queue.count == 1, "a stopped sink takes nothing")
    }

    @Test("frames that waited for an untimed sink are taken when it starts")
    func waitedFor() throws {
        let frames = TestFrames()
        let queue = PresentationQueue(capacity: 4, timebase: Timebase(), pacing: .untimed)
        for number in 0..<3 { queue.enqueue(try frames.frame(number)) }
        let sink = HeadlessSink(isUntimed: true)
        try sink.start(queue) { _ in }
        #expect(queue.statistics.framesPresented == 3)
        sink.stop()
    }

    @Test("in real time, each frame is shown or is late, and the end comes")
    func realTime() throws {
        let frames = TestFrames()
        let timebase = Timebase()
        let queue = PresentationQueue(capacity: 4, timebase: timebase)
        let sink = HeadlessSink(refreshRate: Ratio(240, 1))
        let finished = Monitor(false)
        try sink.start(queue) { event in if event == .finished { finished.change { $0 = true } } }
        timebase.setRate(1, time: MediaTime(value: -1, timescale: 20), atHostTime: MonotonicClock.shared.now())
        for number in 0..<60 { queue.enqueue(try frames.frame(number, rate: 120)) }
        queue.markEndOfStream()
        #expect(finished.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0 ? true : nil } == true)
        sink.stop()
        let statistics = queue.statistics
        // A busy machine may be late.
        #expect(statistics.framesPresented > 0 && statistics.framesPresented + statistics.dropped(.late) == 60)
        #expect(frames.inUse == 0)
    }
}
