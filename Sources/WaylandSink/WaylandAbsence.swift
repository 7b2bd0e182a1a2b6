internal import DisplaySink
internal import Media
internal import SurfacePool

/// The time between one compositor and the next: the film's pictures pass unseen, the last of them is kept.
///
/// Thread-safety: belongs to the sink's thread.
final class WaylandAbsence {
    /// How often a connection is tried.
    private static let period = HostSpan.milliseconds(250)
    /// The refresh of the display that is not there.
    private static let refresh = HostSpan.nanoseconds(16_666_667)

    private let setup: WaylandSession.Setup
    private var picture: VideoFrame?

    /// - Parameter picture: The one that was on the screen.
    init(_ setup: WaylandSession.Setup, _ picture: consuming VideoFrame?) {
        self.setup = setup
        self.picture = picture
    }

    /// The picture that a new window begins with.
    func takePicture() -> VideoFrame? { picture.take() }

    /// A new connection; nil when the sink is to stop.
    func wait() -> WaylandConnection? {
        var nextTry = MonotonicClock.shared.now()
        var bell = [PollDescriptor(fd: setup.bell.rawValue, interest: .readable)]
        while true {
            setup.bell.drain()
            if setup.state.withLock({ $0.isStopping }) { return nil }
            let now = MonotonicClock.shared.now()
            if now >= nextTry {
                if let connection = try? WaylandConnection(setup.display, bell: setup.bell) { return connection }
                nextTry = MonotonicClock.shared.now() + Self.period
            }
            let next = pass(now)
            _ = try? pollDescriptors(&bell, until: min(nextTry, next ?? nextTry))
        }
    }

    /// Lets pass what is due; the time of the next picture, nil for none.
    private func pass(_ now: HostTime) -> HostTime? {
        let interval = DisplayInterval(deadline: now, nextDeadline: now + Self.refresh)
        while true {
            switch setup.queue.next(for: interval) {
            case .show(let frame, let isFirst):
                setup.queue.didDiscard(sequence: frame.sequence)
                picture = consume frame
                // A film must not wait with its beginning for a display.
                if isFirst { setup.events(.firstFrameShown(now)) }
                return now + Self.refresh
            case .keep(let time): return time.map { max($0, now + .milliseconds(1)) }
            case .removeImage: picture = nil
            case .finished: setup.events(.finished)
            }
        }
    }
}
