import Demuxing
import Media
import Testing

@testable import Player

/// Places in films, as viewers write them.
@Suite struct FilmPointTests {
    private struct Row: Sendable {
        let text: String
        let point: FilmPoint?
        /// In a film of 100 s with chapters at 0, 25 and 80 s, and in one without end and chapters; nil: there is no such place.
        let time: MediaTime?, live: MediaTime?

        init(_ text: String, _ point: FilmPoint?, _ time: Int64?, live: Int64? = nil) {
            (self.text, self.point) = (text, point)
            self.time = time.map { MediaTime(value: $0, timescale: 1) }
            self.live = live.map { MediaTime(value: $0, timescale: 1) }
        }
    }

    private static func seconds(_ count: Int64) -> MediaTime { MediaTime(value: count, timescale: 1) }

    private static let rows: [Row] = [
        Row("90", .time(seconds(90)), 90, live: 90), Row("+90", .time(seconds(90)), 90, live: 90), Row("1:30", .time(seconds(90)), 90, live: 90),
        Row("-10", .beforeEnd(seconds(10)), 90), Row("-0:10", .beforeEnd(seconds(10)), 90), Row("-200", .beforeEnd(seconds(200)), 0),
        Row("50%", .share(0.5), 50), Row("0%", .share(0), 0), Row("100%", .share(1), 100), Row("#1", .chapter(1), 0), Row("#3", .chapter(3), 80),
        Row("#4", .chapter(4), nil), Row("150", .time(seconds(150)), 150, live: 150),
    ]

    private static let chapters: [AssetChapter] = [(0, 25), (25, 80), (80, 100)].map { begin, end in
        AssetChapter(range: MediaTimeRange(start: seconds(begin), end: seconds(end)), title: "")
    }

    @Test(arguments: rows) private func `a place is read and found`(_ row: Row) {
        let point = FilmPoint(text: row.text)
        #expect(point == row.point)
        #expect(point?.time(in: Self.seconds(100), chapters: Self.chapters) == row.time)
        #expect(point?.time(in: .indefinite, chapters: []) == row.live)
    }

    @Test(arguments: ["", "#", "#0", "#-1", "#a", "%", "101%", "-1%", "a%", "nan%", "--5", "+-5", "soon", "1:2:3:4"])
    func `what is no place is refused`(_ text: String) {
        #expect(FilmPoint(text: text) == nil)
    }

    @Test(arguments: [("2026-11-27T20:15:30Z", 30), ("2026-11-27T20:14:59Z", nil), ("2026-11-27T20:16:40Z", nil)] as [(String, Int64?)])
    func `a date is found where the film says when it was made`(_ text: String, _ time: Int64?) throws {
        var dates = ProgramDateLine()
        dates.note(try #require(ProgramDate(iso8601: "2026-11-27T20:15:00Z")), at: .zero)
        let point = FilmPoint(text: text)
        #expect(point == .date(try #require(ProgramDate(iso8601: text))))
        #expect(point?.time(in: Self.seconds(100), chapters: [], dates: dates) == time.map(Self.seconds))
        #expect(point?.time(in: Self.seconds(100), chapters: []) == nil)
        var configuration = PlayerConfiguration()
        configuration.start = point
        let part = FilmPart(configuration, duration: Self.seconds(100), chapters: [], dates: dates)
        #expect(part.start == (time.map(Self.seconds) ?? .zero) && part.shortfalls.isEmpty == (time != nil))
    }

    @Test func `a share of the film is counted from where it begins`() {
        var configuration = PlayerConfiguration()
        (configuration.start, configuration.playShare) = (.time(Self.seconds(20)), 0.5)
        var part = FilmPart(configuration, duration: Self.seconds(100), chapters: [])
        #expect(part.end == Self.seconds(70) && part.shortfalls == [])
        configuration.playDuration = Self.seconds(10)
        part = FilmPart(configuration, duration: Self.seconds(100), chapters: [])
        #expect(part.end == Self.seconds(30))
        (configuration.playDuration, configuration.start) = (nil, nil)
        part = FilmPart(configuration, duration: .indefinite, chapters: [])
        #expect(part.end == .positiveInfinity && part.shortfalls == ["has no known end"])
    }

    @Test func `the part that plays ends where the first of its ends is, and says what the film lacks`() {
        var configuration = PlayerConfiguration()
        (configuration.start, configuration.end, configuration.playDuration) = (.chapter(2), .beforeEnd(Self.seconds(10)), Self.seconds(50))
        var part = FilmPart(configuration, duration: Self.seconds(100), chapters: Self.chapters)
        #expect(part.start == Self.seconds(25) && part.end == Self.seconds(75) && part.shortfalls == [])
        configuration.playDuration = nil
        part = FilmPart(configuration, duration: Self.seconds(100), chapters: Self.chapters)
        #expect(part.end == Self.seconds(90))
        part = FilmPart(configuration, duration: .indefinite, chapters: [], usualStart: Self.seconds(3))
        #expect(part.start == Self.seconds(3) && part.end == .positiveInfinity)
        #expect(part.shortfalls == ["has 0 chapters, not 2", "has no known end"])
        #expect(FilmPart(PlayerConfiguration(), duration: .indefinite, chapters: []).start == .zero)
    }
}
