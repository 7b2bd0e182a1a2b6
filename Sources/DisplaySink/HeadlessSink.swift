public import Media
public import SurfacePool

/// A display that nobody sees: it refreshes like a monitor and keeps each picture as long as a monitor would, or takes every
/// picture as fast as it comes.
///
/// For measuring, for tests, and for machines without a display. It reads no pixel.
public final class HeadlessSink: DisplaySink {
    public let name = "headless"
    public let pacing: Pacing
    /// On the virtual glass, and on its way there.
    public let surfaceHoldCount = 2
    public let preferredAllocator: any SurfaceAllocator
    public let conversion: ConversionReport? = nil
    private let refreshRate: Ratio
    private let loop: PresentLoop

    /// - Parameters:
    ///   - refreshRate: refreshes a second, exactly.
    ///   - isUntimed: take every picture at once instead.
    public init(
        refreshRate: Ratio = Ratio(60, 1), isUntimed: Bool = false, allocator: any SurfaceAllocator = MemfdAllocator()
    ) throws(SinkError) {
        precondition(refreshRate.isKnown, "a display has a refresh rate")
        self.refreshRate = refreshRate
        pacing = isUntimed ? .untimed : .display
        preferredAllocator = allocator
        loop = try PresentLoop()
    }

    public func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        loop.start(queue) { [self] in
            if pacing == .untimed { runUntimed(queue, events) } else { runTimed(queue, events) }
        }
    }

    public func stop() { loop.stop() }

    private func runUntimed(_ queue: PresentationQueue, _ events: (SinkEvent) -> Void) {
        while !loop.isStopping {
            let now = MonotonicClock.shared.now()
            switch queue.next(for: DisplayInterval(deadline: now, nextDeadline: now)) {
            case .show(let frame, let isFirst):
                if isFirst { events(.firstFrameShown(now)) }
                queue.didPresent(sequence: frame.sequence, at: now)
            case .finished: events(.finished)
            case .removeImage: break
            case .keep: loop.sleep(until: nil)
            }
        }
    }

    private func runTimed(_ queue: PresentationQueue, _ events: (SinkEvent) -> Void) {
        let grid = RefreshGrid(anchor: MonotonicClock.shared.now(), rate: refreshRate)
        var onGlass: VideoFrame?
        while !loop.isStopping {
            let interval = grid.interval(after: MonotonicClock.shared.now())
            switch queue.next(for: interval) {
            case .show(let frame, let isFirst):
                if isFirst { events(.firstFrameShown(MonotonicClock.shared.now())) }
                // The picture before stays in use until the refresh that replaces it.
                while !loop.isStopping, MonotonicClock.shared.now() < interval.deadline { loop.sleep(until: interval.deadline) }
                queue.didPresent(sequence: frame.sequence, at: interval.deadline)
                onGlass = consume frame
            case .finished: events(.finished)
            case .removeImage: onGlass = nil
            case .keep(let until): loop.sleep(until: until)
            }
        }
        _ = consume onGlass
    }
}

/// The refreshes of a display with a fixed rate, without the error that adding rounded periods would build up.
struct RefreshGrid: Sendable, Hashable {
    var anchor: HostTime
    /// Refreshes a second.
    var rate: Ratio

    /// The first refresh later than `time`, and the one after it.
    func interval(after time: HostTime) -> DisplayInterval {
        // index = floor(elapsed * rate) + 1
        let elapsed = Int128((time - anchor).nanoseconds) * Int128(rate.numerator)
        let unit = Int128(rate.denominator) * 1_000_000_000
        let index = (elapsed >= 0 ? elapsed / unit : (elapsed - unit + 1) / unit) + 1
        return DisplayInterval(deadline: refresh(index), nextDeadline: refresh(index + 1))
    }

    private func refresh(_ index: Int128) -> HostTime {
        let unit = Int128(rate.denominator) * 1_000_000_000
        let numerator = Int128(rate.numerator)
        // Rounded up, so that asking at a refresh's own time gives the next one.
        return anchor + HostSpan(nanoseconds: Int64((index * unit + (index >= 0 ? numerator - 1 : 0)) / numerator))
    }
}
