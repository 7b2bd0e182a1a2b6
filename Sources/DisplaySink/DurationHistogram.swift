/// A histogram of durations with 32 buckets per power of two: percentiles to 3 % in constant memory.
///
/// Durations are in nanoseconds.
struct DurationHistogram: Sendable, Hashable {
    /// 32 buckets of one nanosecond, then 32 for each power of two up to 2^40 ns = 18 minutes. Longer durations count in the last bucket.
    private static let bucketCount = 32 * 36
    private var buckets = [UInt32](repeating: 0, count: bucketCount)
    private(set) var count = 0
    private(set) var largest: UInt64 = 0

    mutating func record(_ nanoseconds: UInt64) {
        count += 1
        largest = max(largest, nanoseconds)
        buckets[Self.bucket(of: nanoseconds)] &+= 1
    }

    /// The upper end of the bucket that contains the percentile `fraction` (0...1), at most `largest`; 0 without values.
    func percentile(_ fraction: Double) -> Double {
        guard count > 0 else { return 0 }
        let rank = max(Int((Double(count) * min(fraction, 1)).rounded(.up)), 1)
        var seen = 0
        for (index, bucket) in buckets.enumerated() {
            seen += Int(bucket)
            if seen >= rank { return index == Self.bucketCount - 1 ? Double(largest) : min(Self.upperEnd(of: index), Double(largest)) }
        }
        return Double(largest)
    }

    private static func bucket(of value: UInt64) -> Int {
        guard value >= 32 else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        return min(32 * (exponent - 4) + Int((value >> UInt64(exponent - 5)) & 31), bucketCount - 1)
    }

    private static func upperEnd(of index: Int) -> Double {
        guard index >= 32 else { return Double(index) }
        let exponent = index / 32 + 4
        return Double((UInt64(32 + index % 32 + 1) << UInt64(exponent - 5)) - 1)
    }
}
