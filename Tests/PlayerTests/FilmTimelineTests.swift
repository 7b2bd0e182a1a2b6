import Media
import Player
import Testing

@Suite struct FilmTimelineTests {
    private static func time(_ milliseconds: Int?) -> MediaTime? { milliseconds.map { MediaTime(value: Int64($0), timescale: 1000) } }

    /// `frames 0-1000 sound 0-1020`, in milliseconds.
    private static func extent(_ text: String) -> FilmExtent {
        var extent = FilmExtent(), words = text.split(separator: " ")[...]
        while let kind = words.popFirst(), let span = words.popFirst() {
            let ends = span.split(separator: "-").compactMap { Self.time(Int($0)) }
            let known = FilmExtent.Span(ends[0], ends[1])
            if kind == "frames" { extent.frames = known } else { extent.sound = known }
        }
        return extent
    }

    /// The film that ends, the beginning of the next, and what is added to its times.
    @Test(
        arguments: [
            ("frames 0-1000", "frames 0-40", 1000), ("frames 0-1000", "frames 40-80", 960), ("frames 5000-6000", "frames 0-40", 6000),
            ("sound 0-1000", "sound 0-20", 1000), ("sound 0-1000", "sound 23-40", 977),
            ("frames 0-1000 sound 0-1000", "frames 0-40 sound 0-20", 1000),
            // Sound that ends a little later gives way; frames stay as they are.
            ("frames 0-1000 sound 0-1021", "frames 0-40 sound 0-20", 1000), ("frames 0-1000 sound 0-1050", "frames 0-40 sound 0-20", 1000),
            // Sound that ends much later is heard; the last frame stays.
            ("frames 0-1000 sound 0-1051", "frames 0-40 sound 0-20", 1051), ("frames 0-1000 sound 0-3000", "frames 0-40 sound 0-20", 3000),
            // Sound that ends earlier.
            ("frames 0-1000 sound 0-700", "frames 0-40 sound 0-20", 1000),
            // Sound that begins before its frames.
            ("frames 0-1000 sound 0-1000", "frames 40-80 sound 0-20", 960), ("frames 0-1000 sound 0-1000", "frames 500-540 sound 0-20", 1000),
            ("frames 0-1000 sound 0-1000", "frames 0-40 sound 300-320", 1000),
            // One of them has no sound.
            ("frames 0-1000 sound 0-1020", "frames 0-40", 1000), ("frames 0-1000", "frames 0-40 sound 0-20", 1000),
            ("sound 0-1000", "frames 0-40", nil), ("", "frames 0-40", nil), ("frames 0-1000", "", nil),
        ] as [(String, String, Int?)])
    func `a film follows where the last frame of the one before ends`(_ last: String, _ next: String, _ shift: Int?) {
        #expect(Self.extent(last).shift(of: Self.extent(next)) == Self.time(shift))
    }

    @Test func `an extent takes in what is known, and nothing else`() {
        var span = FilmExtent.Span()
        #expect(!span.isKnown && FilmExtent().begin == nil)
        span.add(.invalid, Self.time(40)!)
        span.add(Self.time(40)!, .invalid)
        span.add(Self.time(40)!, .zero)
        #expect(!span.isKnown)
        for start in [80, 0, 40] { span.add(Self.time(start)!, Self.time(40)!) }
        #expect(span == FilmExtent.Span(.zero, Self.time(120)!))
        #expect(FilmExtent(frames: span).shifted(by: Self.time(1000)!).begin == Self.time(1000))
        #expect(FilmExtent(sound: span).begin == .zero)
    }

    /// Where on the line, and the film's own time there.
    @Test(arguments: [(-10, -10), (0, 0), (999, 999), (1000, 0), (1500, 500), (2000, 40), (2500, 540), (9000, 7040)])
    func `each turn counts the film's own time`(_ place: Int, _ own: Int) {
        var line = FilmTimeline()
        line.append(.init(start: Self.time(1000)!, shift: Self.time(1000)!), now: .zero)
        line.append(.init(start: Self.time(2000)!, shift: Self.time(1960)!), now: .zero)
        #expect(line.filmTime(at: Self.time(place)!) == Self.time(own)!)
    }

    /// Turns of 1000 from 100 on, of which one join has been read: where on the line, and the film's own time there.
    @Test(arguments: [(500, 500), (1099, 1099), (1100, 100), (2099, 1099), (2100, 100), (2600, 600), (5250, 250)])
    func `a clock that is ahead of what was read is taken to be in a later turn`(_ place: Int, _ own: Int) {
        let turn = MediaTimeRange(start: Self.time(100)!, end: Self.time(1100)!)
        var line = FilmTimeline()
        #expect(line.filmTime(at: Self.time(place)!, turn: turn) == Self.time(own)!)
        line.append(.init(start: Self.time(1100)!, shift: Self.time(1000)!), now: .zero)
        #expect(line.filmTime(at: Self.time(place)!, turn: turn) == Self.time(own)!)
        #expect(line.filmTime(at: Self.time(900)!, turn: turn) == Self.time(900)!)
    }

    /// Film 0 from 0 to 1000, 1 to 2500 with times from 40 on, 2 after it: which film, where on the line, and its own time there.
    @Test(arguments: [
        (0, 500, 500), (0, 1000, 1000), (0, 1200, 1000), (1, 900, 40), (1, 1000, 40), (1, 1500, 540), (1, 2700, 1540), (2, 2700, 200), (2, 2000, 0),
    ])
    func `a film counts its own time until it is told that the next one is on`(_ film: Int, _ place: Int, _ own: Int) {
        var line = FilmTimeline()
        line.append(.init(start: Self.time(1000)!, shift: Self.time(960)!, film: 1), now: .zero)
        line.append(.init(start: Self.time(2500)!, shift: Self.time(2500)!, film: 2), now: .zero)
        #expect(line.filmTime(at: Self.time(place)!, of: film) == Self.time(own)!)
        #expect(line.film(at: Self.time(place)!) == (place < 1000 ? 0 : place < 2500 ? 1 : 2))
        line.restart(film: film)
        #expect(line.filmTime(at: Self.time(place)!, of: film) == Self.time(place)! && line.film(at: Self.time(place)!) == film)
    }

    /// The end of the film before, the clock's time, and where the next one begins.
    @Test(arguments: [(1000, 900, 1000), (1000, 1000, 1000), (1000, 1300, 1300)])
    func `a film that comes too late begins when it comes`(_ end: Int, _ now: Int, _ begin: Int) {
        let next = Self.extent("frames 40-80"), last = Self.extent("frames 0-\(end)")
        #expect(last.shift(of: next, notBefore: Self.time(now)) == Self.time(begin - 40))
    }

    @Test func `turns that are over are forgotten, and a seek forgets all`() {
        var line = FilmTimeline()
        for turn in 1...1000 {
            let start = MediaTime(value: Int64(turn), timescale: 1)
            line.append(.init(start: start, shift: start), now: start - Self.time(1500)!)
            #expect(line.joins.count <= 3)
        }
        #expect(line.count(after: Self.time(999_500)!) == 1)
        #expect(line.filmTime(at: Self.time(999_500)!) == Self.time(500)!)
        line.restart()
        #expect(line.filmTime(at: Self.time(999_500)!) == Self.time(999_500)!)
    }
}
