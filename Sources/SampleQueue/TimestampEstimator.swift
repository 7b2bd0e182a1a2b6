package import Media

/// Gives decode times to samples of containers that store none, by counting durations, as players have always done.
///
/// Raw streams carry no times at all and AVI only an order. The decoder then derives presentation times from decode times, so
/// these have to begin early enough for reordered pictures: a reorder depth of two pictures begins two pictures before zero.
///
/// A pure value; unit: microseconds, which is what the reference counts in and rounds to.
package struct TimestampEstimator: Sendable {
    private let timeBase: Ratio
    private let frameRate: Ratio
    private let averageFrameRate: Ratio
    private let reorderDepth: Int32
    private var next: Int64?
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

    /// After a seek the next known time counts.
    package mutating func reset() {
        next = nil
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
            next = averageFrameRate.isKnown
                ? -(Int64(reorderDepth) * 1_000_000 * Int64(averageFrameRate.denominator) / Int64(averageFrameRate.numerator)) : 0
        }
        if let decodeTime { next = Self.rescale(decodeTime, timeBase, Ratio(1, 1_000_000)) }
        guard let now = next else { return nil }
        var length: Int64?
        if duration > 0 {
            length = Self.rescale(duration, timeBase, Ratio(1, 1_000_000))
        } else if frameRate.isKnown {
            length = 1_000_000 * Int64(frameRate.denominator) / Int64(frameRate.numerator)
        }
        // A damaged container's times may lie anywhere; past the end of the numbers nothing is known.
        let sum = length.map { now.addingReportingOverflow($0) }
        next = sum?.overflow == false ? sum?.partialValue : nil
        return decodeTime ?? Self.rescale(now, Ratio(1, 1_000_000), timeBase)
    }

    /// `value` counted in `from` as counted in `to`, to the nearest, halves away from zero; saturating.
    package static func rescale(_ value: Int64, _ from: Ratio, _ to: Ratio) -> Int64 {
        let numerator = Int128(value) * Int128(from.numerator) * Int128(to.denominator)
        let denominator = Int128(from.denominator) * Int128(to.numerator)
        guard denominator > 0 else { return 0 }
        let half = denominator / 2
        let result = numerator >= 0 ? (numerator + half) / denominator : -((-numerator + half) / denominator)
        return Int64(clamping: result)
    }
}
