package import Media

/// Holds a live film at its latency: a pure decision from when samples came, where the film is, and what is wanted.
///
/// The *live edge* is the media time that the sender has reached. The sample that came with the least delay of each short while says where it is,
/// and a `ClockDriftEstimator` relates the sender's clock to CLOCK_MONOTONIC, so that neither jitter nor a sender whose clock is fast or slow
/// counts. The *latency* is how far the film is behind the edge; what the network always needs is in neither. What the demuxer holds back, such as a
/// frame whose end shows only when the next one begins, is the player's own and is in the latency.
///
/// Above the target the film plays faster, by 5 % at most, and below it slower. Far above it jumps. Where samples come in bursts, as those of HLS
/// do, the target is at least the longest usual pause between two of them.
package struct LiveLatencyState: Sendable {
    package enum Action: Sendable, Equatable {
        /// Play at so many times the viewer's speed, 0.95 to 1.05.
        case play(Double)
        /// Go on from this time.
        case jump(to: MediaTime)
    }

    /// The latency that is wanted, in seconds.
    package let target: Double
    /// Samples of so many nanoseconds tell the edge together.
    private let window: Int64
    private var estimator = ClockDriftEstimator(jitter: .milliseconds(10), stepThreshold: .milliseconds(200))
    /// The sample of the window that came with the least delay.
    private var best: Arrival?
    private var windowEnd = HostTime.distantPast
    /// The media time at which the samples that have come end, in nanoseconds.
    private var newest: Int64?
    /// The longest that the samples were behind the edge since they last caught up, in seconds.
    private var lag = 0.0
    /// For how long the demuxer held back the samples that told the edge, in seconds.
    private var hold = 0.0
    private var lags: [(at: HostTime, seconds: Double)] = []
    private var lastJump = HostTime.distantPast
    private var speed = 1.0

    private struct Arrival: Sendable {
        var media: Int64
        var at: HostTime
        var hold: Double
        var lead: Int64 { media &- at.nanoseconds }
    }

    /// Seconds either side of the target that are left alone: less than anybody sees, more than readings err.
    package static let band = 0.04
    /// A latency that is so many seconds above the target would take 20 s to catch up.
    package static let farAbove = 1.0
    /// 5 %: at the sound's own pitch nobody hears it.
    package static let mostSpeed = 0.05
    /// 1 % for every 40 ms.
    private static let urgency = 0.25
    /// Less than this must not be in memory when the film goes faster: it would run dry.
    private static let reserve = 0.1
    /// Half a second evens out the jitter of a steady sender.
    private static let enough = 0.5
    /// After a jump the film needs a moment to be where it went.
    private static let rest = HostSpan.seconds(3)
    /// Pauses between samples are remembered for a minute, those of 50 ms and more.
    private static let memory = HostSpan.seconds(60), notable = 0.05, mostLags = 256

    /// - Parameters:
    ///   - target: seconds.
    ///   - window: how long senders are silent between bursts, at most.
    package init(target: Double, window: HostSpan = .milliseconds(200)) {
        self.target = target
        self.window = window.nanoseconds
    }

    // MARK: The sender

    /// A sample has come, whose media time ends at `media` nanoseconds.
    /// - Parameter handedOutAt: when the demuxer gave it; nil: as it came.
    package mutating func arrived(_ media: Int64, at now: HostTime, handedOutAt: HostTime? = nil) {
        let arrival = Arrival(media: media, at: now, hold: handedOutAt.map { ($0 - now).seconds } ?? 0)
        guard estimator.count > 0, let edge = edge(at: now) else { return begin(with: arrival) }
        note(lag: Double(edge &- (newest ?? media)) / 1e9, after: Double(edge &- media) / 1e9, at: now)
        newest = max(newest ?? media, media)
        // Nothing comes before it is sent.
        if media &- edge > estimator.stepThreshold.nanoseconds { return begin(with: arrival) }
        if let best, now >= windowEnd {
            estimator.add(local: HostTime(nanoseconds: best.media), reference: best.at)
            hold = best.hold
            self.best = nil
        }
        if best == nil { windowEnd = now + HostSpan(nanoseconds: window) }
        if best.map({ arrival.lead > $0.lead }) ?? true { best = arrival }
    }

    /// The sender begins anew, with other times.
    package mutating func restart() {
        self = LiveLatencyState(target: target, window: HostSpan(nanoseconds: window))
    }

    private mutating func begin(with arrival: Arrival) {
        newest = max(newest ?? arrival.media, arrival.media)
        best = nil
        estimator.restart(local: HostTime(nanoseconds: arrival.media), reference: arrival.at)
    }

    /// How far the samples are behind the edge just before one comes, and with it. The farthest until they have caught up counts.
    private mutating func note(lag before: Double, after: Double, at time: HostTime) {
        lag = max(lag, before)
        guard after < Self.notable else { return }
        if lag >= Self.notable { lags.append((time, lag)) }
        if lags.count > Self.mostLags { lags.removeFirst() }
        lag = 0
    }

    /// The media time in nanoseconds that the sender has reached; nil before the first sample.
    private func edge(at now: HostTime) -> Int64? { estimator.count > 0 ? estimator.relation.fromReference(now).nanoseconds : nil }

    // MARK: The film

    /// Seconds that a film at `position` is behind the edge; nil before the first sample.
    package func latency(of position: MediaTime, at now: HostTime) -> Double? {
        guard let edge = edge(at: now), let position = position.nanoseconds() else { return nil }
        return Double(edge &- position) / 1e9
    }

    /// Seconds of what has come that a film at `position` has not played; nil before the first sample.
    package func ahead(of position: MediaTime) -> Double? {
        guard let newest, let place = position.nanoseconds() else { return nil }
        return Double(newest &- place) / 1e9
    }

    /// Whether a film that ran dry at `position` goes on: its latency has come, or half a second of a longer one. Decoded frames count as well as
    /// those that wait for it, and what the demuxer holds back, so that the film stands no longer than the sender was late.
    package func isFed(_ position: MediaTime) -> Bool {
        ahead(of: position).map { $0 >= max(min(target, Self.enough) - hold, Self.notable) } ?? false
    }

    /// The latency that is held: the target, what the demuxer holds back and a tenth of a second, or the second longest pause between samples within
    /// a minute. One pause alone is an outage, and the film is not kept back for it.
    package func heldLatency(at now: HostTime) -> Double {
        let recent = lags.lazy.filter { now - $0.at < Self.memory }.map(\.seconds)
        var first = 0.0, second = 0.0
        for seconds in recent { (first, second) = seconds > first ? (seconds, first) : (first, max(second, seconds)) }
        // What is held back cannot be shown, however small the target.
        return max(target, second > 0 ? second + Self.notable : 0, hold > 0 ? hold + Self.reserve : 0)
    }

    /// Where a film is that has the latency that is held; nil before the first sample.
    package func livePosition(at now: HostTime) -> MediaTime? {
        guard let edge = edge(at: now), let newest else { return nil }
        return MediaTime(nanoseconds: min(edge &- Int64(min(heldLatency(at: now), 3600) * 1e9), newest))
    }

    /// What a film that runs does now.
    package mutating func decide(position: MediaTime, at now: HostTime) -> Action {
        guard let latency = latency(of: position, at: now), let ahead = ahead(of: position) else { return .play(1) }
        let excess = latency - heldLatency(at: now)
        if excess > Self.farAbove, now - lastJump > Self.rest, let goal = livePosition(at: now), (goal - position).seconds > Self.farAbove {
            lastJump = now
            speed = 1
            return .jump(to: goal)
        }
        let isCorrecting = speed != 1
        let hasArrived = speed > 1 ? excess <= 0 : excess >= 0
        if isCorrecting ? hasArrived : abs(excess) < Self.band {
            speed = 1
        } else {
            let percent = min(max((abs(excess) * Self.urgency * 100).rounded(), 1), Self.mostSpeed * 100)
            speed = excess > 0 ? 1 + percent / 100 : 1 - percent / 100
        }
        // What has not come cannot be caught up with.
        if speed > 1, ahead < Self.reserve { speed = 1 }
        return .play(speed)
    }
}
