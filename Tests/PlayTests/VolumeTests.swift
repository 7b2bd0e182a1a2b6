import Foundation
import TestSupport
import Testing

/// How loud sound is, as a sound card gets it.
@Suite final class VolumeTests {
    private let folder = NSTemporaryDirectory() + "volume-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// A tone of 1 kHz, whose peaks are at `level` eighths of full scale, with tags.
    private func tone(level: Int, tags: [String] = []) throws -> String {
        let path = folder + "/tone.flac"
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=frequency=1000:sample_rate=48000:duration=1,volume=\(level)",
        ]
        process.arguments.append(contentsOf: tags.flatMap { ["-metadata", $0] } + [path])
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path
    }

    /// Level, options, the expected peaks. A volume is the third power of its percentage; clipped tones would have more power for their peaks.
    @Test(.unsanitized, arguments: ["1 100 0.125", "1 50 0.015625", "1 130 0.2746", "1 150 0.4219", "7 100 0.875", "7 130 1", "7 200 1"])
    func `volumes are perceived ones, and what is too loud is limited, not clipped`(row: String) throws {
        let words = row.split(separator: " ").map(String.init), peak = try #require(Double(words[2])), film = try tone(level: #require(Int(words[0])))
        // Sound that comes late on a busy machine leaves a gap.
        #expect(try withinAttempts { try faults(film, ["--volume", words[1], "--volume-max", "200"], peak: peak) } == [])
    }

    /// The tone's peaks are at an eighth of full scale.
    @Test(
        .unsanitized,
        arguments: [
            ([], 0.125), (["--replaygain", "track"], 0.0625), (["--replaygain", "album", "--sandbox", "full"], 0.25),
            (["--replaygain", "track", "--replaygain-preamp", "40"], 1), (["--replaygain", "track", "--replaygain-preamp=-6.0206"], 0.03125),
        ] as [([String], Double)])
    func `sound is as loud as its tags say, and no louder than its peak allows`(_ options: [String], _ peak: Double) throws {
        let film = try tone(
            level: 1, tags: ["REPLAYGAIN_TRACK_GAIN=-6.0206 dB", "REPLAYGAIN_TRACK_PEAK=0.125", "REPLAYGAIN_ALBUM_GAIN=6.0206 dB"])
        #expect(try withinAttempts { try faults(film, options, peak: peak) } == [])
    }

    @Test func `sound without tags has the gain for such`() throws {
        let film = try tone(level: 1), options = ["--replaygain", "track", "--replaygain-fallback=-6.0206", "--replaygain-preamp", "3"]
        #expect(try withinAttempts { try faults(film, options, peak: 0.0625) } == [])
    }

    private func faults(_ film: String, _ options: [String], peak: Double) throws -> [String] {
        let recording = folder + "/card.raw", configuration = folder + "/asound.conf"
        try #"""
        </usr/share/alsa/alsa.conf>
        pcm.recorder { type plug slave { pcm { type file file "\#(recording)" format raw slave.pcm null } format S16_LE channels 1 rate 48000 } }
        """#.write(toFile: configuration, atomically: true, encoding: .utf8)
        try? FileManager.default.removeItem(atPath: recording)
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--audio-device", "recorder"] + options + [film],
            environment: ["ALSA_CONFIG_PATH": configuration])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: recording))
        let samples = unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Int16.self)) }.map { Double($0) / 32768 }
        guard let first = samples.firstIndex(where: { abs($0) > peak / 2 }), samples.count > first + 36_000 else { return ["too little sound"] }
        let middle = samples[(first + 12_000)..<(first + 36_000)]
        let greatest = middle.map(abs).max() ?? 0, power = (middle.reduce(0) { $0 + $1 * $1 } / 24_000).squareRoot()
        let isLoud = abs(greatest / peak - 1) < 0.01, isPure = abs(power / (peak * 0.5.squareRoot()) - 1) < 0.01
        return isLoud && isPure ? [] : ["peaks at \(greatest), a power of \(power)"]
    }

    @Test(arguments: ["--volume=131 130", "--volume=-1 130", "--volume-max=99 1000", "--volume-max=1001 1000", "--replaygain-preamp=151 150"])
    func `a volume beyond the limits is one sentence`(row: String) throws {
        let parts = row.split(separator: " ").map(String.init), words = parts[1]
        let outcome = try PlayProgram.run([parts[0], TestAssets.path("plain.mp4")])
        #expect(outcome.code == 64 && outcome.errors.contains("must lie between") && outcome.errors.contains(words), "\(outcome.errors)")
    }
}
