package import Media

/// Arithmetic on a container's time stamps. A damaged file can contain any number; nothing here overflows.
package enum Ticks {
    package static let microsecond = Ratio(1, 1_000_000)

    /// `value` counted in `from` as counted in `to`, to the nearest, halves away from zero; saturating.
    package static func rescale(_ value: Int64, _ from: Ratio, _ to: Ratio) -> Int64 {
        let numerator = Int128(value) * Int128(from.numerator) * Int128(to.denominator)
        let denominator = Int128(from.denominator) * Int128(to.numerator)
        guard denominator > 0 else { return 0 }
        let half = denominator / 2
        let result = numerator >= 0 ? (numerator + half) / denominator : -((-numerator + half) / denominator)
        return max(Int64(clamping: result), .min + 1)
    }

    /// Saturating, and never the value that means "none" to libavformat.
    package static func add(_ a: Int64, _ b: Int64) -> Int64 {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? (a > 0 ? .max : .min + 1) : max(sum, .min + 1)
    }
}
