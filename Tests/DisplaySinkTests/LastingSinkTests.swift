import Media
import PixelConversion
import SinkConformance
import SurfacePool
import Testing

@testable import DisplaySink

/// A display that shows one film after the other.
@Suite struct LastingSinkTests {
    private static func ignore(_ event: SinkEvent) {}

    @Test func `the last frame of a film stays until the first of the next`() throws {
        let clock = ManualClock(HostTime(nanoseconds: 1_000_000_000)), log = PresentationLog(), frames = TestFrames()
        let display = HeadlessSink(refreshRate: Ratio(50, 1), clock: clock, probe: log)
        let sink = LastingSink(display, capacity: 4, viewer: Self.ignore)
        for film in 0..<3 {
            let timebase = Timebase(clock: clock)
            let queue = sink.queue(for: timebase), heard = Monitor([SinkEvent]())
            #expect(queue.statistics.framesPresented == 0)
            try sink.start(queue) { event in heard.change { $0.append(event) } }
            timebase.setTime(.zero)
            for number in 0..<2 {
                let time = MediaTime(value: Int64(number), timescale: 25)
                queue.enqueue(try frames.frame(number + film * 10, at: time, duration: MediaTime(value: 1, timescale: 25)))
            }
            queue.markEndOfStream()
            clock.advance(by: .milliseconds(20))
            timebase.setRate(1)
            clock.advance(by: .milliseconds(120))
            #expect(heard.withLock { $0.last } == .finished)
            #expect(queue.statistics.framesPresented == 2)
            sink.stop()
            #expect(!queue.enqueue(try frames.frame(99, rate: 25)), "a frame that comes after the end")
            // Nothing plays for a while.
            clock.advance(by: .milliseconds(60))
            #expect(frames.inUse == 1, "the frame on the glass")
        }
        sink.end()
        #expect(frames.inUse == 0)
        let shown = log.lines.compactMap { line -> String? in
            let words = line.split(separator: " ").map(String.init)
            return words[1] == "show" || words[1] == "remove" ? words[2] : nil
        }
        #expect(shown == ["0", "1", "10", "11", "20", "21"])
    }

    @Test func `a frame of the film before that lights up late does not count`() throws {
        let display = LoudSink(), frames = TestFrames()
        let sink = LastingSink(display, capacity: 4, viewer: Self.ignore)
        func take(_ queue: PresentationQueue) -> UInt64? {
            guard case .show(let frame, _) = queue.next(for: DisplayInterval(deadline: .init(nanoseconds: 0), nextDeadline: .init(nanoseconds: 1)))
            else { return nil }
            return frame.sequence
        }
        let first = sink.queue(for: Timebase())
        try sink.start(first, events: Self.ignore)
        first.enqueue(try frames.frame(0, rate: 25))
        let shown = try #require(take(first))
        sink.stop()
        let second = sink.queue(for: Timebase())
        try sink.start(second, events: Self.ignore)
        second.didPresent(sequence: shown, at: HostTime(nanoseconds: 5))
        #expect(second.statistics.framesPresented == 0)
        second.enqueue(try frames.frame(0, rate: 25))
        second.didPresent(sequence: try #require(take(second)), at: HostTime(nanoseconds: 6))
        #expect(second.statistics.framesPresented == 1)
    }

    @Test func `the viewer is heard whether a film plays or not, and the display starts once`() throws {
        let display = LoudSink(), viewer = Monitor([SinkEvent]()), film = Monitor([SinkEvent]())
        let sink = LastingSink(display, capacity: 4) { event in viewer.change { $0.append(event) } }
        for _ in 0..<2 {
            try sink.start(sink.queue(for: Timebase())) { event in film.change { $0.append(event) } }
            display.say(.key(.q))
            display.say(.finished)
            sink.stop()
            display.say(.closeRequested)
            display.say(.notice("unplugged"))
        }
        #expect(viewer.withLock { $0 } == [.key(.q), .closeRequested, .notice("unplugged"), .key(.q), .closeRequested, .notice("unplugged")])
        #expect(film.withLock { $0 } == [.finished, .finished])
        #expect(display.starts == 1 && display.stops == 0)
        sink.end()
        #expect(display.stops == 1)
    }

    @Test func `a film that begins without its display is told so, and none begins on one that is gone`() throws {
        let display = LoudSink(), film = Monitor([SinkEvent]())
        let sink = LastingSink(display, capacity: 4, viewer: Self.ignore)
        try sink.start(sink.queue(for: Timebase()), events: Self.ignore)
        sink.stop()
        display.say(.displayLost)
        try sink.start(sink.queue(for: Timebase())) { event in film.change { $0.append(event) } }
        display.say(.displayReturned)
        sink.stop()
        try sink.start(sink.queue(for: Timebase())) { event in film.change { $0.append(event) } }
        #expect(film.withLock { $0 } == [.displayLost, .displayReturned])
        sink.stop()
        let loss = SinkError(.lost, "the compositor has ended")
        display.say(.failed(loss))
        #expect(sink.loss == loss)
        #expect(throws: loss) { try sink.start(sink.queue(for: Timebase()), events: Self.ignore) }
    }

    @Test func `bytes are counted for each film`() throws {
        let display = LoudSink()
        let sink = LastingSink(display, capacity: 4, viewer: Self.ignore)
        for bytes in [100, 30] {
            try sink.start(sink.queue(for: Timebase()), events: Self.ignore)
            display.copy(bytes)
            sink.stop()
            #expect(sink.bytesCopied == bytes)
        }
    }
}

/// A display that shows nothing and says what the test wants.
private final class LoudSink: DisplaySink {
    private let state = Monitor((starts: 0, stops: 0, bytes: 0, events: nil as (@Sendable (SinkEvent) -> Void)?))

    let name = "loud"
    let pacing = Pacing.display
    let surfaceHoldCount = 1
    var preferredAllocator: any SurfaceAllocator { MemfdAllocator() }
    var conversion: ConversionReport? { nil }
    var bytesCopied: Int { state.withLock { $0.bytes } }
    var starts: Int { state.withLock { $0.starts } }
    var stops: Int { state.withLock { $0.stops } }

    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        state.withLock { state in
            state.starts += 1
            state.events = events
        }
    }

    func stop() { state.withLock { $0.stops += 1 } }
    func say(_ event: SinkEvent) { state.withLock { $0.events }?(event) }
    func copy(_ bytes: Int) { state.withLock { $0.bytes += bytes } }
}
