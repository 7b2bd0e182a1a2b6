import AudioSink
import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing

/// Flash and beep of the demo, which lie in the same instant of the film, seen on a display and heard on ALSA's `file` device.
@Suite struct SyncTests {
    private struct Pair: CustomStringConvertible {
        /// Of the film.
        var second: Int
        /// Seconds by which the beep came after the flash.
        var offset: Double
        var description: String { "second \(second): \(offset * 1000) ms" }
    }

    /// Each beep with the flash nearest to it, and how many had none.
    private func pairs(_ sightings: [WatchingSink.Sighting], _ beeps: [HostTime]) -> (found: [Pair], lonely: Int) {
        // A flash lasts some frames; its first counts. The very first frame is on the display before time begins to run.
        let flashes = sightings.enumerated().filter { index, sighting in
            sighting.isFlash && index > 0 && !sightings[index - 1].isFlash
        }.map(\.element)
        // The beep of the film's first instant belongs to that very first frame.
        let begun = sightings.dropFirst().first.map { $0.time + .milliseconds(100) } ?? .distantPast
        let found = beeps.filter { $0 > begun }.map { beep -> Pair? in
            let pairs = flashes.map { flash in Pair(second: (flash.number + 15) / 30, offset: (beep - flash.time).seconds) }
            let nearest: Pair? = pairs.min { (one: Pair, other: Pair) -> Bool in abs(one.offset) < abs(other.offset) }
            guard let nearest, abs(nearest.offset) < 0.2 else { return nil }
            return nearest
        }
        return (found.compactMap { $0 }, found.count { $0 == nil })
    }

    @Test(.measuresTime) func `flash and beep stay together through start, pause, seek and speed change`() throws {
        #expect(try withinAttempts { try played() } == [])
    }

    /// Plays a part of the film, and says where flash and beep are apart.
    private func played() throws -> [String] {
        let path = NSTemporaryDirectory() + "sync-\(ProcessInfo.processInfo.processIdentifier).raw"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sink = WatchingSink()
        var configuration = PlayerConfiguration()
        configuration.audioDevice = "file:FILE=\(path),FORMAT=raw"
        let player = Player(sink: sink, configuration: configuration)
        try player.open(TestAssets.demo)
        // Start, then a pause in the third second.
        #expect(sink.wait { $0.number >= 70 })
        player.pause()
        Thread.sleep(forTimeInterval: 0.3)
        player.play()
        #expect(sink.wait { $0.number >= 100 })
        // Elsewhere, then twice as fast.
        player.seek(to: MediaTime(value: 65, timescale: 10))
        #expect(sink.wait { $0.number >= 220 })
        player.rate = 2
        #expect(sink.wait { $0.number >= 295 })
        let renderer = try #require(player.audioRenderer)
        let pieces = renderer.pieces, statistics = renderer.statistics, told = player.statistics.avOffset
        player.close()

        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let samples = unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
        #expect(statistics.sampleFormat == "float32" && statistics.channelCount == 2)
        let left = stride(from: 0, to: samples.count, by: 2).map { Double(samples[$0]) }
        let rate = Double(statistics.sampleRate)
        let beeps = BeepDetector(sampleRate: rate).beeps(in: left).compactMap { beep -> HostTime? in
            let frame = Int64(beep.time * rate)
            guard let piece = pieces.last(where: { $0.firstFrame <= frame }) else { return nil }
            // What was written and then taken back by a pause or a seek was never heard.
            if let heard = piece.heard, frame >= piece.firstFrame + heard { return nil }
            return piece.began + .seconds(Double(frame - piece.firstFrame) / rate)
        }
        let (found, lonely) = pairs(sink.sightings, beeps)
        var wrong = lonely == 0 ? [] : ["\(lonely) of \(beeps.count) beeps without a flash; \(found)"]
        // Before the pause, after it, after the seek, at double speed.
        for seconds in [[1, 2], [3], [7], [8, 9]] {
            if !found.contains(where: { seconds.contains($0.second) }) { wrong.append("nothing in second \(seconds) of \(found)") }
        }
        wrong += found.filter { abs($0.offset) > 0.020 }.map(\.description)
        // What the player says of itself is what was seen and heard.
        if abs(try #require(told).mean) > 20 { wrong.append("told: \(String(describing: told))") }
        return wrong
    }
}
