import Foundation
import TestSupport
import Testing

/// Films of several tracks, and the options that choose among them.
@Suite final class TrackTests {
    private let folder = NSTemporaryDirectory() + "tracks-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Two tracks of frames and three of sound, each another tone.
    private func film(seconds: Int = 1) throws -> String {
        let path = folder + "/tracks.mkv"
        let tones = [500, 1000, 2000].flatMap { ["-f", "lavfi", "-i", "sine=frequency=\($0):sample_rate=48000:duration=\(seconds)"] }
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=\(seconds)", "-f", "lavfi", "-i",
                "testsrc2=s=96x64:r=25:d=\(seconds)",
            ]
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

    /// What a program needs to find a sound card that is called `recorder`.
    private func recorder() throws -> [String: String] {
        let configuration = folder + "/asound.conf"
        try #"""
        </usr/share/alsa/alsa.conf>
        pcm.recorder {
            type plug slave { pcm { type file file "\#(folder)/card.raw" format raw slave.pcm null } format S16_LE channels 1 rate 48000 }
        }
        """#.write(toFile: configuration, atomically: true, encoding: .utf8)
        return ["ALSA_CONFIG_PATH": configuration]
    }

    /// What the sound card was given.
    private func recorded() throws -> [Int16] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/card.raw"))
        return unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Int16.self)) }
    }

    /// Another track is chosen while the film plays, by its number and by the key.
    @Test(.unsanitized, arguments: [([#""set", "aid", 3"#], 3, 2000), ([#""keypress", "SHARP""#], 2, 1000), ([#""cycle", "aid", "down""#], 3, 2000)])
    func `another sound is heard from there on`(_ commands: [String], _ number: Int, _ frequency: Int) throws {
        let socket = folder + "/socket"
        let ended = PlayProgram.begin(
            ["--sink", "headless", "--audio-device", "recorder", "--aid", "1", "--input-ipc-server", socket, try film(seconds: 30)],
            environment: try recorder())
        let remote = try Remote(socket)
        #expect(Polling.until { remote.get("time-pos") as? Double ?? 0 > 0.7 })
        #expect(remote.get("aid") as? Int == 1)
        for command in commands { #expect(remote.command(command)?["error"] as? String == "success") }
        #expect(remote.get("aid") as? Int == number)
        #expect(Polling.until { remote.get("seeking") as? Bool == false })
        let place = try #require(remote.get("time-pos") as? Double)
        #expect((0.5...29).contains(place))
        #expect(remote.command(#""set", "aid", 4"#)?["error"] as? String == "error accessing property")
        #expect(Polling.until { remote.get("time-pos") as? Double ?? 0 > place + 1.5 })
        remote.send("quit")
        let outcome = try ended()
        #expect(outcome.code == 0, "\(outcome.errors)")
        // Of each tenth of a second that holds one tone, its periods a second.
        let tones = try Self.tones(recorded())
        #expect(tones.first.map { abs($0 - 500) <= 20 } == true && tones.last.map { abs($0 - frequency) <= 20 } == true, "\(tones)")
        #expect(tones.allSatisfy { abs($0 - 500) <= 20 || abs($0 - frequency) <= 20 }, "\(tones)")
        #expect(tones.count { abs($0 - frequency) <= 20 } >= 5, "\(tones)")
    }

    /// Periods a second of each tenth of a second in which the sound neither begins, ends nor changes.
    private static func tones(_ samples: [Int16]) -> [Int] {
        stride(from: 0, to: samples.count - 4800, by: 4800).compactMap { first in
            let part = samples[first..<first + 4800]
            func periods(_ part: ArraySlice<Int16>) -> Int { zip(part, part.dropFirst()).count { $0 < 0 && $1 >= 0 } }
            let counts = stride(from: first, to: first + 4800, by: 1200).map { periods(samples[$0..<$0 + 1200]) }
            guard let least = counts.min(), let most = counts.max(), least > 5, most - least <= 2 else { return nil }
            return periods(part) * 10
        }
    }

    /// The number of periods a second, of what the sound card was given.
    @Test(
        arguments: [
            ([], 1000, ""), (["--aid", "1"], 500, ""), (["--aid", "3"], 2000, ""), (["--alang", "fr,de"], 2000, ""), (["--alang", "xx,en"], 500, ""),
            (["--aid", "4"], 1000, "has 3 sound tracks, not 4"), (["--vid", "no", "--aid", "3"], 2000, ""), (["--no-video"], 1000, ""),
        ] as [([String], Int, String)])
    func `the chosen sound is heard`(_ arguments: [String], _ frequency: Int, _ notice: String) throws {
        let environment = try recorder()
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--audio-device", "recorder"] + arguments + [film()], environment: environment)
        #expect(outcome.code == 0 && (notice.isEmpty ? outcome.errors.isEmpty : outcome.errors.contains(notice)), "\(outcome.errors)")
        let samples = try recorded()
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
