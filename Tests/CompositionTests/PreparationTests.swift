import Composition
import Foundation
import Media
import TestSupport
import Testing

/// Films are opened and decoded up to their first frames before these are wanted.
@Suite struct PreparationTests {
    private static func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(value: start, timescale: 10), end: MediaTime(value: end, timescale: 10))
    }

    /// Two tracks: the first has films at 0–10, 10–20 and 40–50, the second one at 15–45.
    private static func film(_ source: CompositionSource = CompositionSource(url: "a")) throws -> (Composition, [Int]) {
        var film = Composition()
        let tracks = [film.addTrack(.video), film.addTrack(.video)]
        for (track, start, end) in [(0, 0, 10), (0, 10, 20), (0, 40, 50), (1, 15, 45)] as [(Int, Int64, Int64)] {
            try film.insert(range(0, end - start), of: source, into: tracks[track], at: MediaTime(value: start, timescale: 10))
        }
        return (film, tracks)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        /// Start, end, the layers from the top; whether the topmost one is passed through.
        var instructions: [(Int64, Int64, [Int], Bool)]
        /// Time, track, segment.
        var expected: [[Int]]
        var testDescription: String { "\(instructions)" }
    }

    @Test(arguments: [
        // Each segment when an instruction needs it first.
        Row(instructions: [(0, 15, [0], false), (15, 20, [1, 0], false), (20, 50, [1], false)], expected: [[0, 0, 0], [10, 0, 1], [15, 1, 1]]),
        // One that is shown later than it begins; the last is not shown.
        Row(instructions: [(0, 20, [0], false), (20, 30, [], false), (30, 50, [1], false)], expected: [[0, 0, 0], [10, 0, 1], [30, 1, 1]]),
        // What lies below a track that is passed through is not.
        Row(
            instructions: [(0, 15, [0], true), (15, 45, [1, 0], true), (45, 50, [0], true)],
            expected: [[0, 0, 0], [10, 0, 1], [15, 1, 1], [45, 0, 3]]),
        Row(
            instructions: [(0, 15, [0], true), (15, 45, [1, 0], false), (45, 50, [0], true)],
            expected: [[0, 0, 0], [10, 0, 1], [15, 1, 1], [40, 0, 3]]),
    ])
    func `each segment is prepared for the time at which it is needed first`(_ row: Row) throws {
        let (film, tracks) = try Self.film()
        var video = VideoComposition(frameDuration: TestFilm.frameDuration, renderSize: Drawing.size)
        video.instructions = row.instructions.map { start, end, layers, isPassed in
            let made = layers.map { VideoCompositionLayer(track: tracks[$0], opacity: isPassed ? 1 : 0.5) }
            return VideoCompositionInstruction(timeRange: Self.range(start, end), layers: made)
        }
        let plan = PreparationPlan(film, video)
        func numbers(_ entries: some Sequence<PreparationPlan.Entry>) -> [[Int]] {
            entries.map { [Int($0.time.seconds * 10), tracks.firstIndex(of: $0.track) ?? -1, $0.segment] }
        }
        #expect(numbers(plan.entries) == row.expected)
        for now in Int64(-1)...51 {
            let end = now + 12, found = plan.needed(after: Self.range(now, now).start, until: Self.range(end, end).start)
            #expect(numbers(found) == row.expected.filter { $0[0] > now && $0[0] <= end }, "at \(now)")
        }
    }

    struct FateRow: Sendable, CustomTestStringConvertible {
        var what: String
        var segment = 1, start: Int64 = 20
        var now: Int64, shown: Int?, needed: [Int]
        var fate = PreparationPlan.Fate.keep
        var testDescription: String { what }
    }

    @Test(arguments: [
        FateRow(what: "it is the next one", now: 10, shown: 0, needed: [1]),
        FateRow(what: "it is the next of several", now: 1, shown: 0, needed: [1, 2]),
        FateRow(what: "a seek back, still within reach", now: 5, shown: 0, needed: [1]),
        FateRow(what: "its first frame", now: 20, shown: 1, needed: []),
        FateRow(what: "a seek just behind the cut", now: 38, shown: 1, needed: [2]),
        FateRow(what: "a seek far into it", now: 41, shown: 1, needed: [], fate: .release),
        FateRow(what: "a seek back, so that another comes first", start: 19, now: 2, shown: 0, needed: [3, 1], fate: .release),
        FateRow(what: "a seek to where nothing is near", now: 90, shown: 4, needed: [], fate: .release),
        FateRow(what: "a seek into an empty part before it", now: 10, shown: nil, needed: [1]),
        FateRow(what: "the reader is outside of the track", now: 99, shown: nil, needed: [], fate: .release),
    ])
    func `what is prepared stays while it is the next one, or is shown`(_ row: FateRow) {
        func time(_ tenths: Int64) -> MediaTime { MediaTime(value: tenths, timescale: 10) }
        let ahead = time(20)
        #expect(
            PreparationPlan.fate(of: (row.segment, time(row.start)), at: time(row.now), shown: row.shown, needed: row.needed, ahead: ahead)
                == row.fate)
    }

    private static func isOpen(_ path: String) -> Bool {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return files.contains { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path }
    }

    @Test func `the next film is open while the first is read, and every frame is right wherever the reader goes`() throws {
        let first = try TestFilm(seed: 210, frames: 25), second = try TestFilm(seed: 211, frames: 25)
        var film = Composition()
        let track = film.addTrack(.video), length = MediaTime(value: 1, timescale: 1)
        try film.insert(MediaTimeRange(start: .zero, duration: length), of: first.source, into: track, at: .zero)
        try film.insert(MediaTimeRange(start: .zero, duration: length), of: second.source, into: track, at: length)
        let video = VideoComposition(showing: film, frameDuration: TestFilm.frameDuration, renderSize: Drawing.size)
        let late = try CompositionVideoOutput(of: film, video, options: CompositionReadingOptions(preparedAhead: .zero))
        for _ in 0..<20 { _ = try late.nextFrame() }
        #expect(Self.isOpen(first.path) && !Self.isOpen(second.path))
        let early = try CompositionVideoOutput(of: film, video)
        _ = try early.nextFrame()
        #expect(Polling.until { Self.isOpen(second.path) })
        // Back and forth before the cut and behind it opens nothing anew.
        var dice = Dice(seed: 212)
        for round in 0..<40 {
            let number = Int.random(in: 5..<40, using: &dice)
            early.reset(forReadingTimeRange: MediaTimeRange(start: TestFilm.frameDuration.multiplied(by: number), end: film.duration))
            guard let frame = try early.nextFrame() else { throw TestFilm.Failure() }
            let wanted = number < 25 ? first.frames[number] : second.frames[number - 25]
            #expect(FloatFrame(Drawing.size, wanted).difference(FrameBytes(frame)) == 0, "round \(round), frame \(number)")
        }
        #expect(early.filmsOpened == 2 && early.conversion == nil)
        // Wherever the reader goes meanwhile, each frame is the right one.
        for round in 0..<60 {
            let number = Int.random(in: 0..<50, using: &dice)
            early.reset(forReadingTimeRange: MediaTimeRange(start: TestFilm.frameDuration.multiplied(by: number), end: film.duration))
            for offset in 0..<min(Int.random(in: 1...4, using: &dice), 50 - number) {
                let shown = number + offset
                guard let frame = try early.nextFrame() else { throw TestFilm.Failure() }
                let wanted = shown < 25 ? first.frames[shown] : second.frames[shown - 25]
                #expect(FloatFrame(Drawing.size, wanted).difference(FrameBytes(frame)) == 0, "round \(round), frame \(shown)")
            }
        }
    }
}
