internal import DisplaySink
internal import Media
internal import SurfacePool

/// A sink with all that it needs around it, for one check: frames, a queue, a timebase, and ears for its events.
final class SinkStage: Sendable {
    /// As many as the player's queue holds.
    static let capacity = 4

    let sink: any DisplaySink
    let frames: TestFrames
    let timebase = Timebase()
    let queue: PresentationQueue
    private let log = Monitor((events: [SinkEvent](), violations: [String]()))

    init(_ sink: any DisplaySink) {
        self.sink = sink
        frames = TestFrames(maximumCount: 32, allocator: sink.preferredAllocator)
        queue = PresentationQueue(capacity: Self.capacity, timebase: timebase, pacing: sink.pacing)
    }

    func start() throws {
        try sink.start(queue) { [log] event in log.change { $0.events.append(event) } }
    }

    /// The film moves, a tenth of a second before its first frame.
    func play() {
        timebase.setRate(1, time: MediaTime(value: -1, timescale: 10), atHostTime: MonotonicClock.shared.now())
    }

    /// Frames of a film of 100 a second.
    func enqueue(_ numbers: Range<Int>, flags: VideoFrame.Flags = []) throws {
        for number in numbers {
            let accepted = queue.enqueue(try frames.frame(number, flags: flags), waitingUntil: MonotonicClock.shared.now() + .seconds(60))
            if !accepted {
                expect(false, "frame \(number) found no room for a minute")
                return
            }
        }
    }

    // MARK: What happened

    var events: [SinkEvent] { log.withLock { $0.events } }
    func count(of event: SinkEvent) -> Int { events.count { $0 == event } }
    var firstFrames: Int { events.count { if case .firstFrameShown = $0 { true } else { false } } }
    var failures: [SinkError] { events.compactMap { if case .failed(let error) = $0 { error } else { nil } } }
    var reported: Int { queue.statistics.framesPresented }
    /// Frames that wait or are held by the sink.
    var inUse: Int { frames.inUse }

    var violations: [String] {
        get { log.withLock { $0.violations } }
        set { log.withLock { $0.violations = newValue } }
    }

    func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
        guard !condition else { return }
        let message = message()
        log.withLock { $0.violations.append(message) }
    }

    /// A minute, on a machine that has other things to do, is for ever.
    func waitUntil(_ what: String, _ condition: () -> Bool) {
        let limit = MonotonicClock.shared.now() + .seconds(60)
        while !condition() {
            guard MonotonicClock.shared.now() < limit else { return expect(false, "\(what): not within a minute; \(queue.statistics)") }
            nap(.milliseconds(1))
        }
    }

    func nap(_ span: HostSpan) {
        var none: [PollDescriptor] = []
        _ = try? pollDescriptors(&none, until: MonotonicClock.shared.now() + span)
    }
}
