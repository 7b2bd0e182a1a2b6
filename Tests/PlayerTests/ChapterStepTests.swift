import Demuxing
import Media
import Testing

@testable import Player

/// Where the keys for chapters lead.
@Suite struct ChapterStepTests {
    private static func seconds(_ seconds: Int64) -> MediaTime { MediaTime(value: seconds, timescale: 1) }

    /// Three chapters that begin at 10, 30 and 60 s.
    private static let chapters = [(10, 30), (30, 60), (60, 100)].map { begin, end in
        AssetChapter(range: MediaTimeRange(start: seconds(begin), end: seconds(end)), title: "")
    }

    @Test(arguments: [(0, -1), (10, 0), (29, 0), (30, 1), (99, 2), (200, 2)])
    func `the chapter that is on`(_ time: Int64, _ index: Int) {
        #expect(ChapterStep.index(at: Self.seconds(time), in: Self.chapters) == (index < 0 ? nil : index))
    }

    @Test(
        arguments: [
            "0 1 0", "0 3 2", "0 4 -", "0 -1 -", "10 1 1", "10 -1 -", "15 -1 -", "16 -1 0", "31 -1 0", "35 -1 0", "36 -1 1", "36 1 2", "60 1 -",
            "70 -1 2", "70 -2 1", "62 -2 0", "70 -9 -", "200 1 -",
        ])
    func `a step leads to`(_ row: String) {
        let words = row.split(separator: " ").map(String.init)
        let target = ChapterStep.target(from: Self.seconds(Int64(words[0]) ?? 0), by: Int(words[1]) ?? 0, in: Self.chapters)
        #expect(target == Int(words[2]))
    }

    @Test func `without chapters there is nowhere to go`() { #expect(ChapterStep.target(from: .zero, by: 1, in: []) == nil) }
}
