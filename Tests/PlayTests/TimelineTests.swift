import Foundation
import Media
import TestSupport
import Testing

/// `play FILE.otio`.
@Suite struct TimelineTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("timeline-\(UUID().uuidString)").path

    private func inFolder(_ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body()
    }

    private static func time(_ frames: Int) -> String { #"{"OTIO_SCHEMA": "RationalTime.1", "rate": 30, "value": \#(frames)}"# }

    private static func clip(_ first: Int, _ count: Int, _ film: String = TestAssets.demo) -> String {
        let range = #"{"OTIO_SCHEMA": "TimeRange.1", "start_time": \#(time(first)), "duration": \#(time(count))}"#
        return #"""
            {"OTIO_SCHEMA": "Clip.1", "name": "\#(first)", "source_range": \#(range),
             "media_reference": {"OTIO_SCHEMA": "ExternalReference.1", "target_url": "\#(film)"}}
            """#
    }

    private static func transition(_ frames: Int, _ type: String) -> String {
        #"""
        {"OTIO_SCHEMA": "Transition.1", "name": "\#(type)", "transition_type": "\#(type)",
         "in_offset": \#(time(frames)), "out_offset": \#(time(frames))}
        """#
    }

    private static func marker(_ name: String, _ frame: Int) -> String {
        #"""
        {"OTIO_SCHEMA": "Marker.2", "name": "\#(name)",
         "marked_range": {"OTIO_SCHEMA": "TimeRange.1", "start_time": \#(time(frame)), "duration": \#(time(0))}}
        """#
    }

    private static func timeline(_ frames: [String], _ sound: [String], markers: [String] = []) -> String {
        let tracks = [("Video", frames, markers), ("Audio", sound, [])].map { kind, children, markers in
            #"""
            {"OTIO_SCHEMA": "Track.1", "kind": "\#(kind)", "markers": [\#(markers.joined(separator: ","))],
             "children": [\#(children.joined(separator: ","))]}
            """#
        }
        return #"{"OTIO_SCHEMA": "Timeline.1", "name": "Cut", "tracks": {"OTIO_SCHEMA": "Stack.1", "children": [\#(tracks.joined(separator: ","))]}}"#
    }

    @Test func `it shows the frames of the exported film, and lists what is not supported once`() throws {
        try inFolder {
            let path = "\(folder)/cut.otio", film = "\(folder)/film.mkv", sums = ["\(folder)/played.md5", "\(folder)/exported.md5"]
            let frames = [
                Self.clip(60, 12), Self.transition(3, "SMPTE_Dissolve"), Self.clip(200, 12), Self.transition(2, "Spin"), Self.clip(10, 6),
                Self.clip(0, 3, "nowhere.mp4"),
            ]
            try Self.timeline(frames, [Self.clip(60, 30)]).write(toFile: path, atomically: true, encoding: .utf8)
            let played = try PlayProgram.run(["--sink", "md5=\(sums[0])", path])
            #expect(played.code == 0 && !played.crashed)
            let told = played.errors.split(separator: "\n").map(String.init)
            #expect(told.count == 2 && told.allSatisfy { $0.hasPrefix("\(path): at 00:00:0") }, "\(told)")
            #expect(told.first?.contains("Spin") == true && told.last?.contains("nowhere.mp4: No such file or directory") == true, "\(told)")
            let exported = try PlayProgram.run(["convert", path, film, "--video", "ffv1", "--audio", "none"])
            #expect(exported.code == 0 && exported.errors == played.errors, "\(exported.errors)")
            #expect(try PlayProgram.run(["--sink", "md5=\(sums[1])", film]).code == 0)
            let lines = try sums.map { try #require(FrameMD5File(path: $0)).lines }
            #expect(lines[0].count == 33 && lines[0].map(\.hash) == lines[1].map(\.hash))
        }
    }

    @Test func `it plays in a list, with sound, and its statistics say what became of the frames`() throws {
        try inFolder {
            let path = "\(folder)/cut.otio"
            let frames = [Self.clip(60, 9), Self.transition(3, "SMPTE_Dissolve"), Self.clip(200, 9)]
            try Self.timeline(frames, [Self.clip(60, 18)]).write(toFile: path, atomically: true, encoding: .utf8)
            let words = ["--sink", "headless", "--audio-device", "null", "--stats", "-"]
            let outcome = try PlayProgram.run(words + [path, TestAssets.path("short.mp4")])
            #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            let films = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
            let counted = try #require(films.first?["composition"] as? [String: Int])
            #expect(films.count == 2 && films[1]["composition"] is NSNull)
            // A busy machine may be late for some.
            let all = ["framesDrawn", "framesPassedThrough", "framesLate", "framesSkipped"].reduce(0) { $0 + (counted[$1] ?? 0) }
            #expect(all == 18 && counted["framesFailed"] == 0, "\(counted)")
            #expect(films[0]["bytesCopied"] as? Int == 0 && films[0]["bytesWritten"] as? Int ?? 0 > 0)
        }
    }

    @Test(arguments: [(1, 61), (20, 207)]) func `a window shows its frames, those that pass through as those that are drawn`(
        _ frame: Int, _ shown: Int
    ) throws {
        try inFolder {
            let path = "\(folder)/cut.otio", weston = try PrivateWeston(.gl), handle = PlayProgram.Handle()
            // Frames that begin in the middle of a dissolve are drawn: one of two equal films shows the same.
            let frames = [Self.clip(60, 12), Self.clip(199, 6), Self.transition(3, "SMPTE_Dissolve"), Self.clip(205, 12)]
            try Self.timeline(frames, []).write(toFile: path, atomically: true, encoding: .utf8)
            let start = String(Double(frame) / 30 + 0.001)
            let outcome = PlayProgram.begin(
                ["--no-audio", "--pause", "--start", start, "--fullscreen", "--no-exact-colors", "--stats", "-", path],
                environment: ["WAYLAND_DISPLAY": weston.display], handle: handle)
            let isThere = try Polling.until(every: .milliseconds(100)) {
                FrameCode(try weston.screenshot(), in: PixelRect(x: 0, y: 60, width: 640, height: 360))?.number == shown
            }
            handle.send(SIGTERM)
            let end = try outcome()
            #expect(isThere && end.code == 0 && !end.crashed, "\(end.errors)")
            let members = try #require(try JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any])
            let counted = try #require(members["composition"] as? [String: Int])
            #expect((counted[frame == 1 ? "framesPassedThrough" : "framesDrawn"] ?? 0) > 0, "\(counted)")
            #expect(members["bytesCopied"] as? Int == 0)
        }
    }

    @Test(arguments: [("{", 65), ("{}", 65), (nil, 66)] as [(String?, Int32)])
    func `what is no time line is refused with one sentence`(_ text: String?, _ code: Int32) throws {
        try inFolder {
            let path = "\(folder)/cut.otio"
            try text?.write(toFile: path, atomically: true, encoding: .utf8)
            let outcome = try PlayProgram.run(["--sink", "headless", path])
            #expect(outcome.code == code && outcome.errors.hasPrefix("play: \(path): "), "\(outcome.code) \(outcome.errors)")
            #expect(outcome.errors.split(separator: "\n").count == 1)
        }
    }

    /// A folder with the decoder program, and `demuxer` in the place of the other.
    private func programs(_ demuxer: String) throws -> [String: String] {
        let decoder = "\(folder)/scanout-decoder", other = "\(folder)/scanout-demuxer"
        try FileManager.default.createSymbolicLink(atPath: decoder, withDestinationPath: BuiltPrograms.decoder)
        try "#!/bin/sh\n\(demuxer)\n".write(toFile: other, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: other)
        return ["SCANOUT_DECODER": decoder]
    }

    @Test(
        arguments: [
            (["--sandbox", "full", "--sink", "headless"], "kill -SEGV $$", 65, "was killed by signal 11 (Segmentation fault)"),
            (["--sandbox", "full", "--sink", "headless"], "exit 3", 65, "ended with code 3"),
            (["info", "--sandbox", "full"], "printf x >&3; exec /bin/sleep 600", 65, "makes no sense: 120 is no answer"),
            (["compose", "--sandbox", "require"], "kill -KILL $$", 65, "was killed by signal 9 (Killed)"),
        ] as [([String], String, Int32, String)])
    func `a process that fails over its text is one sentence`(
        _ words: [String], _ program: String, _ code: Int32, _ end: String
    ) throws {
        try inFolder {
            let path = "\(folder)/cut.otio"
            try Self.timeline([Self.clip(60, 3)], []).write(toFile: path, atomically: true, encoding: .utf8)
            let outcome = try PlayProgram.run(words + [path], environment: programs(program))
            #expect(outcome.code == code && !outcome.crashed, "\(outcome.code)")
            #expect(outcome.errors == "play: \(path): the process that read it \(end).\n", "\(outcome.errors)")
        }
    }

    @Test func `in processes without rights it shows the same frames`() throws {
        try inFolder {
            let path = "\(folder)/cut.otio"
            let frames = [Self.clip(60, 6), Self.transition(2, "SMPTE_Dissolve"), Self.clip(200, 6), Self.transition(2, "Spin"), Self.clip(10, 3)]
            try Self.timeline(frames, []).write(toFile: path, atomically: true, encoding: .utf8)
            let outside = try PlayProgram.run(["--sink", "md5=-", path]),
                inside = try PlayProgram.run(["--sandbox", "full", "--sink", "md5=-", path])
            #expect(outside.code == 0 && inside.code == 0 && inside.output == outside.output && inside.errors == outside.errors, "\(inside.errors)")
            #expect(FrameMD5File(inside.output)?.lines.count == 15)
            let lacking = try PlayProgram.run(["--sandbox", "require", "--sink", "headless", path], environment: ["SCANOUT_DECODER": "/nowhere"])
            #expect(lacking.code == 69 && lacking.errors.split(separator: "\n").count == 1, "\(lacking.code) \(lacking.errors)")
        }
    }

    @Test func `info lists its parts, chapters and what is not supported, as text and as JSON`() throws {
        try inFolder {
            let path = "\(folder)/cut.otio"
            let frames = [Self.clip(60, 12), Self.transition(2, "Spin"), Self.clip(10, 6)]
            try Self.timeline(frames, [Self.clip(60, 18)], markers: [Self.marker("One", 0), Self.marker("Two", 12)])
                .write(toFile: path, atomically: true, encoding: .utf8)
            let shown = try PlayProgram.run(["info", path])
            let lines = [
                "\(path): OpenTimelineIO, 00:00:00.600", "  title Cut", "  track 0: video, rawvideo, 640x360, 30 fps, default",
                "  track 1: audio, pcm_f32le, 48000 Hz, 2 channels, default", "  chapter 1: 00:00:00.000 to 00:00:00.400, One",
                "  chapter 2: 00:00:00.400 to 00:00:00.600, Two",
                "  track 0, 00:00:00.000 to 00:00:00.400: \(TestAssets.demo) from 00:00:02.000",
                "  track 0, 00:00:00.400 to 00:00:00.600: \(TestAssets.demo) from 00:00:00.333",
                "  track 1, 00:00:00.000 to 00:00:00.600: \(TestAssets.demo) from 00:00:02.000",
            ]
            #expect(shown.code == 0 && shown.output.split(separator: "\n").map(String.init) == lines, "\(shown.output)")
            #expect(shown.errors.contains("Spin") && shown.errors.split(separator: "\n").count == 1, "\(shown.errors)")
            let json = try PlayProgram.run(["info", "--json", path])
            let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
            let parts = try #require(object["parts"] as? [[String: Any]])
            #expect(parts.count == 3 && parts[0]["file"] as? String == TestAssets.demo && parts[0]["fileStartSeconds"] as? Double == 2)
            #expect((object["chapters"] as? [Any])?.count == 2)
            let samples = try PlayProgram.run(["info", "--samples", path])
            #expect(samples.code == 64 && samples.errors.hasSuffix("play: \(path): a time line has no samples.\n"), "\(samples.code)")
        }
    }

    @Test func `frames are those of the film that convert makes of it`() throws {
        try inFolder {
            let path = "\(folder)/cut.otio", film = "\(folder)/film.mkv"
            let frames = [Self.clip(60, 12), Self.transition(3, "SMPTE_Dissolve"), Self.clip(200, 12)]
            try Self.timeline(frames, []).write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try PlayProgram.run(["convert", path, film, "--video", "ffv1"]).code == 0)
            let times = "0.7,0,0.4,0.35,0.767"
            for (source, target) in [(path, "a"), (film, "b")] {
                let outcome = try PlayProgram.run(["frames", source, "--at", times, "-o", "\(folder)/\(target)"])
                #expect(outcome.code == 0, "\(outcome.errors)")
            }
            for time in ["0.700", "0.000", "0.400", "0.350", "0.767"] {
                let images = try ["a/cut", "b/film"].map {
                    try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)-0.00.00.\(time.dropFirst(2)).png"))
                }
                #expect(images[0] == images[1], "at \(time)")
            }
            let late = try PlayProgram.run(["frames", path, "--at", "5", "-o", "\(folder)/c"])
            #expect(late.code == 65 && late.errors == "play: \(path): there is no frame at 00:00:05.000.\n")
        }
    }
}
