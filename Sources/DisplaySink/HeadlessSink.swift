public import Media
public import PixelConversion
public import SurfacePool

/// A display that nobody sees: it refreshes like a monitor and keeps each picture as long as a monitor would, or, untimed, takes every
/// picture as fast as it comes.
///
/// For measuring, for tests, and for machines without a display. It reads no pixel. Untimed it has no thread: it works inside the
/// decoder's `enqueue`.
///
/// Thread-safety: as the protocol says.
public final class HeadlessSink: DisplaySink {
    public let name = "headless"
    public let pacing: Pacing
    /// 2: on the virtual glass, and on its way there. Untimed none is kept.
    public var surfaceHoldCount: Int { pacing == .untimed ? 0 : 2 }
    public let preferredAllocator: any SurfaceAllocator
    public var conversion: ConversionReport? { nil }
    private let refreshRate: Ratio
    private let clock: any HostClock
    private let loop: SinkLoop

    /// - Parameters:
    ///   - refreshRate: Refreshes a second, exactly.
    ///   - isUntimed: Take every picture at once instead.
    ///   - clock: The monotonic one, or a `ManualClock`, whose mover then does the display's work.
    public init(
        refreshRate: Ratio = Ratio(60, 1), isUntimed: Bool = false, allocator: any SurfaceAllocator = MemfdAllocator(),
        clock: any HostClock = MonotonicClock.shared
    ) {
        precondition(refreshRate.isKnown, "a display has a refresh rate")
        self.refreshRate = refreshRate
        self.clock = clock
        pacing = isUntimed ? .untimed : .display
        preferredAllocator = allocator
        loop = SinkLoop(isUntimed || !(clock is MonotonicClock) ? .inline : .present, clock: clock)
    }

    deinit { stop() }

    public func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        if pacing == .display {
            let display = VirtualDisplay(rate: refreshRate, clock: clock, queue: queue, events: events, record: nil)
            loop.start(queue) { display.step($0) }
        } else {
            loop.start(queue) { [clock] now in
                queue.takeAll(at: now, take: { frame in queue.didPresent(sequence: frame.sequence, at: clock.now()) }, events: events)
                return nil
            }
        }
    }

    public func stop() { loop.stop() }
}

extension PresentationQueue {
    /// Everything that waits, in order, for a sink without refreshes.
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
