import Foundation
import Media
import TestSupport
import Testing

@testable import AudioSink

/// Sound of more speakers than the card has, behind ALSA's `plug`, which takes any number of channels and drops those that are too many.
@Suite(.serialized) struct DownmixTests {
    /// What a tone on one of six speakers becomes on a card of two channels: the level of left and right, as a part of the tone's own.
    private static func levels(ofTone speaker: String) throws -> [Double] {
        let folder = NSTemporaryDirectory() + "downmix-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let film = folder + "/tone.wav", recording = folder + "/card.raw", configuration = folder + "/asound.conf"
        let ffmpeg = ChildProcess()
        ffmpeg.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        ffmpeg.arguments = [
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=frequency=1000:sample_rate=48000:duration=1,aformat=flt", "-af",
            "volume=4,pan=5.1|\(speaker)=c0", "-c:a", "pcm_f32le", film,
        ]
        try ffmpeg.run()
        ffmpeg.waitUntilExit()
        try #"""
        </usr/share/alsa/alsa.conf>
        pcm.two_speakers { type plug slave { pcm { type file file "\#(recording)" format raw slave.pcm null } channels 2 } }
        """#.write(toFile: configuration, atomically: true, encoding: .utf8)
        _ = unsafe setenv("ALSA_CONFIG_PATH", configuration, 1)

        let timebase = Timebase(), sound = FileSound(film)
        let renderer = try AudioRenderer(format: sound.format, source: sound, deviceName: "two_speakers", timebase: timebase)
        timebase.setSource(renderer.clock)
        renderer.start()
        try #require(renderer.waitUntilReady(until: MonotonicClock.shared.now() + .seconds(60)))
        timebase.setRate(1)
        var samples: [Float] = []
        // A quarter of a second from the tone's middle is enough.
        let isRecorded = Polling.until(every: .milliseconds(20)) {
            // Its size first: Foundation keeps 4 KiB of each empty file that it reads.
            guard let size = try? FileManager.default.attributesOfItem(atPath: recording)[.size] as? Int, size > 2 * 24_000 * 4,
                let bytes = try? Data(contentsOf: URL(fileURLWithPath: recording))
            else { return false }
            samples = unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
            return true
        }
        renderer.stop()
        #expect(renderer.statistics.channelCount == 2)
        try #require(isRecorded, "\(samples.count) samples came")
        return (0..<2).map { channel in
            let loudest = stride(from: channel, to: samples.count, by: 2).map { abs(Double(samples[$0])) }.max() ?? 0
            // ffmpeg's sine has an eighth of full scale.
            return loudest / 0.5
        }
    }

    @Test(arguments: [("FL", [1, 0]), ("FR", [0, 1]), ("FC", [0.7071, 0.7071]), ("BL", [0.7071, 0]), ("BR", [0, 0.7071]), ("LFE", [0, 0])])
    func `each speaker is heard as Recommendation ITU-R BS.775 says`(speaker: String, expected: [Double]) async throws {
        // In a process of its own: ALSA reads its configuration once.
        ExitTestWords.give(speaker, "\(expected[0])", "\(expected[1])")
        await #expect(processExitsWith: .success) {
            let words = ExitTestWords.given, speaker = words[0], expected = words.dropFirst().compactMap { Double($0) }
            let levels = try Self.levels(ofTone: speaker)
            try #require(levels.count == 2 && expected.count == 2)
            #expect(zip(levels, expected).allSatisfy { abs($0 - $1) < 0.01 }, "\(speaker): \(levels)")
        }
    }
}
