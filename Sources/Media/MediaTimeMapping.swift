/// A stretch of a film and the stretch of a composition in which it is shown. Another length means another speed.
///
/// The counterpart of `CMTimeMapping`.
///
/// Thread-safety: a value.
public struct MediaTimeMapping: Sendable, Hashable {
    /// In the film's own time.
    public var source: MediaTimeRange
    /// In the time of the composition.
    public var target: MediaTimeRange

    /// Maps `source` to `target`; neither may be empty.
    public init(source: MediaTimeRange, target: MediaTimeRange) {
        self.source = source
        self.target = target
    }

    /// Whether the film runs at its own speed.
    public var keepsSpeed: Bool { source.duration == target.duration }

    /// The film's speed: 2 is twice as fast.
    public var speed: Double { source.duration.seconds / target.duration.seconds }

    /// The time of the film that is shown at `time` of the composition. Exact, unless the fraction is too large for `MediaTime`: then
    /// `hasBeenRounded` is set.
    public func sourceTime(at time: MediaTime) -> MediaTime { Self.map(time, target, source) }

    /// The time of the composition at which the film's `time` is shown; exact as above.
    public func targetTime(at time: MediaTime) -> MediaTime { Self.map(time, source, target) }

    private static func map(_ time: MediaTime, _ from: MediaTimeRange, _ to: MediaTimeRange) -> MediaTime {
        // The ends exactly, whatever is rounded between them.
        if time == from.end { return to.end }
        let offset = time - from.start
        let (a, b) = (from.duration, to.duration)
        if a == b { return to.start + offset }
        guard a.isNumeric, b.isNumeric, a > .zero else { return .invalid }
        // b / a as a fraction of whole numbers.
        var (n, d) = (Int128(b.value) * Int128(a.timescale), Int128(a.value) * Int128(b.timescale))
        let divisor = Int128(MediaTime.greatestCommonDivisor(n.magnitude, d.magnitude))
        (n, d) = (n / divisor, d / divisor)
        guard let numerator = Int32(exactly: n), let denominator = Int32(exactly: d) else {
            return to.start + offset.multiplied(by: Double(n) / Double(d))
        }
        return to.start + offset.multiplied(by: numerator, over: denominator)
    }
}
