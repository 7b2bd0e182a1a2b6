package import Media

/// Counts decode times for samples of containers that store none, by adding up durations.
///
/// Raw streams have no times and AVI has only an order. The decoder derives presentation times from decode times, so these begin early
/// enough for reordered frames: with a reorder depth of two, two frames before zero.
///
/// A pure value. It counts and rounds in microseconds, as FFmpeg does.
package struct TimestampEstimator: Sendable {
    private let timeBase: Ratio
    private let frameRate: Ratio
    private let averageFrameRate: Ratio
    private let reorderDepth: Int32
    /// Decode time expected of the next sample, in microseconds; nil when unknown.
    package private(set) var next: Int64?
    /// Decode time of the last sample, in microseconds.
    package private(set) var current: Int64?
    private var isFirst = true

    /// - Parameters:
    ///   - frameRate: Of samples without a duration.
    ///   - averageFrameRate: What libavformat measured in the first samples; unknown puts the first decode time at zero. It is not always
    ///     the same: streams of single fields have up to twice the rate of their frames.
    package init(timeBase: Ratio, frameRate: Ratio, averageFrameRate: Ratio = .unknown, reorderDepth: Int32) {
        self.timeBase = timeBase
        self.frameRate = frameRate
        self.averageFrameRate = averageFrameRate
        self.reorderDepth = reorderDepth
    }

    /// Forgets the count after a seek; the next known time begins it anew.
    package mutating func reset() {
        next = nil
        current = nil
        isFirst = false
    }

    /// The decode time of a sample in units of the time base: its own, or the estimate; nil after a seek until a time is known.
    /// - Parameters:
    ///   - decodeTime: the container's; nil when it has none.
    ///   - duration: in units of the time base; 0 when unknown.
    package mutating func decodeTime(_ decodeTime: Int64?, duration: Int64) -> Int64? {
        if isFirst {
            isFirst = false
            // Cut off, not rounded, as the reference does.
            next =
                averageFrameRate.isKnown
                ? -Int64(
                    clamping: Int128(max(reorderDepth, 0)) * 1_000_000 * Int128(averageFrameRate.denominator) / Int128(averageFrameRate.numerator))
                : 0
        }
        if let decodeTime { next = Ticks.rescale(decodeTime, timeBase, Ticks.microsecond) }
        current = next
        guard let now = next else { return nil }
        if duration > 0 {
            next = Ticks.add(now, Ticks.rescale(duration, timeBase, Ticks.microsecond))
        } else if frameRate.isKnown {
            next = Ticks.add(now, 1_000_000 * Int64(frameRate.denominator) / Int64(frameRate.numerator))
        } else {
            next = nil
        }
        return decodeTime ?? Ticks.rescale(now, Ticks.microsecond, timeBase)
    }
}
