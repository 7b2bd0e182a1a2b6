internal import Media

/// What one pass has shown of the film: its samples, and how good they look. A pure value.
struct PassRecord: Sendable {
    struct Sample: Sendable {
        var time: MediaTime
        /// Zero where it is not known.
        var duration: MediaTime
        var byteCount: Int
        var isSync: Bool
    }

    /// In decode order.
    var samples: [Sample] = []
    /// By presentation time: similarity, or mean error.
    var scores: [MediaTime: Double] = [:]

    /// Ranges are not shorter than this: an encoder needs some frames to come to a rate.
    private static let shortest = MediaTime(value: 1, timescale: 1)

    /// The film cut where decoding can begin and nothing that follows is shown earlier, so that each part can be replaced alone.
    ///
    /// - Parameter frameLength: For a last frame without a duration.
    func ranges(frameLength: MediaTime) -> [MediaTimeRange] {
        guard let first = samples.map(\.time).min(), let last = samples.max(by: { $0.time < $1.time }) else { return [] }
        var earliest = MediaTime.positiveInfinity, starts: [MediaTime] = []
        for sample in samples.reversed() {
            earliest = min(earliest, sample.time)
            if sample.isSync, sample.time <= earliest { starts.append(sample.time) }
        }
        let end = last.time + (last.duration > .zero ? last.duration : frameLength)
        var cuts = [first]
        for start in starts.reversed() where start - cuts[cuts.count - 1] >= Self.shortest && end - start >= Self.shortest { cuts.append(start) }
        return cuts.indices.map { MediaTimeRange(start: cuts[$0], end: $0 + 1 < cuts.count ? cuts[$0 + 1] : end) }
    }

    /// Bits of each of the ranges, which do not overlap and stand in order.
    func bits(in ranges: [MediaTimeRange]) -> [Double] {
        var sums = [Double](repeating: 0, count: ranges.count)
        for sample in samples { if let index = ranges.index(of: sample.time) { sums[index] += Double(sample.byteCount) * 8 } }
        return sums
    }

    /// The mean of each range's frames in decibel; nil where no frame was measured. The ranges do not overlap and stand in order.
    func decibel(in ranges: [MediaTimeRange], _ measure: QualityMeasure) -> [Double?] {
        var sums = [(sum: Double, count: Int)](repeating: (0, 0), count: ranges.count)
        for (time, score) in scores {
            guard let index = ranges.index(of: time) else { continue }
            sums[index].sum += score
            sums[index].count += 1
        }
        return sums.map { sum, count in
            guard count > 0 else { return nil }
            let mean = sum / Double(count)
            return measure == .ssim ? QualityTarget.decibel(ssim: mean) : QualityArithmetic.psnr(error: mean)
        }
    }

    /// From the first frame to the end of the last.
    func duration(frameLength: MediaTime) -> Double {
        guard let first = samples.map(\.time).min(), let last = samples.max(by: { $0.time < $1.time }) else { return 0 }
        return (last.time + (last.duration > .zero ? last.duration : frameLength) - first).seconds
    }

    var bits: Double { Double(samples.reduce(0) { $0 + $1.byteCount }) * 8 }
}

extension [MediaTimeRange] {
    /// The range in which a time lies. The ranges do not overlap and stand in order.
    func index(of time: MediaTime) -> Int? {
        let place = countEnded(by: time)
        return place < count && self[place].contains(time) ? place : nil
    }

    /// How many of them end at or before a time.
    func countEnded(by time: MediaTime) -> Int {
        var low = 0, high = count
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].end <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
