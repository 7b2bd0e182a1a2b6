import Foundation
import TestSupport
import Testing

/// Films of several tracks, and the options that choose among them.
@Suite final class TrackTests {
    private let folder = NSTemporaryDirectory() + "tracks-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Two tracks of frames and three of sound, each another tone.
    private func film() throws -> String {
        let path = folder + "/tracks.mkv"
        let tones = [500, 1000, 2000].flatMap { ["-f", "lavfi", "-i", "sine=frequency=\($0):sample_rate=48000:duration=1"] }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=1", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=1"]
            + tones + (0..<5).flatMap { ["-map", "\($0)"] }
            + [
                "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=ger", "-metadata:s:a:2", "language=fre", "-disposition:a:1",
                "default",
                "-c:v", "ffv1", "-c:a", "flac", path,
            ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path
    }

    @Test func `info says how each of several tracks is asked for`() throws {
        let outcome = try PlayProgram.run(["info", film()])
        let lines = outcome.output.split(separator: "\n").map(String.init)
        for (number, option) in ["--vid 1", "--vid 2", "--aid 1", "--aid 2", "--aid 3"].enumerated() {
            #expect(lines.contains { $0.contains("track \(number): ") && $0.hasSuffix(", " + option) }, "\(outcome.output)")
        }
        let plain = try PlayProgram.run(["info", TestAssets.path("plain.mp4")])
        #expect(!plain.output.contains("--vid") && !plain.output.contains("--aid"), "one track is no choice: \(plain.output)")
    }

    @Test(arguments: [([], "64x64"), (["--vid", "2"], "96x64"), (["--vid", "1"], "64x64")])
    func `the chosen frames are shown`(_ arguments: [String], _ size: String) throws {
        let outcome = try PlayProgram.run(["--sink", "md5=-"] + arguments + [film()])
        #expect(outcome.code == 0 && outcome.output.contains("#dimensions 0: \(size)"), "\(outcome.output.prefix(400)) \(outcome.errors)")
    }

    /// The number of periods a second, of what the sound card was given.
    @Test(
        arguments: [
            ([], 1000, ""), (["--aid", "1"], 500, ""), (["--aid", "3"], 2000, ""), (["--alang", "fr,de"], 2000, ""), (["--alang", "xx,en"], 500, ""),
            (["--aid", "4"], 1000, "has 3 sound tracks, not 4"), (["--vid", "no", "--aid", "3"], 2000, ""), (["--no-video"], 1000, ""),
        ] as [([String], Int, String)])
    func `the chosen sound is heard`(_ arguments: [String], _ frequency: Int, _ notice: String) throws {
        let recording = folder + "/card.raw", configuration = folder + "/asound.conf"
        try #"""
        </usr/share/alsa/alsa.conf>
        pcm.recorder { type plug slave { pcm { type file file "\#(recording)" format raw slave.pcm null } format S16_LE channels 1 rate 48000 } }
        """#.write(toFile: configuration, atomically: true, encoding: .utf8)
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--audio-device", "recorder"] + arguments + [film()],
            environment: ["ALSA_CONFIG_PATH": configuration])
        #expect(outcome.code == 0 && (notice.isEmpty ? outcome.errors.isEmpty : outcome.errors.contains(notice)), "\(outcome.errors)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: recording))
        let samples = unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Int16.self)) }
        // Half a second from the middle of the tone, wherever the recording begins.
        let first = try #require(samples.firstIndex { abs($0) > 1000 })
        try #require(samples.count > first + 36_000)
        let middle = samples[(first + 12_000)..<(first + 36_000)]
        let periods = zip(middle, middle.dropFirst()).count { $0 < 0 && $1 >= 0 }
        #expect(abs(periods * 2 - frequency) <= 4, "\(periods * 2) periods a second")
    }

    @Test(
        arguments: [
            (["--aid", "0"], 64, "--aid"), (["--aid", "two"], 64, "--aid"), (["--alang", ","], 64, "--alang"),
            (["--no-audio", "--aid", "2"], 64, "exclude each other"), (["--no-video", "--vid", "2"], 64, "exclude each other"),
            (["--no-video", "--no-audio"], 65, "its frames are not wanted"),
        ] as [([String], Int32, String)])
    func `a choice that leaves nothing to play is one sentence`(_ arguments: [String], _ code: Int32, _ words: String) throws {
        let outcome = try PlayProgram.run(["--sink", "headless"] + arguments + [TestAssets.path("plain.mp4")])
        #expect(outcome.code == code && outcome.errors.contains(words), "\(outcome.errors)")
    }
}
