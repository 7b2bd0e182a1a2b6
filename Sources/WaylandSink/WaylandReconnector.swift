internal import DisplaySink
internal import Media
internal import SurfacePool

/// Tries to connect to a compositor again after the connection was lost. Meanwhile frames are taken at their times without being shown, and the last
/// one is kept.
///
/// Thread-safety: belongs to the sink's thread.
final class WaylandReconnector {
    /// 250 ms between two attempts to connect.
    private static let period = HostSpan.milliseconds(250)
    /// The refresh period while there is no display: 60 Hz.
    private static let refresh = HostSpan.nanoseconds(16_666_667)

    private let setup: WaylandSession.Setup
    private var frame: VideoFrame?

    /// - Parameter frame: The frame that was on the screen.
    init(_ setup: WaylandSession.Setup, _ frame: consuming VideoFrame?) {
        self.setup = setup
        self.frame = frame
    }

    /// The first frame of the new window.
    func takeFrame() -> VideoFrame? { frame.take() }

    /// Waits for a new connection; nil when the sink is stopped.
    func wait() -> WaylandConnection? {
        var nextTry = MonotonicClock.shared.now()
        var wakeup = [PollDescriptor(fd: setup.thread.wakeup.rawValue, interest: .readable)]
        while true {
            setup.thread.wakeup.drain()
            if setup.thread.isStopping { return nil }
            let now = MonotonicClock.shared.now()
            if now >= nextTry {
                if let connection = try? WaylandConnection(setup.display, wakeup: setup.thread.wakeup) { return connection }
                nextTry = MonotonicClock.shared.now() + Self.period
            }
            let next = pass(now)
            _ = try? pollDescriptors(&wakeup, until: min(nextTry, next ?? nextTry))
        }
    }

    /// Takes the frames that are due. Returns when the next one is; nil: unknown.
    private func pass(_ now: HostTime) -> HostTime? {
        let interval = DisplayInterval(deadline: now, nextDeadline: now + Self.refresh)
        while true {
            switch setup.queue.next(for: interval) {
            case .show(let frame, let isFirst):
                setup.queue.didDiscard(sequence: frame.sequence)
                self.frame = consume frame
                // The start of playback does not wait for a display.
                if isFirst { setup.events(.firstFrameShown(now)) }
                return now + Self.refresh
            case .keep(let time): return time.map { max($0, now + .milliseconds(1)) }
            case .removeImage: frame = nil
            case .finished: setup.events(.finished)
            }
        }
    }
}
