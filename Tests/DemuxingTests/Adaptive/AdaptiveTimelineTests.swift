import Media
import SampleQueue
import Testing

@testable import Demuxing

/// Where subtitles of parts lie on the film's time line.
@Suite struct AdaptiveTimelineTests {
    /// Times are seconds, `timestamp` ninety-thousandths of one.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var beginning = 0.0
        /// Of the part.
        var start = 0.0, length = 10.0
        var map: (local: Double, timestamp: Int64)?
        var first = 0.0
        var period: Int64?
        /// Where the frames are, in a film that grows.
        var now: Double?
        let expected: Double

        init(
            _ name: String, beginning: Double = 0, start: Double = 0, length: Double = 10, map: (local: Double, timestamp: Int64)? = nil,
            first: Double = 0, period: Int64? = nil, now: Double? = nil, expected: Double
        ) {
            (testDescription, self.beginning, self.start, self.length) = (name, beginning, start, length)
            (self.map, self.first, self.period, self.now, self.expected) = (map, first, period, now, expected)
        }
    }

    private static let turn = 8_589_934_592.0 / 90_000

    @Test(
        arguments: [
            Case("no map", beginning: 5, start: 20, first: 22, expected: 0),
            Case("no map, in the second period of a manifest", start: 60, first: 2, period: 60_000_000, expected: 60),
            Case("containers that begin at 10 s", beginning: 10, start: 20, map: (0, 900_000), first: 21, expected: 0),
            Case("a clock of their own", beginning: 10, start: 20, map: (100, 900_000), first: 121, expected: -100),
            Case("each part's own clock", beginning: 10, start: 20, map: (0, 2_700_000), first: 1, expected: 20),
            Case("containers whose clock has turned", beginning: turn - 5, start: 20, map: (0, 1_350_000), first: 1, expected: 20),
            Case("containers whose clock has not turned yet", beginning: 5, start: 20, map: (0, 8_589_934_592 - 450_000), first: 31, expected: -10),
            Case("a map that leads elsewhere", beginning: 10, start: 20, map: (0, 90_000_000), first: 21, expected: 0),
            Case("a film that grows, whose list begins elsewhere", beginning: 500, start: 48, map: (0, 45_900_000), first: 1, now: 9, expected: 10),
            Case("a film that grows, after a turn", beginning: turn + 500, start: 48, map: (0, 45_900_000), first: 1, now: 9, expected: 10),
            Case("one file for the film", beginning: 1.4, length: 3600, map: (0, 126_000), first: 1800, expected: 0),
        ])
    func `where subtitles lie`(_ example: Case) {
        var line = AdaptiveTimeline(lanes: 1)
        line.begin(MediaTime(seconds: example.beginning, timescale: 90_000))
        let part = MediaPlaylist.Part(
            resource: .init(address: "http://h/a.vtt"), start: Int64(example.start * 1e6), duration: Int64(example.length * 1e6), sequence: 0,
            discontinuity: example.period ?? 0)
        let map = example.map.map { WebVTTFile.Map(local: Int64($0.local * 1000), timestamp: $0.timestamp) }
        let first = MediaTime(seconds: example.first, timescale: 1000)
        let now = example.now.map { MediaTime(seconds: $0, timescale: 1000) }
        let shift = line.shift(of: map, first: first, part, now: now, countsPeriods: example.period != nil)
        #expect(abs(shift.seconds - example.expected) < 0.001, "\(shift)")
    }
}
