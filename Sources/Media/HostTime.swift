/// A reading of a clock of this machine, in nanoseconds since that clock's own zero.
///
/// Two host times are comparable only when they were read from the same clock; unless said otherwise that is
/// `CLOCK_MONOTONIC`, the clock of Wayland's and the kernel's presentation timestamps.
public struct HostTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since the clock's zero.
    public var nanoseconds: Int64

    /// A reading of that many nanoseconds since the clock's zero.
    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Whether `a` is the earlier of two readings of one clock.
    @inlinable public static func < (a: HostTime, b: HostTime) -> Bool { a.nanoseconds < b.nanoseconds }
    /// Saturates instead of overflowing: `distantFuture` stays in the future.
    @inlinable public static func + (time: HostTime, span: HostSpan) -> HostTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(span.nanoseconds)
        return overflow ? (span.nanoseconds > 0 ? .distantFuture : .distantPast) : HostTime(nanoseconds: sum)
    }
    /// The time `span` earlier; saturates as `+` does.
    @inlinable public static func - (time: HostTime, span: HostSpan) -> HostTime {
        let (difference, overflow) = time.nanoseconds.subtractingReportingOverflow(span.nanoseconds)
        return overflow ? (span.nanoseconds < 0 ? .distantFuture : .distantPast) : HostTime(nanoseconds: difference)
    }
    /// The span from `b` to `a`, negative when `a` is earlier. Saturates instead of overflowing.
    @inlinable public static func - (a: HostTime, b: HostTime) -> HostSpan {
        let (difference, overflow) = a.nanoseconds.subtractingReportingOverflow(b.nanoseconds)
        return HostSpan(nanoseconds: overflow ? (a > b ? .max : .min) : difference)
    }

    /// Later than every reading: a deadline that never comes.
    public static let distantFuture = HostTime(nanoseconds: .max)
    /// Earlier than every reading: a deadline that has always passed.
    public static let distantPast = HostTime(nanoseconds: .min)
}

/// A span between two readings of one clock, in nanoseconds: one machine word where `Duration` takes two.
public struct HostSpan: Sendable, Hashable, Comparable {
    /// The length in nanoseconds; negative runs backwards.
    public var nanoseconds: Int64

    /// A span of that many nanoseconds.
    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    /// A span of `n` nanoseconds.
    @inlinable public static func nanoseconds(_ n: Int64) -> HostSpan { HostSpan(nanoseconds: n) }
    /// A span of `n` microseconds. More than 292 years stop the program.
    @inlinable public static func microseconds(_ n: Int64) -> HostSpan { HostSpan(nanoseconds: n * 1_000) }
    /// A span of `n` milliseconds. More than 292 years stop the program.
    @inlinable public static func milliseconds(_ n: Int64) -> HostSpan { HostSpan(nanoseconds: n * 1_000_000) }
    /// A span of `s` seconds, to the nearest nanosecond; more than 292 years give the longest span of that sign, and NaN gives none.
    @inlinable public static func seconds(_ s: Double) -> HostSpan {
        HostSpan(nanoseconds: Int64(exactly: (s * 1e9).rounded()) ?? (s.isNaN ? 0 : s > 0 ? .max : .min))
    }
    /// The length in seconds as a floating-point number; good to a nanosecond up to a hundred days.
    @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }
    /// The span between two equal readings.
    public static let zero = HostSpan(nanoseconds: 0)

    /// Whether `a` is shorter; a negative span is shorter than zero.
    @inlinable public static func < (a: HostSpan, b: HostSpan) -> Bool { a.nanoseconds < b.nanoseconds }
    /// Sum. It wraps around beyond 292 years, without a check.
    @inlinable public static func + (a: HostSpan, b: HostSpan) -> HostSpan { HostSpan(nanoseconds: a.nanoseconds &+ b.nanoseconds) }
    /// Difference. It wraps around beyond 292 years, without a check.
    @inlinable public static func - (a: HostSpan, b: HostSpan) -> HostSpan { HostSpan(nanoseconds: a.nanoseconds &- b.nanoseconds) }
    /// The span in the other direction. The longest negative span, which has no counterpart, stays as it is.
    @inlinable public static prefix func - (a: HostSpan) -> HostSpan { HostSpan(nanoseconds: 0 &- a.nanoseconds) }
}
