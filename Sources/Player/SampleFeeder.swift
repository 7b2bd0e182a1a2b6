internal import Demuxing
internal import Dispatch
internal import Media
internal import SampleQueue

/// Carries samples from one source into the queues of its tracks, no faster than they ask for them.
///
/// Owns the `demux` thread, the only one that touches the source. Callbacks come on that thread, with no lock held.
final class SampleFeeder: Sendable {
    /// What the player learns from the feeder.
    struct Handlers: Sendable {
        /// The source is at the new position and nothing of it has been delivered: flush everything downstream now.
        var repositioned: @Sendable (MediaTime, _ serial: UInt64) -> Void
        /// The source failed; what was read before it stays queued, and an end-of-stream marker follows.
        var failed: @Sendable (AssetError) -> Void
        /// A sample of none of the queues' tracks.
        var other: @Sendable (SampleBuffer) -> Void = { _ in }
        /// The source has not moved.
        var seekFailed: @Sendable (AssetError, _ serial: UInt64) -> Void
    }

    private let source: any SampleSource
    private let queues: [(track: Int, queue: SampleQueue)]
    private let handlers: Handlers
    private let state = Monitor(FeederState())
    private let wakeups = DispatchQueue(label: "player.feeder")
    private let thread = Monitor<LoopThread?>(nil)

    /// 64 MiB: about 13 s of Blu-ray's highest bit rate, and little compared with the decoded frames.
    private static let byteLimit = 64 << 20

    private let isPrompt: Bool

    /// - Parameters:
    ///   - latency: that a live film is to have; nil: none is held.
    ///   - isPrompt: Whether samples are waited for as they come, as those of a camera; see `LoopThread`.
    init(
        source: any SampleSource, queues: [(track: Int, queue: SampleQueue)], latency: MediaTime? = nil, isPrompt: Bool = false, handlers: Handlers
    ) {
        self.isPrompt = isPrompt
        reserve = min(latency ?? Self.usualReserve, Self.usualReserve)
        self.source = source
        self.queues = queues
        self.handlers = handlers
    }

    func start() {
        let thread = LoopThread(name: "demux", isPrompt: isPrompt) { [self] in run() }
        self.thread.withLock { $0 = thread }
    }

    /// Whether the source has ended.
    var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    /// Whether the source has ended and all of a track has left its queue.
    func isTaken(_ track: Int) -> Bool { isAtEnd && queues.allSatisfy { $0.track != track || $0.queue.count == 0 } }

    /// Whether every queue is empty although the source has not ended: the source is slower than the film.
    var isStarving: Bool { !isAtEnd && queues.allSatisfy { $0.queue.count == 0 } }

    /// Whether a starved film can continue: the queues hold their reserve, or the source has ended.
    var isFed: Bool {
        if isAtEnd || !queues.contains(where: { $0.queue.isReadyForMoreSamples }) { return true }
        return queues.allSatisfy { $0.queue.bufferedDuration >= reserve } || queues.contains { $0.queue.bufferedDuration >= Self.ampleReserve }
    }

    /// 0.5 s in every queue, or the latency of a live film that is to have less, evens out the jitter of a steady source. A track with few samples
    /// may never hold that much; then 1.5 s in any queue suffices.
    private static let usualReserve = MediaTime(value: 1, timescale: 2), ampleReserve = MediaTime(value: 3, timescale: 2)
    private let reserve: MediaTime

    /// Continues from `time`. Of several requests in a row only the newest is carried out.
    func seek(to time: MediaTime, serial: UInt64) {
        state.change { $0.requestSeek(time, serial: serial) }
        source.interrupt()
    }

    /// Ends the thread, interrupting a read that hangs, and waits for it.
    func stop() {
        state.change { $0.stop() }
        source.cancel()
        thread.withLock { $0.take() }?.join()
        for (_, queue) in queues { queue.stopRequestingSamples() }
    }

    private func run() {
        while true {
            let hungry = queues.contains { $0.queue.isReadyForMoreSamples }
            let bytes = queues.reduce(0) { $0 + $1.queue.bufferedBytes }
            switch state.withLock({ $0.next(hungry: hungry, bytes: bytes, limit: Self.byteLimit) }) {
            case .stop: return
            case .seek(let time, let serial): seekSource(to: time, serial)
            case .sleep: sleep()
            case .read: readSample()
            }
        }
    }

    private func readSample() {
        do {
            let hungry = queues.lazy.filter { $0.queue.isReadyForMoreSamples }.map(\.track)
            guard let sample = try source.nextSample(for: Set(hungry)) else { return finish() }
            guard !state.withLock({ $0.isSuperseded }) else { return }
            guard let (_, queue) = queues.first(where: { $0.track == sample.trackID }) else { return handlers.other(sample) }
            var isEnd = false
            if case .marker(.endOfStream) = sample.content { isEnd = true }
            state.withLock { $0.note(sample.trackID, isEnd: isEnd) }
            queue.enqueue(sample)
        } catch {
            guard !state.withLock({ $0.isSuperseded }), error.code != .cancelled || !source.mayBeInterrupted else { return }
            handlers.failed(error)
            finish()
        }
    }

    private func finish() {
        let ended = state.withLock { state in
            state.reachedEnd()
            return state.endedTracks
        }
        for (track, queue) in queues where !ended.contains(track) { queue.enqueue(SampleBuffer(marker: .endOfStream, trackID: track)) }
    }

    private func seekSource(to time: MediaTime, _ serial: UInt64) {
        do {
            try source.seek(to: time)
            guard !state.withLock({ $0.isSuperseded }) else { return }
            handlers.repositioned(time, serial)
        } catch {
            guard !state.withLock({ $0.isSuperseded }) else { return }
            handlers.seekFailed(error, serial)
        }
    }

    /// Sleeps until a queue runs low or a command comes.
    private func sleep() {
        let atEnd = state.withLock { $0.isAtEnd }
        if !atEnd {
            for (_, queue) in queues where !queue.isReadyForMoreSamples {
                queue.requestSamples(whenReadyOn: wakeups) { [state] in
                    queue.stopRequestingSamples()
                    state.change { $0.wake() }
                }
            }
        }
        // The byte limit has no callback: check it every 20 ms while it may be the reason that a queue gets no samples.
        let isHeldBack = !atEnd && queues.contains { $0.queue.isReadyForMoreSamples }
        let deadline = isHeldBack ? MonotonicClock.shared.now() + .milliseconds(20) : nil
        state.wait(until: deadline) { $0.takeWake() ? () : nil }
    }
}
