import Demuxing
import Media
import TestSupport
import Testing

@testable import Writing

/// What of a film's texts and chapters goes into a file that is made of it.
@Suite struct FilmDescriptionTests {
    private static func seconds(_ begin: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(value: begin, timescale: 1), end: MediaTime(value: end, timescale: 1))
    }

    private static let chapters = [(0, 10, "One"), (10, 20, "Two"), (20, 30, "Three")].map { AssetChapter(range: seconds($0, $1), title: $2) }

    @Test func `texts about the film go along, those about its file do not`() {
        let texts = ["artist": "A", "title": "T", "encoder": "Lavf", "major_brand": "isom", "DURATION": "1"]
        let made = AssetWriterOptions().describing(texts, title: nil, [], in: Self.seconds(0, 30))
        #expect(made.metadata == ["artist": "A", "title": "T"])
        var own = AssetWriterOptions()
        own.metadata = ["title": "Mine"]
        #expect(own.describing(texts, title: "T", [], in: Self.seconds(0, 30)).metadata == ["artist": "A", "title": "Mine"])
        #expect(AssetWriterOptions().describing([:], title: "T", [], in: Self.seconds(0, 30)).metadata == ["title": "T"])
    }

    @Test(
        arguments: [(0, 30, "One 0-10, Two 10-20, Three 20-30"), (5, 15, "One 5-10, Two 10-15"), (10, 20, "Two 10-20"), (30, 40, "")])
    func `chapters of the part go along`(_ begin: Int64, _ end: Int64, _ expected: String) {
        let made = AssetWriterOptions().describing([:], title: nil, Self.chapters, in: Self.seconds(begin, end))
        let text = made.chapters.map { "\($0.title) \(Int($0.range.start.seconds))-\(Int($0.range.end.seconds))" }
        #expect(text.joined(separator: ", ") == expected)
    }

    @Test func `chapters of one's own stay`() {
        var own = AssetWriterOptions()
        own.chapters = [Self.chapters[1]]
        #expect(own.describing([:], title: nil, Self.chapters, in: Self.seconds(0, 30)).chapters == [Self.chapters[1]])
        let open = MediaTimeRange(start: .zero, end: .positiveInfinity)
        #expect(AssetWriterOptions().describing([:], title: nil, Self.chapters, in: open).chapters == Self.chapters)
    }

    /// Three chapters of 10 s, cut down to the film's length, go from one container into the other and back.
    @Test func `a copy has the film's chapters and texts`() throws {
        let scratch = Scratch(), first = scratch.path("first.mkv"), second = scratch.path("second.mp4"), third = scratch.path("third.mkv")
        var options = FilmCopy.Options()
        options.writer.metadata = ["title": "A film", "comment": "Nothing"]
        options.writer.chapters = [Self.chapter(0, 4, "One"), Self.chapter(4, 10, "Two")]
        try FilmCopy(from: TestAssets.demo, to: first, options: options).run()
        let copy = try FilmCopy(from: first, to: second)
        try copy.run()
        let last = try FilmCopy(from: second, to: third)
        try last.run()
        #expect(copy.notices.isEmpty && last.notices.isEmpty, "\(copy.notices + last.notices)")
        for path in [first, second, third] {
            let reader = try AssetReader(url: path)
            #expect(reader.chapters.map(\.title) == ["One", "Two"] && reader.chapters.last?.range.start == MediaTime(value: 4, timescale: 1))
            #expect(reader.title == "A film" && reader.metadata.first { $0.key.lowercased() == "comment" }?.value == "Nothing", "\(reader.metadata)")
        }
    }

    private static func chapter(_ begin: Int64, _ end: Int64, _ title: String) -> AssetChapter {
        AssetChapter(range: seconds(begin, end), title: title)
    }
}
