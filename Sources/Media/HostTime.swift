/// A reading of a clock of this machine, in nanoseconds since that clock's own zero.
///
/// Two host times are comparable only when they were read from the same clock; unless said otherwise that is
/// `CLOCK_MONOTONIC`, the clock of Wayland's and the kernel's presentation timestamps.
public struct HostTime: Sendable, Hashable, Comparable {
    public var nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable public static func < (a: HostTime, b: HostTime) -> Bool { a.nanoseconds < b.nanoseconds }
    /// Saturates instead of overflowing: `distantFuture` stays in the future.
    @inlinable public static func + (time: HostTime, span: HostSpan) -> HostTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(span.nanoseconds)
        return overflow ? (span.nanoseconds > 0 ? .distantFuture : .distantPast) : HostTime(nanoseconds: sum)
    }
    @inlinable public static func - (time: HostTime, span: HostSpan) -> HostTime { time + HostSpan(nanoseconds: 0 &- span.nanoseconds) }
    @inlinable public static func - (a: HostTime, b: HostTime) -> HostSpan {
        let (difference, overflow) = a.nanoseconds.subtractingReportingOverflow(b.nanoseconds)
        return HostSpan(nanoseconds: overflow ? (a > b ? .max : .min) : difference)
    }

    public static let distantFuture = HostTime(nanoseconds: .max)
    public static let distantPast = HostTime(nanoseconds: .min)
}

/// A span between two readings of one clock, in nanoseconds: one machine word where `Duration` takes two.
public struct HostSpan: Sendable, Hashable, Comparable {
    public var nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    @inlinable public static func nanoseconds(_ n: Int64) -> HostSpan { HostSpan(nanoseconds: n) }
    @inlinable public static func microseconds(_ n: Int64) -> HostSpan { HostSpan(nanoseconds: n * 1_000) }
    @inlinable public static func milliseconds(_ n: Int64) -> HostSpan { HostSpan(nanoseconds: n * 1_000_000) }
    @inlinable public static func seconds(_ s: Double) -> HostSpan {
        HostSpan(nanoseconds: Int64(exactly: (s * 1e9).rounded()) ?? (s > 0 ? .max : .min))
    }
    @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }
    public static let zero = HostSpan(nanoseconds: 0)

    @inlinable public static func < (a: HostSpan, b: HostSpan) -> Bool { a.nanoseconds < b.nanoseconds }
    @inlinable public static func + (a: HostSpan, b: HostSpan) -> HostSpan { HostSpan(nanoseconds: a.nanoseconds &+ b.nanoseconds) }
    @inlinable public static func - (a: HostSpan, b: HostSpan) -> HostSpan { HostSpan(nanoseconds: a.nanoseconds &- b.nanoseconds) }
    @inlinable public static prefix func - (a: HostSpan) -> HostSpan { HostSpan(nanoseconds: 0 &- a.nanoseconds) }
}
