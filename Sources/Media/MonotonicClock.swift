internal import Glibc

/// The clock that everything is compared with: the kernel's `CLOCK_MONOTONIC`, the clock of Wayland's presentation times and of
/// page-flip events. Stands still while the machine sleeps.
///
/// The corresponding C function is `clock_gettime(2)`; a reading takes tens of nanoseconds and no lock.
public final class MonotonicClock: HostClock {
    public static let shared = MonotonicClock()
    private init() {}

    public let name = "monotonic"

    public func now() -> HostTime { systemTime(CLOCK_MONOTONIC) }

    public var relation: ClockRelation { .identity }

    public func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ClockTimer {
        TimerThread.shared.schedule(at: time, on: self, body)
    }
}

func systemTime(_ clock: clockid_t) -> HostTime {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return HostTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
}
