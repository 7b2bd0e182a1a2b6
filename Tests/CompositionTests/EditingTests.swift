import Composition
import Media
import TestSupport
import Testing

/// Inserting, removing and stretching parts of films.
@Suite(.unsanitized)
struct EditingTests {
    static func time(_ value: Int, _ scale: Int32 = 10) -> MediaTime { MediaTime(value: Int64(value), timescale: scale) }
    static func range(_ start: Int, _ end: Int) -> MediaTimeRange { MediaTimeRange(start: time(start), end: time(end)) }

    /// The film and its time that are shown during each tenth of a second; nil where nothing is.
    static func shown(_ track: CompositionTrack) -> [Shown?] {
        let count = Int((track.duration.seconds * 10).rounded())
        return (0..<count).map { unit in
            let time = time(unit)
            guard let segment = track.segment(at: time), let source = segment.source else { return nil }
            return Shown(url: source.url, time: segment.mapping.sourceTime(at: time))
        }
    }

    struct Shown: Hashable {
        var url: String
        var time: MediaTime
    }

    @Test func `segments follow each other exactly, and the film's time follows from them`() throws {
        var film = Composition()
        let track = film.addTrack(.video)
        let ntsc = MediaTimeRange(start: MediaTime(value: 1001, timescale: 24000), duration: MediaTime(value: 48 * 1001, timescale: 24000))
        try film.insert(ntsc, of: CompositionSource(url: "a"), into: track, at: .zero)
        try film.insert(Self.range(0, 10), of: CompositionSource(url: "b"), into: track, at: MediaTime(value: 1, timescale: 3))
        let made = try #require(film.track(track))
        #expect(made.segments.map { $0.source?.url } == ["a", "b", "a"])
        let third = MediaTime(value: 1, timescale: 3)
        #expect(made.segments[1].range == MediaTimeRange(start: third, duration: Self.time(10)))
        #expect(made.segments[2].mapping.source.start == MediaTime(value: 1001, timescale: 24000) + third)
        #expect(made.segments[2].mapping.source.end == ntsc.end && !made.duration.hasBeenRounded)
        #expect(made.duration == MediaTime(value: 48 * 1001, timescale: 24000) + Self.time(10))
        let snapshot = film
        try film.remove(Self.range(0, 30))
        #expect(film.duration < snapshot.duration && snapshot.track(track) == made)
    }

    @Test func `a stretched part runs at another speed, and is cut where it is shown`() throws {
        var film = Composition()
        let track = film.addTrack(.sound)
        try film.insert(Self.range(0, 30), of: CompositionSource(url: "a", trackID: 1), into: track, at: Self.time(10))
        try film.scale(Self.range(20, 30), to: Self.time(40))
        var made = try #require(film.track(track))
        #expect(made.segments.map(\.range) == [Self.range(0, 10), Self.range(10, 20), Self.range(20, 60), Self.range(60, 70)])
        #expect(made.segments[0].isEmpty && made.segments[2].mapping.speed == 0.25 && !made.segments[2].mapping.keepsSpeed)
        #expect(made.segments[2].mapping.sourceTime(at: Self.time(50)) == MediaTime(value: 175, timescale: 100))
        #expect(made.segments[2].mapping.targetTime(at: MediaTime(value: 175, timescale: 100)) == Self.time(50))
        try film.remove(Self.range(0, 50))
        made = try #require(film.track(track))
        #expect(made.segments.map(\.range) == [Self.range(0, 10), Self.range(10, 20)])
        #expect(made.segments[0].mapping.source == MediaTimeRange(start: MediaTime(value: 175, timescale: 100), end: Self.time(20)))
    }

    @Test func `what makes no sense is one sentence and changes nothing`() throws {
        var film = Composition()
        let track = film.addTrack(.video), source = CompositionSource(url: "a")
        try film.insert(Self.range(0, 30), of: source, into: track, at: .zero)
        let before = film
        func code(_ body: (inout Composition) throws(CompositionError) -> Void) -> CompositionError.Code? {
            do throws(CompositionError) { try body(&film) } catch {
                #expect(error.description.hasSuffix(".") && !error.description.contains("\n"))
                return error.code
            }
            return nil
        }
        #expect(code { film throws(CompositionError) in try film.insert(Self.range(0, 1), of: source, into: 7, at: .zero) } == .noTrack)
        #expect(code { film throws(CompositionError) in try film.insert(Self.range(3, 3), of: source, into: track, at: .zero) } == .range)
        #expect(code { film throws(CompositionError) in try film.insert(.all, of: source, into: track, at: .zero) } == .time)
        #expect(code { film throws(CompositionError) in try film.insert(Self.range(0, 1), of: source, into: track, at: .indefinite) } == .time)
        #expect(code { film throws(CompositionError) in try film.insert(Self.range(0, 1), of: source, into: track, at: Self.time(-1)) } == .time)
        #expect(
            code { film throws(CompositionError) in try film.insert(Self.range(0, 1), of: source, into: track, at: .zero, duration: .zero) } == .range
        )
        #expect(code { film throws(CompositionError) in try film.scale(Self.range(20, 31), to: Self.time(5)) } == .range)
        #expect(code { film throws(CompositionError) in try film.scale(Self.range(20, 30), to: Self.time(-5)) } == .range)
        #expect(code { film throws(CompositionError) in try film.removeTrack(9) } == .noTrack)
        #expect(code { film throws(CompositionError) in try film.insertEmpty(lasting: .positiveInfinity, at: .zero) } == .time)
        #expect(film == before)
    }

    @Test func `random edits do what the same edits of a list of tenths of seconds do`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(seed: seed)
        for round in 0..<TestExtent.rounds(200, full: 5000) {
            var film = Composition(), model: [Shown?] = []
            let id = film.addTrack(.video)
            for _ in 0..<Int.random(in: 1...12, using: &dice) {
                let start = Int.random(in: 0...(model.count + 3), using: &dice), length = Int.random(in: 1...20, using: &dice)
                let range = Self.range(start, start + length), inside = start..<max(min(start + length, model.count), start)
                switch Int.random(in: 0...4, using: &dice) {
                case 0, 1:
                    let url = ["a", "b", "c"].randomElement(using: &dice)!, from = Int.random(in: 0...50, using: &dice)
                    try film.insert(Self.range(from, from + length), of: CompositionSource(url: url), into: id, at: Self.time(start))
                    if start > model.count { model += Array(repeating: nil, count: start - model.count) }
                    model.insert(contentsOf: (0..<length).map { Shown(url: url, time: Self.time(from + $0)) }, at: start)
                case 2:
                    try film.edit(id) { track throws(CompositionError) in try track.insertEmpty(lasting: Self.time(length), at: Self.time(start)) }
                    if start > model.count { model += Array(repeating: nil, count: start - model.count) }
                    model.insert(contentsOf: Array(repeating: nil, count: length), at: start)
                case 3:
                    try film.remove(range)
                    if start < model.count { model.removeSubrange(inside) }
                default:
                    guard start + length <= model.count else { continue }
                    // Slower: each tenth is followed by times of the film between two tenths.
                    try film.scale(range, to: Self.time(length * 2))
                    let scaled = try #require(film.track(id))
                    let middle = (0..<length).map { Self.shown(scaled)[start + 2 * $0 + 1] }
                    model.replaceSubrange(inside, with: zip(inside, middle).flatMap { [model[$0], $1] })
                }
                let track = try #require(film.track(id))
                #expect(Self.shown(track) == model, "seed \(seed), round \(round)")
                var end = MediaTime.zero
                for segment in track.segments {
                    #expect(segment.range.start == end && !segment.range.isEmpty, "seed \(seed), round \(round)")
                    end = segment.range.end
                }
                #expect(!zip(track.segments, track.segments.dropFirst()).contains { $0.isEmpty && $1.isEmpty }, "seed \(seed), round \(round)")
                #expect(!end.hasBeenRounded && end == track.duration)
            }
        }
    }
}
