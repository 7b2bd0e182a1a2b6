import AudioSink
import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing

/// `seek` as a program with Swift's concurrency uses it.
@Suite struct SeekTests {
    private static func paused() -> PlayerConfiguration {
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.startsPaused = true
        return configuration
    }

    private static func code(_ body: () async throws(PlayerError) -> Void) async -> PlayerError.Code? {
        do throws(PlayerError) {
            try await body()
            return nil
        } catch { return error.code }
    }

    @Test func `seek returns when the frame of its time is on the display`() async throws {
        let sink = WatchingSink()
        let player = Player(sink: sink, configuration: Self.paused())
        try await player.open(TestAssets.demo)
        defer { player.close() }
        try await player.seek(to: .seconds(3))
        #expect(sink.sightings.last?.number == 90 && player.state == .paused)
        var dice = Dice(seed: 90)
        for _ in 0..<30 {
            let number = Int.random(in: 0..<300, using: &dice)
            try await player.seek(to: MediaTime(value: Int64(number), timescale: 30))
            #expect(sink.sightings.last?.number == number)
        }
    }

    @Test func `of many seeks at once each returns or was replaced, and the last one's frame stays`() async throws {
        let sink = WatchingSink()
        let player = Player(sink: sink, configuration: Self.paused())
        try await player.open(TestAssets.demo)
        defer { player.close() }
        let codes = await withTaskGroup(of: PlayerError.Code?.self) { group in
            for number in 0..<50 {
                group.addTask { await Self.code { () async throws(PlayerError) in try await player.seek(to: .milliseconds(number * 200)) } }
            }
            var codes: [PlayerError.Code?] = []
            for await code in group { codes.append(code) }
            return codes
        }
        #expect(codes.contains(nil) && codes.allSatisfy { $0 == nil || $0 == .cancelled }, "\(codes)")
        let position = player.position
        #expect(sink.sightings.last?.number == Int((position.seconds * 30).rounded()), "\(position)")
    }

    @Test func `a seek that nobody can show ends when its task is cancelled, when another replaces it and when the player is closed`() async throws {
        let player = Player(sink: SilentSink(), configuration: Self.paused())
        #expect(await Self.code { () async throws(PlayerError) in try await player.seek(to: .zero) } == .notOpen)
        try await player.open(TestAssets.demo)
        @Sendable func seek(_ second: Int) -> Task<PlayerError.Code?, Never> {
            Task { await Self.code { () async throws(PlayerError) in try await player.seek(to: .seconds(second)) } }
        }
        let cancelled = seek(1)
        cancelled.cancel()
        #expect(await cancelled.value == .cancelled)
        let replaced = seek(2)
        while player.position != MediaTime(value: 2, timescale: 1) { await Task.yield() }
        let last = seek(3)
        #expect(await replaced.value == .cancelled)
        while player.position != MediaTime(value: 3, timescale: 1) { await Task.yield() }
        #expect(player.state == .preparing)
        player.close()
        #expect(await last.value == .notOpen)
        #expect(await Self.code { () async throws(PlayerError) in try await player.seek(to: .zero) } == .notOpen)
    }

    /// Its sound is over after half a second, and once more behind each seek.
    @Test func `a film ends that is sought in when its sound was over`() async throws {
        let path = NSTemporaryDirectory() + "tail-\(UUID().uuidString.prefix(8)).mkv"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=3", "-f", "lavfi", "-i", "sine=d=0.5", "-c:v", "mpeg4", "-g", "5", "-c:a", "aac", path])
        var configuration = PlayerConfiguration()
        configuration.audioDevice = "null"
        let player = Player(sink: HeadlessSink(), configuration: configuration)
        try await player.open(path)
        defer { player.close() }
        let renderer = try #require(player.audioRenderer)
        #expect(Polling.until { renderer.hasFinished })
        try await player.seek(to: .milliseconds(2800))
        #expect(Polling.until { player.state == .ended })
        // Also from the end, to where there is sound and to where there is none.
        for milliseconds in [2600, 100, 2700] {
            try await player.seek(to: .milliseconds(milliseconds))
            #expect(Polling.until { player.state == .ended }, "\(milliseconds)")
        }
    }

    @Test func `a source that cannot seek says so, and goes on`() async throws {
        var configuration = Self.paused()
        configuration.rawCodec = .h264
        let player = Player(sink: HeadlessSink(), configuration: configuration)
        try await player.open(TestAssets.path("annexb.h264"))
        defer { player.close() }
        #expect(await Self.code { () async throws(PlayerError) in try await player.seek(to: .seconds(1)) } == .notSeekable)
        player.rate = 16
        player.play()
        for await event in player.events { if case .ended = event { break } }
        #expect(player.state == .ended && player.statistics.framesPresented > 0)
    }
}
