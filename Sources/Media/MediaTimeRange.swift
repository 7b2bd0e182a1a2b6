/// A stretch of media time from `start` up to, but not including, `end`: what a track covers, what `--start` and `--duration` ask for.
///
/// Open ends are infinities: a live stream runs from zero to `.positiveInfinity`.
///
/// Thread-safety: a value.
public struct MediaTimeRange: Sendable, Hashable {
    /// The first time inside the range.
    public let start: MediaTime
    /// The first time behind the range; never before `start`.
    public let end: MediaTime

    /// From `start` up to `end`; an `end` before `start` gives an empty range at `start`.
    public init(start: MediaTime, end: MediaTime) {
        self.start = start
        self.end = max(start, end)
    }

    /// `duration` long from `start`; `.positiveInfinity` has no end. A negative duration gives an empty range.
    public init(start: MediaTime, duration: MediaTime) {
        self.init(start: start, end: duration.kind == .positiveInfinity ? .positiveInfinity : start + duration)
    }

    /// All of time.
    public static let all = MediaTimeRange(start: .negativeInfinity, end: .positiveInfinity)
    /// The empty range at zero.
    public static let zero = MediaTimeRange(start: .zero, end: .zero)

    /// `end - start`; `.positiveInfinity` with an open end, zero when empty.
    public var duration: MediaTime { isEmpty ? .zero : end - start }

    /// Whether both ends are known; infinite ends are.
    public var isValid: Bool {
        start.kind != .invalid && end.kind != .invalid && start.kind != .indefinite && end.kind != .indefinite
    }

    /// Whether no time lies inside; a range that is not valid counts as empty.
    public var isEmpty: Bool { !isValid || start == end }

    /// Whether `time` lies inside, `start` included and `end` not. False for times that are no number.
    public func contains(_ time: MediaTime) -> Bool { time.isNumeric && isValid && time >= start && time < end }

    /// Whether both ends of `other` lie inside, where `end` itself counts. False when either range is not valid.
    public func contains(_ other: MediaTimeRange) -> Bool { isValid && other.isValid && other.start >= start && other.end <= end }

    /// The part that both cover; an empty range at the later start when they do not overlap.
    public func intersection(_ other: MediaTimeRange) -> MediaTimeRange {
        MediaTimeRange(start: max(start, other.start), end: min(end, other.end))
    }

    /// From the earlier start to the later end, gap included; an empty range adds nothing.
    public func union(_ other: MediaTimeRange) -> MediaTimeRange {
        if isEmpty { return other }
        if other.isEmpty { return self }
        return MediaTimeRange(start: min(start, other.start), end: max(end, other.end))
    }

    /// The nearest time to `time` inside the range, its end included.
    public func clamp(_ time: MediaTime) -> MediaTime { max(start, min(time, end)) }
}

extension MediaTimeRange: CustomStringConvertible {
    /// The range as a half-open interval, such as `[00:00:01.000, 00:00:02.000)`.
    public var description: String { "[\(start), \(end))" }
}
