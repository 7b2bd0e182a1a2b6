internal import CLinux
internal import Glibc

/// The clock that everything is compared with: the kernel's `CLOCK_MONOTONIC`, the clock of Wayland's presentation times and of
/// page-flip events. Stands still while the machine sleeps.
///
/// The corresponding C function is `clock_gettime(2)`; a reading takes tens of nanoseconds and no lock.
public final class MonotonicClock: HostClock {
    /// The only instance: the process has one monotonic clock.
    public static let shared = MonotonicClock()
    private init() {}

    /// The clock's name in logs and statistics.
    public let name = "monotonic"

    /// Nanoseconds on `CLOCK_MONOTONIC` at this moment.
    public func now() -> HostTime { systemTime(CLOCK_MONOTONIC) }

    /// The identity: this clock is the reference for all others.
    public var relation: ClockRelation { .identity }

    /// Calls `body` once `time` is reached, on the library's timer thread. All timed calls share that thread, so `body` must be short.
    public func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ClockTimer {
        TimerThread.shared.schedule(at: time, on: self, body)
    }
}

/// A clock's time now, in its own nanoseconds; clock_gettime(2).
package func systemTime(_ clock: Int32) -> HostTime { HostTime(nanoseconds: clinux_clock(clock)) }
