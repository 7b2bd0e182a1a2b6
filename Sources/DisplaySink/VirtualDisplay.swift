internal import Media
internal import SurfacePool

/// Simulates a display: a frame that is chosen before a refresh is shown at the refresh and stays until another one is shown. Its use is held
/// meanwhile.
///
/// Thread-safety: used by the steps of one `SinkLoop`, which never overlap.
final class VirtualDisplay: @unchecked Sendable {
    private let grid: RefreshGrid
    private let clock: any HostClock
    private let queue: PresentationQueue
    private let events: @Sendable (SinkEvent) -> Void
    private let probe: (any SinkProbe)?
    private var onGlass: VideoFrame?
    private var coming: VideoFrame?
    /// When `coming` is shown.
    private var flip = HostTime.distantFuture
    private var drops = [Int](repeating: 0, count: DropReason.allCases.count)

    init(
        rate: Ratio, clock: any HostClock, queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void,
        probe: (any SinkProbe)?
    ) {
        grid = RefreshGrid(anchor: clock.now(), rate: rate)
        self.clock = clock
        self.queue = queue
        self.events = events
        self.probe = probe
        probe?.record(.started(grid.anchor, period: grid.period))
    }

    /// Does what is due at `now`. Returns when to call again.
    func step(_ now: HostTime) -> HostTime? {
        if let frame = takeDue(now) {
            queue.didPresent(sequence: frame.sequence, at: flip, refresh: grid.period, flags: .vsync)
            if let probe {
                let mapping = queue.timebase.mapping
                let ideal = frame.flags.contains(.displayImmediately) ? nil : mapping.hostTime(of: frame.presentationTime)
                probe.record(.shown(presentationTime: frame.presentationTime, sequence: frame.sequence, time: flip, ideal: ideal))
            }
            onGlass = consume frame
        }
        if isFlipping { return flip }
        while true {
            let interval = grid.interval(after: now)
            let decision = queue.next(for: interval)
            if probe != nil { recordDrops(interval.deadline) }
            switch consume decision {
            case .show(let frame, let isFirst):
                // On a busy machine the refresh may have passed already; then the frame is shown at a later one.
                let handedOver = clock.now()
                flip = handedOver < interval.deadline ? interval.deadline : grid.interval(after: handedOver).deadline
                coming = consume frame
                if isFirst { events(.firstFrameShown(handedOver)) }
                return flip
            case .keep(let until):
                guard let time = until else { return nil }
                // The refresh before the one at or after `time`.
                let earlier = grid.refresh(atOrBefore: time - .nanoseconds(1))
                return earlier > now ? earlier : interval.deadline
            case .removeImage:
                onGlass = nil
                probe?.record(.removed(now))
            case .finished:
                probe?.record(.finished(now))
                events(.finished)
            }
        }
    }

    private var isFlipping: Bool {
        switch coming {
        case .some: true
        case .none: false
        }
    }

    private func takeDue(_ now: HostTime) -> VideoFrame? { now >= flip ? coming.take() : nil }

    private func recordDrops(_ time: HostTime) {
        let statistics = queue.statistics
        for (index, reason) in DropReason.allCases.enumerated() {
            let count = statistics.dropped(reason)
            if count > drops[index] { probe?.record(.dropped(reason, count: count - drops[index], time: time)) }
            drops[index] = count
        }
    }
}
