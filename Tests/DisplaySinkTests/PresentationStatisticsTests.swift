import Media
import SurfacePool
import Testing

@testable import DisplaySink

@Suite("PresentationStatistics")
struct PresentationStatisticsTests {
    @Test("a duration's bucket is at most 3 % wide, from a nanosecond to minutes")
    func precision() {
        for value in [0, 1, 31, 32, 33, 63, 64, 1000, 65_535, 16_666_667, 1_000_000_000, 60_000_000_000] as [UInt64] {
            var histogram = DurationHistogram()
            histogram.record(value)
            histogram.record(value * 2 + 1_000)
            let median = histogram.percentile(0.5)
            #expect(median >= Double(value) && median <= Double(value) * 1.0313, "\(value): \(median)")
        }
    }

    @Test("percentiles of a thousand values")
    func percentiles() {
        var histogram = DurationHistogram()
        for value in 1...1000 { histogram.record(UInt64(value) * 1000) }
        for fraction in [0.5, 0.95, 0.99] {
            let exact = fraction * 1_000_000
            #expect(histogram.percentile(fraction) >= exact && histogram.percentile(fraction) <= exact * 1.032)
        }
        #expect(histogram.percentile(1) == 1_000_000)
        #expect(histogram.largest == 1_000_000)
    }

    @Test("what is longer than the last bucket is told as the largest")
    func overflow() {
        var histogram = DurationHistogram()
        histogram.record(.max)
        #expect(histogram.percentile(0.5) == Double(UInt64.max))
        #expect(DurationHistogram().percentile(0.5) == 0)
    }

    @Test("a steady delay has no jitter")
    func jitter() {
        var statistics = PresentationStatistics()
        for _ in 0..<10 { statistics.record(error: .milliseconds(5)) }
        #expect(statistics.jitter == 0)
        #expect(statistics.meanSignedError == 5000)
        statistics.breakRhythm()
        statistics.record(error: .milliseconds(-5))
        #expect(statistics.jitter == 0, "after a seek there is nothing to be even with")
        statistics.record(error: .milliseconds(5))
        #expect(statistics.jitter == 1000)
    }

    @Test("every reason is counted by itself", arguments: DropReason.allCases)
    func reasons(_ reason: DropReason) {
        var statistics = PresentationStatistics()
        statistics.count(reason, 3)
        for other in DropReason.allCases { #expect(statistics.dropped(other) == (other == reason ? 3 : 0)) }
        #expect(statistics.droppedTotal == (reason == .flushed || reason == .doNotDisplay || reason == .noFrame ? 0 : 3))
    }
}
