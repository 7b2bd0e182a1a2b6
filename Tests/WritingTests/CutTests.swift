import Media
import Reading
import SurfacePool
import TestSupport
import Testing
import Writing

/// Parts of films, copied: what is shown of them.
@Suite(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"))
struct CutTests {
    /// Frame numbers of the demo, at 30 frames a second with a sync frame each 2 s.
    @Test(arguments: [("mp4", 105, 60), ("mov", 61, 1), ("mp4", 60, 60)])
    func `a cut shows exactly the frames that were wanted`(ending: String, first: Int, count: Int) throws {
        let scratch = Scratch(), path = scratch.path("cut.\(ending)")
        var options = FilmCopy.Options()
        let start = MediaTime(value: Int64(first), timescale: 30)
        options.timeRange = MediaTimeRange(start: start, duration: MediaTime(value: Int64(count), timescale: 30))
        try FilmCopy(from: TestAssets.demo, to: path, options: options).run()
        let whole = Probe.frames(TestAssets.demo), part = Probe.frames(path)
        #expect(part == Array(whole[first..<first + count]), "\(part.count) frames, the first is \(whole.firstIndex(of: part.first ?? "") ?? -1)")
    }

    @Test func `without an edit list it begins with the sync frame`() throws {
        let scratch = Scratch(), path = scratch.path("cut.mkv")
        var options = FilmCopy.Options()
        options.timeRange = MediaTimeRange(start: MediaTime(value: 35, timescale: 10), end: .positiveInfinity)
        try FilmCopy(from: TestAssets.demo, to: path, options: options).run()
        let whole = Probe.frames(TestAssets.demo), part = Probe.frames(path)
        #expect(part == Array(whole[60...]))
    }

    @Test func `an end on request leaves a whole film`() throws {
        let scratch = Scratch(), path = scratch.path("ended.mp4")
        var seen = 0
        try FilmCopy(from: TestAssets.demo, to: path).run(isEnded: { seen >= 200 }, { seen = $0.sampleCount })
        let counts = Probe.packets(path).mapValues { $0.count }
        #expect(seen == 200 && counts.values.reduce(0, +) == 200 && scratch.names == ["ended.mp4"])
    }
}
