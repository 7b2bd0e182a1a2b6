import Decoding
import Demuxing
import Media
import PixelConversion
import Reading
import SampleQueue
import Sandbox
import SurfacePool
import TestSupport
import Testing

/// Ranges of films against decoding the whole film, frame by frame.
@Suite struct VideoRangeTests {
    /// A raw stream with an unfinished frame. It says no times, and the one estimated for its last frame differs when decoding begins anew.
    private static let withoutTimes: Set<String> = ["h264-misc/edge264/finish-frame.264"]

    /// Two films of each ending in each group that are not large.
    static let thirdPartyFilms: [String] = {
        guard let catalog = MediaCatalog.shared else { return [] }
        var count: [String: Int] = [:]
        return catalog.sweep.filter { film in
            let sides = film.size.split(separator: "x").compactMap { Int($0) }
            guard film.group != "malformed", film.group != "hls", film.frameMD5 != nil, !withoutTimes.contains(film.path), sides.count == 2,
                sides[0] * sides[1] <= 1280 * 720
            else { return false }
            let kind = film.group + (film.path.split(separator: ".").last ?? "")
            count[kind, default: 0] += 1
            return count[kind]! <= 2
        }.map { catalog.path($0.path) }
    }()

    @Test("a random range has exactly the frames of a full decode", arguments: FullDecode.ownFilms + thirdPartyFilms)
    func randomRanges(path: String) throws {
        let film = try FullDecode.frames(path)
        let output = try VideoTrackOutput(url: path, options: .software)
        try #require(film.count > 0, "\(path)")
        // A few raw streams have times that go back or stand still: no range says which of their frames are meant.
        let step = MediaTime(value: 1, timescale: 500)
        guard zip(film, film.dropFirst()).allSatisfy({ $0.time + step <= $1.time }) else { return }
        var dice = Dice(seed: 12)
        for round in 0..<TestExtent.rounds(6, full: 50, sanitized: 2) {
            let range = Self.range(in: film, round, &dice)
            try output.reset(forReadingTimeRanges: [range])
            let expected = FullDecode.part(film, range), frames = try output.remaining()
            #expect(
                frames == expected, "\(path) \(range): \(frames.count) frames from \(frames.first?.time.description ?? "-"), not \(expected.count)")
            if frames != expected { return }
        }
    }

    /// Beginnings and ends on frames, between frames, before the first and after the last.
    private static func range(in film: [FullDecode.Frame], _ round: Int, _ dice: inout Dice) -> MediaTimeRange {
        let first = Int.random(in: 0..<film.count, using: &dice), last = min(first + Int.random(in: 0..<12, using: &dice), film.count - 1)
        let nudge = MediaTime(value: Int64.random(in: -9...9, using: &dice), timescale: 1000)
        switch round % 3 {
        case 0: return MediaTimeRange(start: film[first].time, end: film[last].time)
        case 1: return MediaTimeRange(start: film[first].time + nudge, end: film[last].time + nudge)
        default: return MediaTimeRange(start: film[first].time, duration: MediaTime(value: 1, timescale: 1000))
        }
    }

    @Test("without ranges all frames come", arguments: FullDecode.ownFilms)
    func everything(path: String) throws {
        let film = try FullDecode.frames(path)
        #expect(try VideoTrackOutput(url: path, options: .software).remaining() == film)
    }

    @Test func `what is shown after a range that ends at a sync sample is not decoded`() throws {
        let statistics = FrameStatistics()
        var options = ReadingOptions.software
        options.statistics = statistics
        let output = try VideoTrackOutput(url: TestAssets.demo, options: options)
        // Sync samples every two seconds, thirty frames a second.
        for (round, start) in [2, 6, 4, 2].enumerated() {
            let second = MediaTime(value: Int64(start), timescale: 1)
            try output.reset(forReadingTimeRanges: [MediaTimeRange(start: second, duration: MediaTime(value: 2, timescale: 1))])
            #expect(try output.remaining().count == 60 && statistics.framesDecoded == (round + 1) * 60, "from \(start): \(statistics.framesDecoded)")
        }
    }

    @Test func `several ranges come in the order given, in one go`() throws {
        let film = try FullDecode.frames(TestAssets.demo)
        let output = try VideoTrackOutput(url: TestAssets.demo, options: .software)
        let ranges = [(5, 7), (1, 2), (1, 2), (9, 20)].map {
            MediaTimeRange(start: MediaTime(value: $0.0, timescale: 1), end: MediaTime(value: $0.1, timescale: 1))
        }
        for _ in 0..<2 {
            try output.reset(forReadingTimeRanges: ranges)
            #expect(try output.remaining() == ranges.flatMap { FullDecode.part(film, $0) })
        }
        try output.reset(forReadingTimeRanges: [])
        #expect(try output.nextFrame() == nil)
        try output.reset(forReadingTimeRanges: [MediaTimeRange(start: MediaTime(value: 100, timescale: 1), end: .positiveInfinity)])
        #expect(try output.nextFrame() == nil, "behind the end of the film there is no frame")
    }

    @Test func `through processes without rights the frames are the same`() throws {
        let film = try FullDecode.frames(TestAssets.demo)
        var options = ReadingOptions.software
        options.sandbox = SandboxOptions(policy: .require, decoderPath: BuiltPrograms.decoder)
        let output = try VideoTrackOutput(url: TestAssets.demo, options: options)
        let range = MediaTimeRange(start: MediaTime(value: 33, timescale: 10), end: MediaTime(value: 4, timescale: 1))
        try output.reset(forReadingTimeRanges: [range])
        #expect(try output.remaining() == FullDecode.part(film, range))
    }

    @Test func `an edit list is applied or not by choice`() throws {
        let path = TestAssets.path("edit-list.mp4")
        var options = ReadingOptions.software
        let edited = try VideoTrackOutput(url: path, options: options).remaining()
        options.appliesEdits = false
        let whole = try VideoTrackOutput(url: path, options: options).remaining()
        #expect(whole.count > edited.count)
        #expect(whole.suffix(edited.count).map(\.md5) == edited.map(\.md5))
    }

    @Test func `frames come in the wanted form, and in the decoder's own memory without one`() throws {
        var options = ReadingOptions.software
        options.decoder.requirements = OutputRequirements(formats: [.bgra], sizes: [PixelSize(width: 320, height: 180)])
        let converted = try VideoTrackOutput(url: TestAssets.demo, options: options)
        guard let frame = try converted.nextFrame() else { throw ReadingError(.noFrame, "no frame comes") }
        #expect(frame.pixelFormat == .bgra && frame.visible.size == PixelSize(width: 320, height: 180))
        #expect(converted.conversion != nil)
        let plain = try VideoTrackOutput(url: TestAssets.demo, options: .software)
        _ = try plain.nextFrame()
        #expect(plain.conversion == nil)
    }

    // MARK: The output's life

    @Test func `its status says how far it has come`() throws {
        let output = try VideoTrackOutput(url: TestAssets.path("short.mp4"), options: .software)
        _ = try output.remaining()
        #expect(output.status == .reading, "other ranges may follow")
        output.markConfigurationAsFinal()
        #expect(output.status == .completed)
        #expect(throws: ReadingError.self) { try output.reset(forReadingTimeRanges: [.all]) }
        let early = try VideoTrackOutput(url: TestAssets.path("short.mp4"), options: .software)
        early.markConfigurationAsFinal()
        #expect(early.status == .reading)
        _ = try early.remaining()
        #expect(early.status == .completed && early.error == nil)
    }

    @Test func `a cancelled output throws from then on`() throws {
        let output = try VideoTrackOutput(url: TestAssets.demo, options: .software)
        _ = try output.nextFrame()
        output.cancel()
        #expect(output.status == .cancelled)
        for _ in 0..<2 {
            let error = #expect(throws: ReadingError.self) { try output.nextFrame() == nil }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func `what cannot be read is an error with a sentence`() throws {
        let missing = #expect(throws: ReadingError.self) { try VideoTrackOutput(url: "/nowhere/film.mp4") }
        #expect(missing?.code == .source(.noSuchFile))
        let sound = #expect(throws: ReadingError.self) { try VideoTrackOutput(url: TestAssets.path("audio-only.flac")) }
        #expect(sound?.code == .noTrack && sound?.description.hasSuffix("it has no video track.") == true)
    }

    @Test func `an asynchronous loop gets the same frames and holds the decoder back`() async throws {
        let film = try FullDecode.frames(TestAssets.demo)
        var options = ReadingOptions.software
        options.decoder.holdCount = 3
        let output = try VideoTrackOutput(url: TestAssets.demo, options: options)
        let range = MediaTimeRange(start: MediaTime(value: 1, timescale: 1), end: MediaTime(value: 2, timescale: 1))
        try output.reset(forReadingTimeRanges: [range])
        var frames: [FullDecode.Frame] = []
        for try await frame in output.frames { frames.append(FullDecode.Frame(frame.copy())) }
        #expect(frames == FullDecode.part(film, range))
    }

    @Test func `cancelling the task cancels the output`() async throws {
        let output = try VideoTrackOutput(url: TestAssets.demo, options: .software)
        let task = Task {
            for try await _ in output.frames { try output.reset(forReadingTimeRanges: [.all]) }
        }
        task.cancel()
        await #expect(throws: ReadingError.self) { try await task.value }
        #expect(output.status == .cancelled)
    }
}
