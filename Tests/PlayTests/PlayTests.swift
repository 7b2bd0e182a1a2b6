import Foundation
import TestSupport
import Testing

/// What a user at a shell sees: exit codes, sentences, checksums, statistics, signals.
@Suite(.serialized) struct PlayTests {
    private static let noDisplay = ["WAYLAND_DISPLAY": "nowhere", "XDG_RUNTIME_DIR": "/nonexistent"]

    @Test(
        .unsanitized,
        arguments: [
            (["--sink", "headless", "--untimed", TestAssets.path("plain.mp4")], 0, ""),
            (["--sink", "headless", "/nowhere/film.mp4"], 66, "/nowhere/film.mp4"),
            (["/nowhere/film.mp4"], 66, "/nowhere/film.mp4"),
            (["--sink", "headless", "/proc/self"], 66, "the folder holds no film"),
            (["--sink", "headless", TestAssets.path("README.md")], 65, "README.md"),
            ([TestAssets.path("plain.mp4")], 69, "--sink headless"),
            (["--sink", "wayland", TestAssets.path("plain.mp4")], 69, "--sink headless"),
            (["--sink", "paper", TestAssets.path("plain.mp4")], 64, "--sink"),
            (["--sink", "headless", "--speed", "0", TestAssets.path("plain.mp4")], 64, "--speed"),
            (["--sink", "md5=/nowhere/sums", TestAssets.path("plain.mp4")], 73, "/nowhere/sums"),
            (["--sink", "headless", "--untimed", "--stats", "/nowhere/stats", TestAssets.path("plain.mp4")], 73, "/nowhere/stats"),
            (
                ["--sink", "headless", "--decoder", "hardware", "--device", "/nowhere/renderD1", TestAssets.path("plain.mp4")], 69,
                "/nowhere/renderD1"
            ),
            (["--sink", "headless", "--decoder", "software", "--device", "/dev/null", TestAssets.path("plain.mp4")], 64, "--device"),
            ([], 64, "No film is named.\nUsage: play [OPTIONS] FILE"),
            (["--bogus"], 64, "Unknown option '--bogus'\nUsage: play [OPTIONS] FILE"),
            (["--bogus", TestAssets.path("plain.mp4")], 64, "  See 'play --help' for more information."),
            (["--no-audio"], 64, "No film is named.\nUsage: play [OPTIONS] FILE"),
            (["info", TestAssets.path("plain.mp4")], 0, ""),
            (["info", "/nowhere/film.mp4"], 66, "/nowhere/film.mp4"),
            (["devices"], 0, ""),
            (["--camera", "/dev/video99", "--sink", "headless"], 69, "/dev/video99: there is no such device."),
            (["--camera=/dev/null", "--sink", "headless"], 69, "/dev/null is not a video device."),
            (["--sink", "headless", "--camera", "no such camera"], 69, "There is no camera"),
            (["--camera", "/dev/video99", TestAssets.path("plain.mp4")], 64, "--camera and films exclude each other."),
            (["--loop", "--camera"], 64, "--loop has no meaning with --camera."),
            (["--camera-rate", "30", TestAssets.path("plain.mp4")], 64, "need --camera."),
            (["--camera", "/dev/video99", "--camera-size", "large"], 64, "--camera-size"),
            (["record", "/nowhere/camera.mp4", "--camera", "/dev/null"], 69, "/dev/null is not a video device."),
            (["record", "/nowhere/sound.mp4", "--microphone", "hw:CARD=Nobody"], 69, "hw:CARD=Nobody: there is no such device."),
            (["record", "/nowhere/sound.mp4", "--microphone=no such microphone"], 69, "There is no microphone named"),
            (["record", "/nowhere/sound.mp4", "--camera", "/dev/null", "--microphone", "null"], 69, "/dev/null is not a video device."),
            (["record", "/nowhere/sound.mp4", "--microphone", "null", "--reconnect"], 64, "need --camera"),
            (["record", "/nowhere/sound.mp4", "--audio", "aac"], 64, "need --microphone."),
            (["record"], 64, "<output>"),
            (["record", "/nowhere/camera.mp4", "--duration", "0"], 64, "--duration must be above zero."),
            (["--help"], 0, ""),
            (["--version"], 0, ""),
        ] as [([String], Int32, String)])
    func `the exit code and the sentence fit`(_ arguments: [String], _ code: Int32, _ words: String) throws {
        let outcome = try PlayProgram.run(arguments, environment: Self.noDisplay)
        #expect(!outcome.crashed)
        #expect(outcome.code == code, "\(outcome.errors)")
        #expect(words.isEmpty || outcome.errors.contains(words), "\(outcome.errors)")
        if code == 0 { #expect(outcome.errors.isEmpty, "\(outcome.errors)") }
        if (65...69).contains(code) { #expect(outcome.errors.split(separator: "\n").count == 1, "one sentence: \(outcome.errors)") }
    }

    @Test(arguments: ["plain.mp4", "hevc-10bit.mp4", "vp9.webm", "av1.mkv"])
    func `a film that begins later has the last frames of the whole one, and no other`(name: String) throws {
        func frames(_ arguments: [String]) throws -> [Substring] {
            let outcome = try PlayProgram.run(["--sink", "md5=-", "--no-audio"] + arguments + [TestAssets.path(name)])
            #expect(outcome.code == 0, "\(outcome.errors)")
            return outcome.output.split(separator: "\n").filter { !$0.hasPrefix("#") }
        }
        let whole = try frames([]), late = try frames(["--start", "0.7"])
        let sums = (whole.suffix(late.count), late[...])
        #expect(late.count == 9 && zip(sums.0, sums.1).allSatisfy { $0.split(separator: " ").last == $1.split(separator: " ").last }, "\(late)")
    }

    @Test(.enabled(if: !TestExtent.isSanitized, "a sanitized driver cannot be preloaded"))
    func `hardware required, through libva, gives software's checksums without a copy`() throws {
        let environment = SoftwareVADriver.environment(preloads: true).merging(["PLAYER_VA_CHECK": "1"]) { $1 }
        let stats = "/tmp/hardware-stats-\(getpid()).json"
        defer { unsafe unlink(stats) }
        let hardware = try PlayProgram.run(
            ["--decoder", "hardware", "--device", SoftwareVADriver.device, "--sink", "md5=-", "--stats", stats, TestAssets.demo],
            environment: environment)
        let software = try PlayProgram.run(["--decoder", "software", "--sink", "md5=-", TestAssets.demo])
        #expect(hardware.code == 0 && hardware.output == software.output && hardware.output.count > 10_000, "\(hardware.errors)")
        let members = try JSONSerialization.jsonObject(with: try Data(contentsOf: URL(fileURLWithPath: stats))) as? [String: Any]
        #expect((members?["decoder"] as? String)?.hasPrefix("h264 (VA-API: Player software driver") == true)
        #expect(members?["bytesCopied"] as? Int == 0)
    }

    @Test(
        .enabled(if: !TestExtent.isSanitized, "a sanitized driver cannot be preloaded"), arguments: ["decoder", "full", "require"])
    func `hardware in a process without other rights gives software's checksums without a copy`(sandbox: String) throws {
        // Only the process sees the driver.
        let environment = ["SCANOUT_DECODER": try SoftwareVADriver.decoder(["PLAYER_VA_CHECK": "1"])]
        let stats = "/tmp/sandboxed-hardware-stats-\(getpid()).json"
        defer { unsafe unlink(stats) }
        let decoding = ["--sandbox", sandbox, "--decoder", "hardware", "--device", SoftwareVADriver.device]
        let hardware = try PlayProgram.run(decoding + ["-v", "--sink", "md5=-", "--stats", stats, TestAssets.demo], environment: environment)
        let software = try PlayProgram.run(["--decoder", "software", "--sink", "md5=-", TestAssets.demo])
        #expect(hardware.code == 0 && hardware.output == software.output && hardware.output.count > 10_000, "\(hardware.errors)")
        #expect(hardware.errors.contains("Decoder: h264 (VA-API: Player software driver"), "\(hardware.errors)")
        #expect(hardware.errors.contains(") in a process of its own."), "\(hardware.errors)")
        let members = try JSONSerialization.jsonObject(with: try Data(contentsOf: URL(fileURLWithPath: stats))) as? [String: Any]
        #expect((members?["decoder"] as? String)?.hasPrefix("h264 (VA-API: Player software driver") == true)
        #expect(members?["bytesCopied"] as? Int == 0)
        #expect((members?["sandbox"] as? String)?.hasSuffix("seccomp, limits, with a render node") == true, "\(members ?? [:])")
    }

    @Test(.enabled(if: !TestExtent.isSanitized, "a sanitized driver cannot be preloaded"))
    func `hardware required where a process has none is refused in one sentence`() throws {
        let arguments = ["--sandbox", "decoder", "--decoder", "va-api", "--device", "/dev/null", "--sink", "md5=-", TestAssets.demo]
        let outcome = try PlayProgram.run(arguments)
        #expect(outcome.code == 69 && outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("/dev/null"), "\(outcome.errors)")
    }

    @Test(.enabled(if: !TestExtent.isSanitized, "a sanitized driver cannot be preloaded"))
    func `a device that goes while playing is said in one line, and the film goes on`() throws {
        let environment = SoftwareVADriver.environment(preloads: true).merging(["PLAYER_VA_GONE": "50"]) { $1 }
        let outcome = try PlayProgram.run(
            ["-v", "--device", SoftwareVADriver.device, "--sink", "headless", "--untimed", "--no-audio", TestAssets.demo], environment: environment)
        #expect(outcome.code == 0)
        #expect(outcome.errors.contains("Decoder: h264 (VA-API: Player software driver"), "\(outcome.errors)")
        #expect(outcome.errors.contains("Decoder: h264 (software), because"), "\(outcome.errors)")
    }

    @Test(.enabled(if: !TestExtent.isSanitized, "a sanitized driver cannot be preloaded"))
    func `devices names what a driver decodes, or why there is none`() throws {
        let environment = SoftwareVADriver.environment(preloads: true).merging(["SCANOUT_DECODER": try SoftwareVADriver.decoder()]) { $1 }
        let found = try PlayProgram.run(["devices", "--device", SoftwareVADriver.device], environment: environment)
        #expect(found.output.contains("H264High") && found.output.contains("VLD into NV12"), "\(found.output)")
        let confined = found.output.split(separator: "\n").first { $0.contains("decoder on \(SoftwareVADriver.device)") }
        #expect(confined?.hasSuffix("with a render node") == true, "\(found.output)")
        let none = try PlayProgram.run(["devices", "--device", "/nowhere/renderD1"])
        #expect(none.output.contains("✗ /nowhere/renderD1"), "\(none.output)")
    }

    @Test func `statistics hold every promised member`() throws {
        let outcome = try PlayProgram.run(["--sink", "headless", "--untimed", "--stats", "-", TestAssets.demo])
        let members = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let promised = [
            "file", "decoder", "sink", "pixelFormat", "modifier", "framesDecoded", "framesDeinterlaced", "framesPresented", "framesDropped",
            "bytesWritten",
            "bytesCopied", "conversion", "surfacesAllocated", "poolCapacity", "startupMilliseconds", "presentationErrorMicroseconds",
            "avOffsetMilliseconds", "wallSeconds", "cpuSeconds", "peakRSSBytes", "sandbox", "decoderDeaths", "network", "camera", "composition",
            "soundSandbox", "soundDecoderDeaths", "live", "stalls", "stalledSeconds",
        ]
        #expect(Set(members.keys) == Set(promised))
        #expect(members["framesDecoded"] as? Int == 300 && members["framesPresented"] as? Int == 300)
        #expect(members["bytesCopied"] as? Int == 0)
        #expect(members["conversion"] is NSNull)
        #expect((members["framesDropped"] as? [String: Int])?.values.allSatisfy { $0 == 0 } == true)
        #expect((members["startupMilliseconds"] as? Double ?? 0) > 0)
    }

    @Test func `a raw stream from standard input gives the sums of the file`() throws {
        for (name, codec) in [("annexb.h264", "h264"), ("annexb.h265", "hevc"), ("size-change.h264", "h264")] {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: TestAssets.path(name)))
            let piped = try PlayProgram.run(["--raw", codec, "--sink", "md5=-", "-"], input: bytes)
            let opened = try PlayProgram.run(["--sink", "md5=-", TestAssets.path(name)])
            let sums = [piped, opened].map { FrameMD5File($0.output)?.lines.map(\.hash) ?? [] }
            #expect(!sums[0].isEmpty && sums[0] == sums[1], "\(name)")
        }
    }

    @Test func `a container from standard input plays`() throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: TestAssets.path("vp9.webm")))
        let outcome = try PlayProgram.run(["--sink", "md5=-", "-"], input: bytes)
        let opened = try PlayProgram.run(["--sink", "md5=-", TestAssets.path("vp9.webm")])
        #expect(outcome.code == 0 && outcome.output == opened.output && !opened.output.isEmpty)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `a signal ends it cleanly, statistics included`(_ signal: Int32) throws {
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--no-audio", "--loop", "--stats", "-", TestAssets.demo], limit: 30, signal: (signal, after: 2))
        #expect(!outcome.crashed && outcome.code == 0)
        #expect(outcome.output.contains("\"framesPresented\""))
    }

    @Test func `a signal ends the wait for a source that says nothing`() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/play-\(UUID().uuidString)", fifo = folder + "/fifo", stats = folder + "/stats"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(unsafe mkfifo(fifo, 0o600) == 0)
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--no-audio", "--stats", stats, "-"], limit: 30, signal: (SIGINT, after: 1), terminal: fifo)
        #expect(!outcome.crashed && outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        // Ended by force it would have written nothing.
        #expect(try String(contentsOfFile: stats, encoding: .utf8).contains("\"framesPresented\": 0"))
    }

    @Test func `a part behind the end is none`() throws {
        let outcome = try PlayProgram.run(["--sink", "headless", "--untimed", "--start", "20", TestAssets.demo])
        #expect(outcome.code == 65 && outcome.errors.contains("ends at 00:00:10"), "\(outcome.errors)")
    }

    @Test func `FFmpeg's own words do not reach the viewer`() throws {
        let wrong = try PlayProgram.run(["--sink", "headless", "--untimed", "--raw", "h264", TestAssets.demo])
        #expect(wrong.code == 65 && wrong.errors.split(separator: "\n").count == 1, "\(wrong.errors.suffix(500))")
    }

    @Test func `without a sound device the film plays, and one line says so`() throws {
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--audio-device", "nosuch", "--duration", "0.5", "--stats", "-", TestAssets.demo])
        #expect(outcome.code == 0 && outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        #expect(outcome.output.contains("\"avOffsetMilliseconds\": null"))
    }

    @Test func `sound without a frame names no display, and frames with sound say how far they were apart`() throws {
        let sound = try PlayProgram.run(
            ["--sink", "headless", "--audio-device", "null", "--duration", "0.5", "--stats", "-", TestAssets.path("audio-only.flac")])
        #expect(sound.code == 0 && sound.output.contains("\"sink\": null") && sound.output.contains("\"avOffsetMilliseconds\": null"))
        let film = try PlayProgram.run(["--sink", "headless", "--audio-device", "null", "--duration", "1", "--stats", "-", TestAssets.demo])
        #expect(film.code == 0 && film.output.contains("\"avOffsetMilliseconds\": {"), "\(film.output)")
    }

    @Test func `a part of a film is that part`() throws {
        let all = try PlayProgram.run(["--sink", "md5=-", TestAssets.demo])
        let part = try PlayProgram.run(["--sink", "md5=-", "--start", "3.1", "--duration", "0:02", TestAssets.demo])
        let lines = try #require(FrameMD5File(all.output)).lines, some = try #require(FrameMD5File(part.output)).lines
        #expect(some.map(\.hash) == lines[93..<153].map(\.hash))
    }

    @Test func `info tells tracks, as text and as JSON`() throws {
        let text = try PlayProgram.run(["info", TestAssets.path("rotation-90.mp4")]).output
        #expect(text.contains("h264") && text.contains("rotated 90°"))
        let json = try PlayProgram.run(["info", "--json", TestAssets.demo]).output
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let tracks = try #require(object["tracks"] as? [[String: Any]])
        #expect(tracks.map { $0["kind"] as? String } == ["video", "audio"])
        #expect(tracks[0]["frameRate"] as? String == "30/1")
    }
}
