import AudioSink
import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing

@Suite struct LoopTests {
    /// Name, and whether it plays with sound.
    private static let films = [
        ("short.mp4", false), ("plain.mp4", false), ("vp9.webm", false), ("rate-23.976.mp4", false), ("rate-60.mp4", false), ("edit-list.mp4", false),
        ("hevc-10bit.mp4", false), ("av1.mkv", false), ("demo.mp4", true),
    ]

    @Test(arguments: TestExtent.cases(films, sanitizedStep: 4))
    func `a film that loops shows every frame of every turn, each for its time`(_ name: String, _ hasSound: Bool) throws {
        let whole = ExactSink(), once = Player(sink: whole, configuration: Self.configuration(loops: false, hasSound))
        try once.open(TestAssets.path(name))
        #expect(Polling.until(within: .seconds(60)) { once.state == .ended })
        once.close()
        let turn = whole.shown
        try #require(turn.count > 3)

        let sink = ExactSink(), player = Player(sink: sink, configuration: Self.configuration(loops: true, hasSound))
        try player.open(TestAssets.path(name))
        let count = turn.count * 3 + 2
        #expect(sink.wait(for: count))
        #expect(player.state == .playing || player.state == .waiting)
        #expect(player.position <= player.duration)
        player.close()
        let shown = Array(sink.shown.prefix(count))
        #expect(shown.map(\.number) == (0..<count).map { turn[$0 % turn.count].number })
        for (one, next) in zip(shown, shown.dropFirst()) {
            #expect(Self.isNear(next.time, one.time + one.duration), "\(one.time) + \(one.duration), then \(next.time)")
        }
    }

    /// Name, how often it begins again, and whether films may follow.
    @Test(arguments: [("short.mp4", 3, false), ("plain.mp4", 1, false), ("plain.mp4", 2, true), ("audio-only.flac", 2, false)])
    func `a film begins again so many times`(_ name: String, _ count: Int, _ joins: Bool) throws {
        let sink = ExactSink(), ended = Monitor(0)
        var configuration = Self.configuration(loops: false, name.hasSuffix("flac"))
        (configuration.startTime, configuration.loopCount, configuration.joins) = (nil, count, joins)
        let player = Player(sink: sink, configuration: configuration) { event in
            if case .ended = event { ended.change { $0 += 1 } }
        }
        var succession = Succession()
        succession.wanted = { [weak player] in
            _ = LoopThread(name: "choose") { [weak player] in if let player, player.claimNext() { player.endFilms() } }
        }
        player.onSuccession(succession)
        try player.open(TestAssets.path(name))
        #expect(Polling.until(within: .seconds(60)) { player.state == .ended })
        #expect(player.loopsLeft == 0 && (player.duration - player.position).seconds < 0.05)
        if let renderer = player.audioRenderer { #expect(renderer.statistics.framesPlayed >= 48_000 * (count + 1) - 4800) }
        player.close()
        let shown = sink.shown, turn = shown.count / (count + 1)
        if !name.hasSuffix("flac") {
            #expect(turn > 3 && shown.count == turn * (count + 1))
            #expect(shown.map(\.number) == shown.indices.map { shown[$0 % turn].number })
        }
        #expect(ended.withLock { $0 } == 1)
    }

    @Test(arguments: [false, true]) func `a film that plays is told to begin again, then not to`(_ joins: Bool) throws {
        let sink = ExactSink()
        var configuration = Self.configuration(loops: false, false)
        configuration.startsPaused = true
        configuration.joins = joins
        let player = Player(sink: sink, configuration: configuration)
        var succession = Succession()
        succession.wanted = { [weak player] in
            _ = LoopThread(name: "choose") { [weak player] in if let player, player.claimNext() { player.endFilms() } }
        }
        player.onSuccession(succession)
        try player.open(TestAssets.path("plain.mp4"))
        player.loopsLeft = .max
        player.play()
        #expect(sink.wait(for: 100))
        player.loopsLeft = 0
        #expect(Polling.until(within: .seconds(60)) { player.state == .ended })
        player.close()
        let shown = sink.shown
        #expect(shown.count % 30 == 0 && shown.count >= 120, "\(shown.count)")
    }

    @Test(arguments: [0, 1]) func `a film is told before it is open how often it begins again`(_ count: Int) throws {
        let sink = ExactSink()
        var configuration = Self.configuration(loops: count == 0, false)
        configuration.startTime = nil
        let player = Player(sink: sink, configuration: configuration)
        player.loopsLeft = count
        try player.open(TestAssets.path("plain.mp4"))
        #expect(Polling.until(within: .seconds(60)) { player.state == .ended })
        player.close()
        #expect(sink.shown.count == 30 * (count + 1))
    }

    /// An image lasts for its time, as often as it is wanted.
    @Test func `a still image begins again, too`() throws {
        let ended = Monitor(false)
        var configuration = Self.configuration(loops: false, false)
        (configuration.loopCount, configuration.imageDuration) = (2, MediaTime(value: 1, timescale: 5))
        let image = ProcessFolder.path("loop.png"), process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", TestAssets.path("plain.mp4"), "-frames:v", "1", image]
        try process.run()
        process.waitUntilExit()
        let sink = ExactSink(),
            player = Player(sink: sink, configuration: configuration) { event in
                if case .ended = event { ended.change { $0 = true } }
            }
        try player.open(image)
        #expect(Polling.until { ended.withLock { $0 } })
        #expect(sink.shown.count == 3 && player.loopsLeft == 0)
        player.close()
    }

    @Test func `turns that were read ahead and are not shown count again`() async throws {
        let sink = ExactSink()
        var configuration = Self.configuration(loops: false, false)
        configuration.loopCount = 2
        let player = Player(sink: sink, configuration: configuration)
        try await player.open(TestAssets.path("plain.mp4"))
        // All turns are read by now: two seconds are read ahead.
        #expect(sink.wait(for: 5))
        player.pause()
        let before = sink.shown.count
        try await player.seek(to: .zero)
        player.play()
        #expect(Polling.until(within: .seconds(60)) { player.state == .ended })
        player.close()
        #expect(sink.shown.count - before >= 89, "\(sink.shown.count) after \(before)")
    }

    /// Name, sound frames of a turn, and how far two turns may differ: AAC's decoder puts out noise that is never the same.
    @Test(.measuresTime, arguments: [("audio-only.flac", 48_000, 0), ("audio-only.m4a", 96_000, 0.02)] as [(String, Int, Float)])
    func `sound that loops follows itself without a gap, to the sample`(_ name: String, _ length: Int, _ noise: Float) throws {
        let wrong = try withinAttempts { try heard(name, length, noise) }
        #expect(wrong.isEmpty, "\(wrong)")
    }

    /// Plays two turns and says what is wrong with them.
    private func heard(_ name: String, _ length: Int, _ noise: Float) throws -> [String] {
        let path = NSTemporaryDirectory() + "loop-\(UUID().uuidString.prefix(8)).raw"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var configuration = Self.configuration(loops: true, true)
        configuration.startTime = nil
        configuration.audioDevice = "file:FILE=\(path),FORMAT=raw"
        let player = Player(sink: HeadlessSink(), configuration: configuration)
        try player.open(TestAssets.path(name))
        let renderer = try #require(player.audioRenderer)
        #expect(Polling.until { renderer.statistics.framesPlayed > 2 * length + 9600 })
        let statistics = renderer.statistics
        player.close()
        // A busy machine decodes too late.
        guard statistics.framesMissing == 0, statistics.underruns == 0, statistics.realignments == 0 else { return ["\(statistics)"] }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let samples = unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
        guard let begin = samples.firstIndex(where: { $0 != 0 }), samples.count >= begin + 4 * length else { return ["\(samples.count) samples"] }
        // The very first samples may still fade in.
        let different = (1920..<2 * length).count { abs(samples[begin + $0] - samples[begin + 2 * length + $0]) > noise }
        let loudest = samples.reduce(0) { max($0, abs($1)) }
        return different == 0 && loudest > 0.1 ? [] : ["\(different) of \(2 * length) samples differ"]
    }

    @Test func `a seek in a film that loops counts its own time, and so does every turn after it`() async throws {
        let sink = ExactSink(), player = Player(sink: sink, configuration: Self.configuration(loops: true, false))
        try await player.open(TestAssets.path("plain.mp4"))
        #expect(sink.wait(for: 75))
        player.pause()
        let target = MediaTime(value: 1, timescale: 2)
        try await player.seek(to: target)
        #expect(player.position == target)
        // The frame of the seek is the last one; a frame that was on its way when the film paused may stand before it.
        let before = sink.shown.count - 1
        player.play()
        #expect(sink.wait(for: before + 45))
        #expect(player.position <= player.duration)
        player.close()
        let numbers = sink.shown.dropFirst(before).prefix(45).compactMap(\.number)
        let first = try #require(numbers.first), turn = sink.shown.prefix(30).compactMap(\.number)
        let place = try #require(turn.firstIndex(of: first))
        let expected = (0..<45).map { turn[(place + $0) % 30] }
        #expect(numbers == expected)
    }

    /// Containers round times to milliseconds.
    private static func isNear(_ one: MediaTime, _ other: MediaTime) -> Bool { (one - other).magnitude <= MediaTime(value: 1, timescale: 1000) }

    private static func configuration(loops: Bool, _ hasSound: Bool) -> PlayerConfiguration {
        var configuration = PlayerConfiguration()
        // The demo is long; this is the middle of a group of frames.
        if hasSound { configuration.startTime = MediaTime(value: 89, timescale: 10) }
        configuration.loops = loops
        configuration.playsAudio = hasSound
        configuration.audioDevice = "null"
        return configuration
    }
}
