import Media
import Reading
import SurfacePool
import TestSupport
import Testing

@testable import Writing

/// Parts of films, copied into fragments: what players show of them.
@Suite(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"))
struct FragmentedCutTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var source = "demo.mp4"
        var ending = "mp4"
        /// Frame numbers, at 30 frames a second.
        var first: Int
        var count: Int
        /// Of a fragment, in thirtieths of a second.
        var length: Int64 = 30
        var testDescription: String { "\(source), frames \(first)..<\(first + count), to \(ending) in parts of \(length)" }
    }

    /// The demo is H.264 and has a sync frame each 2 s, the other film is HEVC; both have frames that are decoded before others and shown after them.
    static let rows =
        [
            Row(first: 105, count: 60), Row(ending: "mov", first: 61, count: 1), Row(first: 119, count: 90), Row(first: 0, count: 76),
            Row(ending: "mov", first: 0, count: 121), Row(source: "hevc-10bit.mp4", first: 0, count: 20),
        ]
        // Wherever the end lies between frames that are shown and hidden, and wherever a fragment ends.
        + (1...22).flatMap { count in
            [Row(source: "hevc-10bit.mp4", first: 3, count: count, length: 3), Row(first: 64, count: count, length: Int64(1 + count % 4))]
        }

    private func cut(_ row: Row, _ scratch: Scratch) throws -> String {
        let path = scratch.path("cut.\(row.ending)")
        var options = FilmCopy.Options()
        options.writer.isFragmented = true
        options.writer.fragmentDuration = MediaTime(value: row.length, timescale: 30)
        options.timeRange = MediaTimeRange(
            start: MediaTime(value: Int64(row.first), timescale: 30), duration: MediaTime(value: Int64(row.count), timescale: 30))
        let copy = try FilmCopy(from: TestAssets.path(row.source), to: path, options: options)
        try copy.run()
        #expect(copy.notices == [])
        return path
    }

    private static func frames(_ path: String) throws -> (sums: [String], times: [MediaTime]) {
        let output = try VideoTrackOutput(url: path)
        var sums: [String] = [], times: [MediaTime] = []
        while let frame = try output.nextFrame() {
            sums.append(FrameBytes(frame).md5)
            times.append(frame.presentationTime)
        }
        return (sums, times)
    }

    /// Of the whole films: what FFmpeg and the project's own reader find.
    private static let whole = Result {
        Dictionary(
            uniqueKeysWithValues: try Set(rows.map(\.source)).map { source in
                (source, (Probe.frames(TestAssets.path(source)), try frames(TestAssets.path(source)).sums))
            })
    }

    @Test(arguments: TestExtent.cases(rows, sanitizedStep: 5)) func `a cut in fragments shows exactly the frames that were wanted`(row: Row) throws {
        let scratch = Scratch(), path = try cut(row, scratch), wanted = row.first..<row.first + row.count
        let (theirs, ours) = try #require(try Self.whole.get()[row.source])
        let part = Probe.frames(path), own = try Self.frames(path)
        #expect(part == Array(theirs[wanted]), "FFmpeg shows \(part.count) frames")
        #expect(own.sums == Array(ours[wanted]), "\(own.sums.count) frames")
        // A beginning without frames to hide is that of the film, whose sound begins with what its encoder put in front.
        let first = row.first == 0 ? own.times.first ?? .invalid : .zero
        #expect(own.times.map { $0 - first } == (0..<row.count).map { MediaTime(value: Int64($0), timescale: 30) })
        #expect(BoxReader(try #require(TextFile.bytes(of: path))).faults == [])
    }

    /// Some versions of libavformat give no duration of a packet in fragments, so that the last one is heard to its end there.
    @Test(arguments: [false, true]) func `the sound of a cut begins and ends with the sample that was wanted`(isFragmented: Bool) throws {
        func sound(_ path: String, _ range: MediaTimeRange? = nil) throws -> [Float] {
            let output = try AudioTrackOutput(url: path)
            if let range { try output.reset(forReadingTimeRanges: [range]) }
            var all: [Float] = []
            while let buffer = try output.nextBuffer() { all += buffer.samples }
            return all
        }
        let ranges: [(Int64, Int64)] = [(105_600, 100_001), (0, 70_000), (48_000, 1024), (95_999, 1535)]
        for (start, count) in ranges where !isFragmented || start > 0 {
            let scratch = Scratch(), path = scratch.path("sound.mp4")
            var options = FilmCopy.Options()
            options.writer.isFragmented = isFragmented
            let length = MediaTime(value: count, timescale: 48_000)
            options.timeRange = MediaTimeRange(start: MediaTime(value: start, timescale: 48_000), duration: length)
            try FilmCopy(from: TestAssets.demo, to: path, options: options).run()
            let found = try sound(path), wanted = try sound(TestAssets.demo, options.timeRange), more = found.count / 2 - Int(count)
            #expect(wanted.count == 2 * Int(count) && Array(found.prefix(wanted.count)) == wanted, "\(start) + \(count): \(more) samples more")
            #expect(isFragmented ? 0..<1024 ~= more : more == 0, "\(start) + \(count): \(more) samples more")
        }
    }

    /// The durations in the boxes, whatever version reads them.
    @Test func `the last packet of sound lasts to the end that was wanted`() throws {
        let scratch = Scratch(), path = scratch.path("sound.mp4")
        var options = FilmCopy.Options()
        options.writer.isFragmented = true
        options.timeRange = MediaTimeRange(start: .zero, duration: MediaTime(value: 99_000, timescale: 48_000))
        try FilmCopy(from: TestAssets.demo, to: path, options: options).run()
        let bytes = try #require(TextFile.bytes(of: path)), box = MovieBox(bytes)
        func inside(_ range: Range<Int>) -> Range<Int> { range.lowerBound + 8..<range.upperBound }
        let last = try #require(box.boxes("moof", in: 0..<bytes.count).last), track = try #require(box.boxes("traf", in: inside(last)).last)
        let time = try #require(box.first("tfdt", in: inside(track)))
        // A packet before the beginning holds what the decoder needs.
        let start = box.number(at: time.lowerBound + 12, bytes[time.lowerBound + 8] == 1 ? 8 : 4) - 1024
        let head = try #require(box.first("tfhd", in: inside(track))), run = try #require(box.first("trun", in: inside(track)))
        let flags = box.number(at: run.lowerBound + 8, 4), count = box.number(at: run.lowerBound + 12, 4)
        let usual = box.number(at: head.lowerBound + 16, 4), step = (flags & 0x100 == 0 ? 0 : 4) + (flags & 0x200 == 0 ? 0 : 4)
        let place = run.lowerBound + 20 + (flags & 0x4 == 0 ? 0 : 4) + Int(count - 1) * step
        #expect(start + (count - 1) * 1024 + (flags & 0x100 == 0 ? usual : box.number(at: place, 4)) == 99_000)
    }

    /// A killed process leaves what was written until then.
    @Test func `the edit list has its length from the first fragment on`() throws {
        let scratch = Scratch(), path = scratch.path("growing.mp4")
        var options = FilmCopy.Options()
        options.writer.isFragmented = true
        options.timeRange = MediaTimeRange(start: MediaTime(value: 3, timescale: 2), duration: MediaTime(value: 6, timescale: 1))
        var lengths: Set<Int64> = []
        try FilmCopy(from: TestAssets.demo, to: path, options: options).run(
            isEnded: { false },
            { progress in
                guard progress.sampleCount % 16 == 0, let bytes = TextFile.bytes(of: path), let length = Self.editLength(bytes) else { return }
                lengths.insert(length)
            })
        #expect(lengths.count == 1 && lengths.first == 6 * 384_000, "\(lengths)")
    }

    /// Of the first edit of the first track; nil where there is no index yet.
    private static func editLength(_ bytes: [UInt8]) -> Int64? {
        let box = MovieBox(bytes)
        func inside(_ range: Range<Int>) -> Range<Int> { range.lowerBound + 8..<range.upperBound }
        guard let index = box.first("moov", in: 0..<bytes.count), let track = box.first("trak", in: inside(index)),
            let edits = box.first("edts", in: inside(track)), let list = box.first("elst", in: inside(edits))
        else { return nil }
        return box.number(at: list.lowerBound + 16, 4)
    }

    // MARK: The decision

    typealias Run = MovieFragment.Run

    /// A run whose samples last a unit each, with these offsets.
    private static func run(_ place: Int64, _ samples: [(duration: Int64, offset: Int64)]) -> Run {
        Run(place: place, samples: samples.map { MovieFragment.Sample(duration: $0.duration, byteCount: 10, flags: 7, offset: $0.offset) })
    }

    @Test func `a hidden sample begins a run and is decoded with the one before it`() {
        let film = [Self.run(100, [(2, 4), (2, 8), (2, 2), (2, 6), (2, 2)])]
        let none = MovieFragment.hiding([], in: film, after: 2)
        #expect(none.runs == film && none.earlier == 0)
        // The second and the fourth.
        let some = MovieFragment.hiding([1, 3], in: film, after: 2)
        #expect(some.runs == [Self.run(100, [(0, 4)]), Self.run(110, [(4, 10), (0, 2)]), Self.run(130, [(4, 8), (2, 2)])] && some.earlier == 0)
        // Two that follow each other are decoded at one time.
        let pair = MovieFragment.hiding([1, 2], in: film, after: 2)
        #expect(pair.runs == [Self.run(100, [(0, 4)]), Self.run(110, [(0, 10), (6, 6), (2, 6), (2, 2)])] && pair.earlier == 0)
    }

    @Test func `the first sample of a fragment is hidden where another one lies before it`() {
        let film = [Self.run(100, [(2, 4)]), Self.run(500, [(3, 2)])]
        let first = MovieFragment.hiding([0], in: film, after: 5)
        #expect(first.runs == [Self.run(100, [(7, 9)]), Self.run(500, [(3, 2)])] && first.earlier == 5)
        let alone = MovieFragment.hiding([0], in: film, after: nil)
        #expect(alone.runs == film && alone.earlier == 0)
        // The last one, which begins a run already.
        let last = MovieFragment.hiding([1], in: film, after: 5)
        #expect(last.runs == [Self.run(100, [(0, 4)]), Self.run(500, [(5, 4)])] && last.earlier == 0)
    }
}
