public import Media
public import PixelConversion
public import SurfacePool

/// Plays without a display. Timed, it refreshes like a monitor and holds each frame as long as a monitor would. Untimed, it takes every frame at
/// once.
///
/// For measurements, tests and machines without a display. It reads no pixels. Untimed it has no thread and works inside the decoder's `enqueue`.
///
/// Thread-safety: as the protocol requires.
public final class HeadlessSink: DisplaySink {
    /// `headless`, timed or untimed.
    public let name = "headless"
    /// `.untimed` if the sink was created with `isUntimed`, else `.display`.
    public let pacing: Pacing
    /// 2: on the virtual screen, and chosen for the next refresh. Untimed 0.
    public var surfaceHoldCount: Int { pacing == .untimed ? 0 : 2 }
    /// The allocator that was passed to `init`.
    public let preferredAllocator: any SurfaceAllocator
    /// Always nil: the sink reads no pixels.
    public var conversion: ConversionReport? { nil }
    private let refreshRate: Ratio
    private let clock: any HostClock
    private let loop: SinkLoop
    private let probe: (any SinkProbe)?

    /// - Parameters:
    ///   - refreshRate: Refreshes per second.
    ///   - isUntimed: Take every frame at once.
    ///   - clock: The monotonic clock, or a `ManualClock`; the thread that moves a manual clock does the display's work.
    public convenience init(
        refreshRate: Ratio = Ratio(60, 1), isUntimed: Bool = false, allocator: any SurfaceAllocator = MemfdAllocator(),
        clock: any HostClock = MonotonicClock.shared
    ) {
        self.init(refreshRate: refreshRate, isUntimed: isUntimed, allocator: allocator, clock: clock, probe: nil)
    }

    /// - Parameter probe: Observes a timed display; for tests.
    package init(
        refreshRate: Ratio, isUntimed: Bool = false, allocator: any SurfaceAllocator = MemfdAllocator(),
        clock: any HostClock = MonotonicClock.shared, probe: (any SinkProbe)?
    ) {
        precondition(refreshRate.isKnown, "a display has a refresh rate")
        self.refreshRate = refreshRate
        self.clock = clock
        self.probe = probe
        pacing = isUntimed ? .untimed : .display
        preferredAllocator = allocator
        loop = SinkLoop(isUntimed || !(clock is MonotonicClock) ? .inline : .present, clock: clock)
    }

    deinit { stop() }

    /// Starts the virtual display, or, untimed, takes the frames of `queue` on the thread that enqueues them. Never throws.
    public func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        if pacing == .display {
            let display = VirtualDisplay(rate: refreshRate, clock: clock, queue: queue, events: events, probe: probe)
            loop.start(queue) { display.step($0) }
        } else {
            loop.start(queue) { [clock] now in
                queue.takeAll(at: now, take: { frame in queue.didPresent(sequence: frame.sequence, at: clock.now()) }, events: events)
                return nil
            }
        }
    }

    /// Stops the sink, joins its thread, if it has one, and ends the use of the frames that it holds. Idempotent.
    public func stop() { loop.stop() }
}

extension PresentationQueue {
    /// Takes every waiting frame in order, for a sink without refreshes.
    func takeAll(at now: HostTime, take: (borrowing VideoFrame) -> Void, events: (SinkEvent) -> Void) {
        while true {
            switch next(for: DisplayInterval(deadline: now, nextDeadline: now, period: nil)) {
            case .show(let frame, let isFirst):
                take(frame)
                if isFirst { events(.firstFrameShown(now)) }
            case .finished: events(.finished)
            case .removeImage: continue
            case .keep: return
            }
        }
    }
}
