internal import Dispatch
internal import Media

/// How a live film keeps to its sender.
extension Player {
    /// Seconds that a live film is behind what its sender has sent, not counting what the network always takes; nil for other films.
    public var latency: Double? { storage.withLock { $0.pipeline }?.latency }

    /// Whether the film is one that is made while it is played.
    public var isLive: Bool { storage.withLock { $0.pipeline }?.source.live != nil }

    /// Plays a live film from where its sender is, or as near to that as has come; does nothing to other films. Returns the number of the seek that
    /// this is.
    @discardableResult
    public func seekToLive() -> UInt64 {
        issueSeek { [self] in
            guard let live = storage.withLock({ $0.pipeline })?.source.live, let goal = live.livePosition else { return [] }
            live.viewerSeeks(to: .positiveInfinity)
            return storage.withLock { storage in
                // The seek begins what play would.
                _ = storage.transport.play()
                return storage.transport.seek(to: goal)
            }
        }
    }

    /// Milliseconds between two looks at the latency.
    private static let look = 100

    /// Looks again and again how far a live film is behind. On the transport queue.
    func holdLatency() {
        guard let pipeline = storage.withLock({ $0.isClosed ? nil : $0.pipeline }), let live = pipeline.source.live, live.holdsLatency,
            pipeline.display?.isUntimed != true
        else { return }
        transport.asyncAfter(deadline: .now() + .milliseconds(Self.look)) { [weak self] in self?.holdLatency() }
        let rate = storage.withLock { storage -> Double? in
            let isRunning = storage.transport.phase == .running && storage.transport.wantsToPlay && storage.pendingSeeks == 0
            // Who wants another speed wants another latency.
            return isRunning && storage.transport.rate == 1 ? 1 : nil
        }
        guard let rate, pipeline.timebase.rate > 0 else { return }
        switch live.decide(position: pipeline.timebase.time) {
        case .play(let speed): pipeline.timebase.setRate(rate * speed)
        case .jump(let time):
            pipeline.liveJumps.withLock { $0 += 1 }
            _ = issueSeek { [self] in storage.withLock { $0.transport.seek(to: time) } }
        }
    }
}
