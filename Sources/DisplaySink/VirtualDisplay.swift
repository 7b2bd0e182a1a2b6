internal import Media
internal import SurfacePool

/// The refreshes and the glass of a display that exists in the mind only: a picture handed over before a refresh lights up at it and
/// stays until another one does, and as long as it is there its use is held.
///
/// Thread-safety: belongs to the steps of one `SinkLoop`, which never overlap.
final class VirtualDisplay: @unchecked Sendable {
    /// What happened, for those who write it down.
    enum Record: Sendable {
        /// Lit up at `time`; its own time asked for `ideal` (nil: the film stood still).
        case shown(presentationTime: MediaTime, sequence: UInt64, time: HostTime, ideal: HostTime?)
        case dropped(DropReason, count: Int, time: HostTime)
        case removed(HostTime)
        case finished(HostTime)
    }

    private let grid: RefreshGrid
    private let clock: any HostClock
    private let queue: PresentationQueue
    private let events: @Sendable (SinkEvent) -> Void
    private let record: (@Sendable (Record) -> Void)?
    private var onGlass: VideoFrame?
    private var coming: VideoFrame?
    /// When `coming` lights up.
    private var flip = HostTime.distantFuture
    private var drops = [Int](repeating: 0, count: DropReason.allCases.count)

    init(
        rate: Ratio, clock: any HostClock, queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void,
        record: (@Sendable (Record) -> Void)?
    ) {
        grid = RefreshGrid(anchor: clock.now(), rate: rate)
        self.clock = clock
        self.queue = queue
        self.events = events
        self.record = record
    }

    /// Does what is due at `now`; the time of the next thing to do.
    func step(_ now: HostTime) -> HostTime? {
        if let frame = takeDue(now) {
            queue.didPresent(sequence: frame.sequence, at: flip, refresh: grid.period, flags: .vsync)
            if let record {
                let mapping = queue.timebase.mapping
                let ideal = frame.flags.contains(.displayImmediately) ? nil : mapping.hostTime(of: frame.presentationTime)
                record(.shown(presentationTime: frame.presentationTime, sequence: frame.sequence, time: flip, ideal: ideal))
            }
            onGlass = consume frame
        }
        if isFlipping { return flip }
        while true {
            let interval = grid.interval(after: now)
            let decision = queue.next(for: interval)
            if record != nil { recordDrops(interval.deadline) }
            switch consume decision {
            case .show(let frame, let isFirst):
                // Whoever comes late, on a busy machine, gets the refresh after.
                let handedOver = clock.now()
                flip = handedOver < interval.deadline ? interval.deadline : grid.interval(after: handedOver).deadline
                coming = consume frame
                if isFirst { events(.firstFrameShown(handedOver)) }
                return flip
            case .keep(let until):
                guard let time = until else { return nil }
                // The refresh before the one at or after `time`: from then on that one is the next.
                let earlier = grid.refresh(atOrBefore: time - .nanoseconds(1))
                return earlier > now ? earlier : interval.deadline
            case .removeImage:
                onGlass = nil
                record?(.removed(now))
            case .finished:
                record?(.finished(now))
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
            if count > drops[index] { record?(.dropped(reason, count: count - drops[index], time: time)) }
            drops[index] = count
        }
    }
}
