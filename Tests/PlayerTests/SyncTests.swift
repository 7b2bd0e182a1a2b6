import AudioSink
import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing

/// Flash and beep of the demo, which lie in the same instant of the film, seen on a display and heard on ALSA's `file` device.
@Suite struct SyncTests {
    /// A beep and the flash nearest to it: how much later the beep is, seconds.
    private func offsets(_ sightings: [WatchingSink.Sighting], _ beeps: [HostTime]) -> [Double] {
        // A flash lasts some pictures; its first counts. The very first picture is on the display before time begins to run.
        let flashes = sightings.enumerated().filter { index, sighting in
            sighting.isFlash && index > 0 && !sightings[index - 1].isFlash
        }.map(\.element.time)
        return beeps.compactMap { beep -> Double? in
            flashes.map { (beep - $0).seconds }.min { abs($0) < abs($1) }.flatMap { abs($0) < 0.4 ? $0 : nil }
        }
    }

    @Test func `flash and beep stay together through start, pause, seek and speed change`() throws {
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
        let pieces = renderer.pieces, statistics = renderer.statistics
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
        let found = offsets(sink.sightings, beeps)
        #expect(found.count >= 5, "beeps \(beeps.count), sightings \(sink.sightings.count)")
        for offset in found { #expect(abs(offset) <= 0.020, "\(offset * 1000) ms of \(found)") }
    }
}
