internal import Glibc

/// International Atomic Time, for players on several machines that share a time source (PTP, NTP): `CLOCK_TAI`.
///
/// A machine that disciplines its wall clock lets `CLOCK_TAI` run at a slightly different rate from `CLOCK_MONOTONIC` while
/// it corrects, and steps it when set; `relation` is measured anew when it is older than a second.
public final class TAIClock: HostClock {
    public static let shared = TAIClock()

    private struct State {
        var estimator = ClockDriftEstimator(jitter: .microseconds(2))
        var measured: HostTime?
    }
    private let state = Monitor(State())
    private init() {}

    public let name = "tai"

    public func now() -> HostTime { systemTime(CLOCK_TAI) }

    public var relation: ClockRelation {
        let reading = Self.read()
        return state.withLock { state in
            if let measured = state.measured, reading.reference - measured < .seconds(1) { return state.estimator.relation }
            state.measured = reading.reference
            state.estimator.add(local: reading.local, reference: reading.reference)
            return state.estimator.relation
        }
    }

    public func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ClockTimer {
        TimerThread.shared.schedule(at: time, on: self, body)
    }

    /// Both clocks at one moment: the tightest of three sandwiches, so that losing the processor once does no harm.
    private static func read() -> (local: HostTime, reference: HostTime) {
        var best = (local: HostTime(nanoseconds: 0), reference: HostTime(nanoseconds: 0)), width = HostSpan(nanoseconds: .max)
        for _ in 0..<3 {
            let before = systemTime(CLOCK_MONOTONIC), local = systemTime(CLOCK_TAI), after = systemTime(CLOCK_MONOTONIC)
            if after - before < width {
                width = after - before
                best = (local, before + HostSpan(nanoseconds: width.nanoseconds / 2))
            }
        }
        return best
    }
}
