import Testing

@testable import Demuxing

/// Subtitles in the parts of fragmented MP4.
@Suite struct MovieTextTests {

    private static let samples: [TextMovie.Sample] = [
        (500, TextMovie.webVTT([])), (1000, TextMovie.webVTT(["one"])), (250, TextMovie.webVTT(["one", "<i>two</i>\nlines"])),
        (250, TextMovie.webVTT(["<i>two</i>\r\nlines\n"])), (1000, TextMovie.webVTT([])), (1000, TextMovie.webVTT(["one"])),
    ]
    private static let cues = [
        TextCue(start: 10_500, end: 11_750, text: "one"), TextCue(start: 11_500, end: 12_000, text: "<i>two</i>\nlines"),
        TextCue(start: 13_000, end: 14_000, text: "one"),
    ]

    @Test(arguments: [false, true]) func `cues of WebVTT last as long as the samples that hold them`(isLong: Bool) throws {
        let movie = try #require(MovieText(head: TextMovie.head("wvtt", isLong: isLong)))
        #expect(movie.cues(TextMovie.part(Self.samples, at: 10_000)) == Self.cues)
        let part = try #require(TextPart(TextMovie.part(Self.samples, at: 10_000), head: TextMovie.head("wvtt")))
        #expect(part.cues == Self.cues && part.map == WebVTTFile.Map())
    }

    @Test func `times count in the track's scale, and from where the fragment says`() throws {
        let movie = try #require(MovieText(head: TextMovie.head("wvtt", timescale: 90_000)))
        let part = TextMovie.part([(90_000, TextMovie.webVTT(["a"])), (45_000, TextMovie.webVTT(["b"]))], at: 1 << 40)
        let start: Int64 = 12_216_795_864
        #expect(
            movie.cues(part) == [TextCue(start: start, end: start + 1000, text: "a"), TextCue(start: start + 1000, end: start + 1500, text: "b")])
    }

    @Test func `a document of TTML is shown while its sample is`() throws {
        let movie = try #require(MovieText(head: TextMovie.head("stpp")))
        let document =
            #"<tt xmlns="http://www.w3.org/ns/ttml"><body><div><p begin="10.5s" end="11.75s">one</p><p>all along</p>"#
            + #"<p begin="1s" end="2s">long ago</p></div></body></tt>"#
        #expect(movie.cues(TextMovie.part([(0, Array(document.utf8))], at: 10_000))?.map(\.text) == ["one", "long ago"], "no length")
        #expect(
            movie.cues(TextMovie.part([(2000, Array(document.utf8))], at: 10_000)) == [
                TextCue(start: 10_500, end: 11_750, text: "one"), TextCue(start: 10_000, end: 12_000, text: "all along"),
            ])
    }

    @Test func `what is no such film, and parts of other tracks, have no cues`() {
        #expect(MovieText(head: []) == nil && MovieText(head: TextMovie.head("avc1")) == nil)
        let movie = MovieText(head: TextMovie.head("wvtt"))
        #expect(movie?.cues([]) == nil && movie?.cues(TextMovie.box("mdat", [1, 2, 3])) == nil)
        var part = TextMovie.part(Self.samples, at: 0)
        let track = part.firstRange(of: TextMovie.box("tfhd", TextMovie.number(0x20000), TextMovie.number(3)))
        part[(track?.upperBound ?? 1) - 1] = 4
        #expect(movie?.cues(part) == [])
        #expect(TextPart(Array("no subtitles".utf8), head: []) == nil)
    }

    /// A part that says where its samples begin, how many there are, and when.
    private static func lying(base: Int, count: Int, time: Int) -> [UInt8] {
        func number(_ value: Int, _ count: Int = 4) -> [UInt8] { TextMovie.number(value, count) }
        let header = TextMovie.box("tfhd", number(0x19), number(3), number(base, 8), number(0xFFFF_FFFF), number(0))
        let first = TextMovie.box("trun", number(0x801), number(count), number(0), number(0x7FFF_FFFF))
        let runs = first + TextMovie.box("trun", number(0), number(count))
        return TextMovie.box("moof", TextMovie.box("traf", header, TextMovie.box("tfdt", number(1 << 24), number(time, 8)), runs))
    }

    @Test(arguments: [(0, 0xFFFF_FFFF, 0), (Int.max, 1, 0), (1 << 62, 1, 0), (0, 1, Int.max), (10, 0xFFFF_FFFF, Int.max - 1), (0, 2, 1 << 62)])
    func `numbers without measure cost nothing`(_ base: Int, _ count: Int, _ time: Int) throws {
        for (form, timescale) in [("wvtt", 1000), ("stpp", 0xFFFF_FFFF), ("wvtt", 0xFFFF_FFFF)] {
            let movie = try #require(MovieText(head: TextMovie.head(form, timescale: timescale)))
            #expect(movie.cues(Self.lying(base: base, count: count, time: time)) == [])
        }
    }

    @Test func `samples that name the same bytes again and again are read once`() throws {
        let text = Array(#"<tt><body><div><p begin="1s" end="2s">x</p></div></body></tt>"#.utf8)
        func number(_ value: Int) -> [UInt8] { TextMovie.number(value) }
        // The document in front, then runs of which each begins there.
        let run = TextMovie.box("trun", number(0x301), number(1), number(0), number(5000), number(text.count))
        let runs = (0..<2000).flatMap { _ in run }, header = TextMovie.box("tfhd", number(1), number(3), TextMovie.number(8, 8))
        let part = TextMovie.box("mdat", text) + TextMovie.box("moof", TextMovie.box("traf", header, runs))
        #expect(try #require(MovieText(head: TextMovie.head("stpp"))).cues(part) == [TextCue(start: 1000, end: 2000, text: "x")])
    }

    @Test func `whatever the bytes say, cues have times and texts`() throws {
        let head = TextMovie.head("wvtt"), part = TextMovie.part(Self.samples, at: 10_000), movie = try #require(MovieText(head: head))
        for place in part.indices {
            for value in [0, 1, 0x7F, 0xFF] as [UInt8] {
                var wrong = part
                wrong[place] = value
                for cue in movie.cues(wrong) ?? [] { #expect(cue.end > cue.start && cue.start >= 0 && !cue.text.isEmpty) }
                _ = movie.cues(Array(wrong[..<place]))
            }
        }
        for place in head.indices {
            var wrong = head
            wrong[place] ^= 0xFF
            _ = MovieText(head: wrong)?.cues(part)
        }
    }
}
