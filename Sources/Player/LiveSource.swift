internal import Demuxing
internal import Media
internal import SampleQueue

/// A live film as a sample source: a thread of its own reads what is sent as soon as it comes, so that it is known how far the film is behind, and
/// makes a connection again that was lost.
///
/// Seeking goes to what has come and is still in memory. Where a latency is held, what has come and is not wanted any more is left out.
///
/// Thread-safety: as `SampleSource`; what is said of the latency may be asked on any thread.
final class LiveSource: SampleSource, @unchecked Sendable {
    /// How a live film is read.
    struct Manner: Sendable {
        var location: String
        /// The tracks that are read: the one by which time is told, and all.
        var lead: Int
        /// Seconds; nil: none is held.
        var target: Double?
        /// The samples' offsets are those of bytes as they come.
        var tellsOffsets = false
        /// How long the sender may be silent between two bursts.
        var window: HostSpan
        var limits: LiveBuffer.Limits
        var network: NetworkOptions
    }

    struct State: Sendable {
        var buffer: LiveBuffer
        var latency: LiveLatencyState
        /// What reads now, and what ends an attempt to connect again.
        var asset: AssetSource
        var connecting: AssetCancellation?
        /// Since when the thread waits for a sample; nil: it does not.
        var readsSince: HostTime?
        /// Why nothing more comes; the film has ended honestly where there is no reason.
        var error: AssetError?
        var isAtEnd = false
        var isCancelled = false
        /// Requests to give up waiting, and those that have been followed.
        var interruptions = 0
        /// Where the last of the samples that came ends.
        var end = MediaTime.zero
        /// Which time of the film was made when, as the sender says.
        var dates = ProgramDateLine()
        /// Connections that were made again.
        var reconnections = 0
        /// Seconds, when somebody last asked before the end.
        var lastLatency: Double?
        /// The viewer has gone back, and wants to be behind.
        var isBehindByChoice = false
        var clock: (@Sendable () -> MediaTime?)?
        var onNotice: (@Sendable (String) -> Void)?
    }

    let manner: Manner
    let state: Monitor<State>
    /// Makes the connection again; nil: whoever reads it does.
    let reopen: (@Sendable (AssetCancellation) throws(AssetError) -> AssetSource)?
    private let thread = Monitor<LoopThread?>(nil)

    init(_ asset: AssetSource, _ manner: Manner, reopen: (@Sendable (AssetCancellation) throws(AssetError) -> AssetSource)?) {
        self.manner = manner
        self.reopen = reopen
        state = Monitor(
            State(
                buffer: LiveBuffer(lead: manner.lead, limits: manner.limits),
                latency: LiveLatencyState(target: manner.target ?? Self.usualTarget, window: manner.window), asset: asset))
    }

    /// What *back to live* means where no latency is held.
    private static let usualTarget = 1.0

    /// Whether the film goes faster, slower and ahead so that it has its latency.
    var holdsLatency: Bool { manner.target != nil }

    /// - Parameter clock: the time of the film while it runs.
    func follow(_ clock: @escaping @Sendable () -> MediaTime?, onNotice: @escaping @Sendable (String) -> Void) {
        state.withLock { ($0.clock, $0.onNotice) = (clock, onNotice) }
    }

    // MARK: The feeder's thread

    func nextSample() throws(AssetError) -> SampleBuffer? {
        begin()
        let interruptions = state.withLock { $0.interruptions }
        while true {
            let limit = MonotonicClock.shared.now() + manner.network.stallTimeout
            let found = state.wait(until: limit) { state -> Result<SampleBuffer?, AssetError>? in
                if state.isCancelled || state.interruptions != interruptions { return .failure(cancelled) }
                if let sample = state.buffer.take() { return .success(sample) }
                if let error = state.error.take() { return .failure(error) }
                return state.isAtEnd ? .success(nil) : nil
            }
            // The thread may wait for room.
            if case .success? = found { state.wakeWaiters() }
            if let found { return try found.get() }
            endSilence()
        }
    }

    /// A connection that has been silent for too long gives way to another one, as one that broke.
    private func endSilence() {
        let now = MonotonicClock.shared.now()
        let silent = state.withLock { state in
            reopen != nil && state.readsSince.map { now - $0 >= manner.network.stallTimeout } == true ? state.asset : nil
        }
        silent?.cancel()
    }

    func seek(to time: MediaTime) throws(AssetError) {
        let isThere = state.change { $0.buffer.seek(to: time, mayBeLater: false) }
        if !isThere { throw AssetError.notSeekable(manner.location) }
    }

    var mayBeInterrupted: Bool { true }

    func interrupt() { state.change { $0.interruptions += 1 } }

    func cancel() {
        let (asset, connecting) = state.change { state in
            state.isCancelled = true
            return (state.asset, state.connecting)
        }
        connecting?.cancel()
        asset.cancel()
        thread.withLock { $0.take() }?.join()
    }

    private var cancelled: AssetError { AssetError(.cancelled, "\(manner.location): reading was cancelled.") }

    private func begin() {
        thread.withLock { thread in
            if thread == nil, !state.withLock({ $0.isCancelled }) { thread = LoopThread(name: "live") { [self] in read() } }
        }
    }

    // MARK: The latency

    /// Seconds that a film at `position` is behind what its sender has sent; nil before anything has come.
    func latency(of position: MediaTime) -> Double? {
        let now = MonotonicClock.shared.now()
        return state.withLock { state in
            // Nothing is sent any more.
            if !state.isAtEnd { state.lastLatency = state.latency.latency(of: position, at: now) }
            return state.lastLatency
        }
    }

    /// Whether enough has come for a film that waits at `position`, where a latency is held.
    func isFed(at position: MediaTime) -> Bool { holdsLatency && state.withLock { $0.latency.isFed(position) } }

    /// The viewer goes to `time`: whoever goes back stays behind until they go to where the film is live.
    func viewerSeeks(to time: MediaTime) {
        let now = MonotonicClock.shared.now()
        state.withLock { state in
            guard let live = state.latency.livePosition(at: now) else { return }
            state.isBehindByChoice = time + Self.nearlyLive < live
        }
    }

    /// 0.25 s: seeks that end so near to where the film is live end there.
    private static let nearlyLive = MediaTime(value: 1, timescale: 4)

    /// What a film that runs does now. A jump goes to where the film can go on.
    func decide(position: MediaTime) -> LiveLatencyState.Action {
        let now = MonotonicClock.shared.now()
        return state.withLock { state in
            if state.isBehindByChoice { return .play(1) }
            let action = state.latency.decide(position: position, at: now)
            guard case .jump(let goal) = action else { return action }
            if state.buffer.holds(goal) { return action }
            return state.buffer.nextPlace.flatMap { $0 > position ? .jump(to: $0) : nil } ?? .play(1 + LiveLatencyState.mostSpeed)
        }
    }

    /// Where the film is live, or as near to that as it can go on; nil before anything has come.
    var livePosition: MediaTime? {
        let now = MonotonicClock.shared.now()
        return state.withLock { state in
            guard let goal = state.latency.livePosition(at: now) else { return nil }
            return state.buffer.holds(goal) ? goal : state.buffer.nextPlace
        }
    }

    /// Which time of the film was made when, as far as its sender has said. Any thread.
    var dates: ProgramDateLine { state.withLock { $0.dates } }

    /// Connections that were lost and made again.
    var reconnections: Int { state.withLock { $0.reconnections } }
}
