public import Media

/// The sound card's crystal as a clock: what a film's timebase runs over while there is sound, so that frames keep to what
/// is heard for as long as the film lasts.
///
/// It advances with the frames that the device has played, as stamped by its driver (`snd_pcm_status`, CLOCK_MONOTONIC),
/// smoothed by a `ClockDriftEstimator`. It never stands still and never jumps: before the first sound, between two pieces,
/// after the last and when the device has failed it goes on at the rate last measured. A timebase can therefore run over it
/// from the start of the film to its end. Readings before the first measurement are those of `CLOCK_MONOTONIC`.
///
/// Thread-safety: all of it.
public final class AudioClock: HostClock {
    private struct State {
        // ALSA stamps are good to well below this; PulseAudio's and PipeWire's interpolated positions come near it.
        var estimator = ClockDriftEstimator(jitter: .milliseconds(1))
        /// What the clock read when frame 0 of the running piece was heard; nil before the piece's first position.
        var base: HostTime?
        var began: HostTime?
        var rate = 48000.0
        var strays = 0
        var last = HostTime.distantPast
    }
    private let state = Monitor(State())

    package init() {}

    /// The clock's name in logs and statistics.
    public var name: String { "audio" }

    /// The reading at this moment, derived from `CLOCK_MONOTONIC` by `relation`. It never goes backwards.
    public func now() -> HostTime {
        let monotonic = MonotonicClock.shared.now()
        return state.withLock { state in
            state.last = max(state.last, state.estimator.relation.fromReference(monotonic))
            return state.last
        }
    }

    /// The relation to `CLOCK_MONOTONIC` as the last measurement left it; the identity before the first.
    public var relation: ClockRelation { state.withLock { $0.estimator.relation } }

    /// Calls `body` once this clock reaches `time`, on the library's timer thread. All timed calls share that thread, so `body` must be short.
    public func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ClockTimer {
        TimerThread.shared.schedule(at: time, on: self, body)
    }

    /// The device's rate against `CLOCK_MONOTONIC` minus one: 50e-6 gains 50 µs a second, a negative value loses.
    public var drift: Double { state.withLock { $0.estimator.measuredDrift } }

    // MARK: Fed by the renderer

    /// A new piece begins: frames are counted from 0 at `rate`.
    package func beginPiece(rate: Int) {
        state.withLock { state in
            state.base = nil
            state.rate = Double(rate)
            state.strays = 0
        }
    }

    /// A larger deviation is not crystal drift: the device stood still, or it reports a delay that it did not
    /// report before. In a piece's first half second the limit is much smaller.
    private static let strayLimit = HostSpan.milliseconds(40), earlyStrayLimit = HostSpan.milliseconds(8)
    private static let early = HostSpan.milliseconds(500)
    private static let patience = 3

    /// `frames` of the piece had been heard at `time`. True when that contradicts the earlier measurements, so that the piece's frames are
    /// heard at other times than predicted.
    @discardableResult
    package func heard(frames: Double, at time: HostTime) -> Bool {
        state.withLock { state in
            let relation = state.estimator.relation
            let span = HostSpan.seconds(frames / state.rate)
            guard let base = state.base, let began = state.began else {
                let reading = relation.fromReference(time)
                state.base = reading - span
                state.began = time
                state.estimator.restart(local: reading, reference: time)
                return false
            }
            let off = (base + span) - relation.fromReference(time)
            let limit = time - began < Self.early ? Self.earlyStrayLimit : Self.strayLimit
            if off > limit || -off > limit {
                state.strays += 1
                guard state.strays >= Self.patience else { return false }
                let reading = relation.fromReference(time)
                state.base = reading - span
                state.strays = 0
                state.estimator.restart(local: reading, reference: time)
                return true
            }
            state.strays = 0
            state.estimator.add(local: base + span, reference: time)
            return false
        }
    }

    /// `CLOCK_MONOTONIC` when a frame of the running piece is heard; nil before the piece's first position.
    package func time(ofFrame frame: Int64) -> HostTime? {
        state.withLock { state in
            state.base.map { state.estimator.relation.toReference($0 + .seconds(Double(frame) / state.rate)) }
        }
    }
}
