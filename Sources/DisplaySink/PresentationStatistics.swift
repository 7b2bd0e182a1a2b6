internal import Media
public import SurfacePool

/// What was shown, what was not and why, and how far from its time each picture lit up.
public struct PresentationStatistics: Sendable, Hashable {
    public private(set) var framesPresented = 0
    private var drops = Drops()
    private var histogram = ErrorHistogram()
    private var signedSum: Int64 = 0

    private struct Drops: Sendable, Hashable {
        var late = 0, outOfSurfaces = 0, discontinuity = 0, flushed = 0, decodeError = 0, doNotDisplay = 0
    }

    public init() {}

    /// Frames that were decoded and not shown for this reason.
    public func dropped(_ reason: DropReason) -> Int { drops[keyPath: Self.keyPath(reason)] }

    /// Frames that a viewer missed: all but those skipped by a seek.
    public var droppedTotal: Int { DropReason.allCases.reduce(0) { $0 + ($1 == .flushed || $1 == .doNotDisplay ? 0 : dropped($1)) } }

    /// The distance between ideal and actual time that `fraction` of the frames stayed within; µs, 0 without any.
    public func error(percentile fraction: Double) -> Double { histogram.percentile(fraction) }
    public var maximumError: Double { histogram.maximum }
    /// Mean of actual minus ideal time, µs: above zero when late. 0 without any.
    public var meanSignedError: Double { histogram.count == 0 ? 0 : Double(signedSum) / Double(histogram.count) / 1000 }
    /// Frames whose error is known.
    public var measuredFrames: Int { histogram.count }

    mutating func presented() { framesPresented += 1 }

    mutating func count(_ reason: DropReason, _ frames: Int) { drops[keyPath: Self.keyPath(reason)] += frames }

    mutating func record(error: HostSpan) {
        signedSum &+= error.nanoseconds
        histogram.record(nanoseconds: error.nanoseconds.magnitude)
    }

    private static func keyPath(_ reason: DropReason) -> WritableKeyPath<Drops, Int> {
        switch reason {
        case .late: \.late
        case .outOfSurfaces: \.outOfSurfaces
        case .discontinuity: \.discontinuity
        case .flushed: \.flushed
        case .decodeError: \.decodeError
        case .doNotDisplay: \.doNotDisplay
        }
    }
}

/// Counts of errors in buckets that grow with the error, each an eighth of an octave wide: percentiles within 9 %, in memory that
/// never grows.
struct ErrorHistogram: Sendable, Hashable {
    private var buckets = [UInt32](repeating: 0, count: 8 * 40)
    private(set) var count = 0
    private var largest: UInt64 = 0

    var maximum: Double { Double(largest) / 1000 }

    mutating func record(nanoseconds: UInt64) {
        count += 1
        largest = max(largest, nanoseconds)
        buckets[Self.bucket(nanoseconds)] &+= 1
    }

    /// Microseconds.
    func percentile(_ fraction: Double) -> Double {
        guard count > 0 else { return 0 }
        let rank = max(Int((Double(count) * fraction).rounded(.up)), 1)
        var seen = 0
        for (index, bucket) in buckets.enumerated() {
            seen += Int(bucket)
            if seen >= rank { return min(Self.middle(index), Double(largest)) / 1000 }
        }
        return maximum
    }

    private static func bucket(_ value: UInt64) -> Int {
        guard value >= 8 else { return Int(value) }
        let octave = 63 - value.leadingZeroBitCount
        return min((octave - 2) * 8 + Int((value >> UInt64(octave - 3)) & 7), 8 * 40 - 1)
    }

    private static func middle(_ index: Int) -> Double {
        guard index >= 8 else { return Double(index) }
        let octave = index / 8 + 2
        let width = Double(UInt64(1) << UInt64(octave - 3))
        return Double(8 + index % 8) * width + width / 2
    }
}
