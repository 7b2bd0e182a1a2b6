import Demuxing
import Media
import Testing

/// Where a track ends whose film is read up to some time.
@Suite struct TrackEndsTests {
    /// Samples of a track, each with its time and its duration in seconds, and the number of the one that ends it.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var times: [Double]
        var duration: Double?
        var last: Int?

        init(_ description: String, _ times: [Double], lasting duration: Double? = 1, endsAt last: Int?) {
            (testDescription, self.times, self.duration, self.last) = (description, times, duration, last)
        }
    }

    private static let whole = (0..<20).map(Double.init)
    private static let rows = [
        Row("the first that is not within", whole, endsAt: 5), Row("a film that ends before", [0, 1, 2], endsAt: nil),
        Row("one time an hour ahead", [0, 1, 3602, 3, 4, 5], endsAt: 5),
        Row("several times ahead", [0, 1] + (0..<50).map { 3600 + Double($0) } + [2, 3, 4, 5], endsAt: 55),
        Row("all from one on", [0, 1] + (0..<1200).map { 3600 + Double($0) }, endsAt: 1002),
        Row("times of stills", [0, 100, 200, 300], lasting: 100, endsAt: 1),
        Row("stills that do not say how long they last", [0, 4, 4.5, 8], lasting: nil, endsAt: 3),
        Row("a first sample beyond", [60, 61], endsAt: 0), Row("a step of nine seconds", [0, 4, 13], lasting: nil, endsAt: 2),
        Row("one time before", [0, 1, -3600, 2, 5], endsAt: 4),
    ]

    @Test(arguments: rows) func `a track ends with the sample that follows another one beyond the end`(_ row: Row) {
        var ends = TrackEnds(), found: Int?
        for (number, time) in row.times.enumerated() where found == nil {
            // Another track that goes on says nothing about this one.
            let isOtherEnded = ends.isReached(MediaTime(seconds: 5), by: .zero, duration: .invalid, track: 1)
            #expect(!isOtherEnded)
            let duration = row.duration.map { MediaTime(seconds: $0) } ?? .invalid
            if ends.isReached(MediaTime(seconds: 5), by: MediaTime(seconds: time), duration: duration, track: 0) { found = number }
        }
        #expect(found == row.last)
    }

    @Test func `after a seek the place before does not count`() {
        var ends = TrackEnds(), answers: [Bool] = []
        for time in [0.0, 60] { answers.append(ends.isReached(MediaTime(seconds: 5), by: MediaTime(seconds: time), duration: .invalid, track: 0)) }
        ends.begin()
        answers.append(ends.isReached(MediaTime(seconds: 5), by: MediaTime(seconds: 60), duration: .invalid, track: 0))
        #expect(answers == [false, false, true])
    }
}
