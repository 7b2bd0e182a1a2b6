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

    func bits(in range: MediaTimeRange) -> Double { Double(samples.reduce(0) { $0 + (range.contains($1.time) ? $1.byteCount : 0) }) * 8 }

    /// The mean of the range's frames, on the scale of the measure; nil where no frame was measured.
    func quality(in range: MediaTimeRange, _ measure: QualityMeasure) -> Double? {
        let found = scores.filter { range.contains($0.key) }.values
        guard !found.isEmpty else { return nil }
        let mean = found.reduce(0, +) / Double(found.count)
        return measure == .ssim ? mean : QualityArithmetic.psnr(error: mean)
    }

    /// From the first frame to the end of the last.
    func duration(frameLength: MediaTime) -> Double {
        guard let first = samples.map(\.time).min(), let last = samples.max(by: { $0.time < $1.time }) else { return 0 }
        return (last.time + (last.duration > .zero ? last.duration : frameLength) - first).seconds
    }

    var bits: Double { Double(samples.reduce(0) { $0 + $1.byteCount }) * 8 }
}
