import Testing

@testable import Demuxing

/// Frames of containers that count in milliseconds.
@Suite struct RoundedTimesTests {
    private struct Row: Sendable {
        var begin: Int64
        var duration: Int64
        var rate: Double
        var unit = 0.001
        var isLonger: Bool
    }

    private static let film = 24_000.0 / 1001
    private static let rows: [Row] = [
        // 30 frames a second: 0, 33, 67, 100.
        Row(begin: 0, duration: 33, rate: 30, isLonger: false), Row(begin: 33, duration: 33, rate: 30, isLonger: true),
        Row(begin: 67, duration: 33, rate: 30, isLonger: false), Row(begin: 433, duration: 33, rate: 30, isLonger: true),
        // 23.976: 42 ms each, or 41.
        Row(begin: 42, duration: 41, rate: film, isLonger: false), Row(begin: 83, duration: 41, rate: film, isLonger: true),
        // 25: nothing is rounded.
        Row(begin: 40, duration: 40, rate: 25, isLonger: false), Row(begin: 400, duration: 40, rate: 25, isLonger: false),
        // Fine units.
        Row(begin: 512, duration: 512, rate: 30, unit: 1.0 / 15_360, isLonger: false),
        Row(begin: 3003, duration: 3003, rate: 30_000.0 / 1001, unit: 1.0 / 90_000, isLonger: false),
        // Not on the grid: a film of variable rate.
        Row(begin: 50, duration: 33, rate: 30, isLonger: false), Row(begin: 33, duration: 20, rate: 30, isLonger: false),
        Row(begin: 33, duration: 0, rate: 30, isLonger: false), Row(begin: 33, duration: 33, rate: 30, unit: 0, isLonger: false),
        Row(begin: 33, duration: 33, rate: 0, isLonger: false),
    ]

    @Test func `a frame lasts until the next one`() {
        for row in Self.rows {
            let isLonger = RoundedTimes.lastsOneMore(begin: row.begin, duration: row.duration, unit: row.unit, rate: row.rate)
            #expect(isLonger == row.isLonger, "\(row)")
        }
    }
}
