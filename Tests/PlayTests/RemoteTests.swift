import Foundation
import Media
import Sandbox
import TestSupport
import Testing

/// `--input-ipc-server`: a program that plays, under the control of another one in mpv's protocol.
@Suite(.unsanitized) struct RemoteTests {
    private static func path() -> String { "/tmp/play-remote-\(getpid())-\(UUID().uuidString.prefix(8)).sock" }
    private static let film = ["--sink", "headless", "--no-audio"]

    @Test func `a film is paused, sought, stepped and ended from afar`() throws {
        let path = Self.path()
        let ended = PlayProgram.begin(Self.film + ["--pause", "--stats", "-", "--input-ipc-server", path, TestAssets.demo])
        let remote = try Remote(path)
        #expect(remote.command(#""observe_property", 7, "pause""#)?["error"] as? String == "success")
        #expect(remote.line { $0["event"] as? String == "property-change" }?["data"] as? Bool == true)
        #expect(Polling.until { remote.get("seeking") as? Bool == false })
        #expect(remote.get("filename") as? String == "demo.mp4" && remote.get("duration") as? Double == 10)
        #expect(remote.get("playlist-pos") as? Int == 0 && remote.get("playlist-count") as? Int == 1)
        #expect(remote.command(#""seek", 4, "absolute""#)?["error"] as? String == "success")
        #expect(remote.event("playback-restart") != nil)
        #expect(remote.get("time-pos") as? Double == 4)
        #expect(remote.command(#""frame-step""#)?["error"] as? String == "success")
        #expect(Polling.until { (remote.get("time-pos") as? Double ?? 0) > 4 })
        #expect(remote.command(#""set_property", "volume", 30"#)?["error"] as? String == "success")
        #expect(remote.get("volume") as? Double == 30)
        #expect(remote.command(#""set_property", "volume", 300"#)?["error"] as? String == "error accessing property")
        #expect(remote.command(#""explode""#)?["error"] as? String == "invalid parameter")
        #expect(remote.get("fullscreen") == nil)
        remote.send("cycle pause")
        #expect(remote.line { $0["event"] as? String == "property-change" }?["data"] as? Bool == false)
        #expect(remote.command(#""quit", 7"#)?["error"] as? String == "success")
        #expect(remote.event("end-file")?["reason"] as? String == "quit")
        #expect(remote.event("shutdown") != nil)
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 7, "\(outcome.errors)")
        #expect(outcome.output.contains("\"framesPresented\""))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `what subtitles say is read and watched, also without a display`() throws {
        let path = Self.path(), file = NSTemporaryDirectory() + "remote-\(UUID().uuidString.prefix(8)).srt"
        try Data("1\n00:00:02,000 --> 00:00:03,500\n<i>Hello</i>\n".utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let ended = PlayProgram.begin(
            Self.film + ["--pause", "--start", "1", "--sub-file", file, "--input-ipc-server", path, TestAssets.demo])
        let remote = try Remote(path)
        #expect(Polling.until { remote.get("sub-text") as? String == "" })
        #expect(remote.get("sub-start") == nil)
        #expect(remote.command(#""observe_property", 3, "sub-text""#)?["error"] as? String == "success")
        #expect(remote.line { $0["event"] as? String == "property-change" }?["data"] as? String == "")
        #expect(remote.command(#""seek", 2.5, "absolute""#)?["error"] as? String == "success")
        #expect(remote.line { $0["event"] as? String == "property-change" }?["data"] as? String == "Hello")
        #expect(remote.get("sub-start") as? Double == 2 && remote.get("sub-end") as? Double == 3.5)
        #expect(remote.get("sub-text/ass") as? String == "{\\i1}Hello{\\i0}")
        #expect(remote.command(#""set_property", "sid", false"#)?["error"] as? String == "success")
        #expect(Polling.until { remote.get("sub-text") == nil })
        #expect(remote.command(#""quit""#)?["error"] as? String == "success")
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
    }

    @Test func `with keep_open a film stays at its end, and goes on from where it is sent`() throws {
        let path = Self.path()
        let ended = PlayProgram.begin(
            Self.film + ["--keep-open", "--speed", "8", "--input-ipc-server", path, TestAssets.path("short.mp4"), TestAssets.path("plain.mp4")])
        let remote = try Remote(path)
        for _ in 0..<2 {
            #expect(Polling.until { remote.get("eof-reached") as? Bool == true && remote.get("filename") as? String == "plain.mp4" })
            #expect(remote.command(#""seek", 0.5, "absolute""#)?["error"] as? String == "success")
            #expect(Polling.until { remote.get("eof-reached") as? Bool == false || (remote.get("time-pos") as? Double ?? 0) > 0.5 })
        }
        #expect(Polling.until { remote.get("eof-reached") as? Bool == true })
        #expect(remote.command(#""quit""#)?["error"] as? String == "success")
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
        #expect(try PlayProgram.run(["--keep-open", "--sink", "md5=-", TestAssets.demo]).code == 64)
    }

    @Test func `a screenshot is answered when its file is there`() throws {
        let path = Self.path(), folder = ProcessFolder.path("shots")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let ended = PlayProgram.begin(Self.film + ["--pause", "--input-ipc-server", path, TestAssets.demo])
        let remote = try Remote(path)
        #expect(Polling.until { remote.get("seeking") as? Bool == false })
        #expect(remote.command(#""seek", 4, "absolute""#)?["error"] as? String == "success" && remote.event("playback-restart") != nil)
        func bytes(_ name: String) -> [UInt8] { (try? [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))) ?? [] }
        for (name, head) in [("a.png", [0x89, 0x50]), ("b.JPG", [0xff, 0xd8]), ("c", [0x89, 0x50])] as [(String, [UInt8])] {
            // What is there gives way.
            try Data("old".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            #expect(remote.command(#""screenshot-to-file", "\#(folder)/\#(name)", "video""#)?["error"] as? String == "success")
            #expect(bytes(name).starts(with: head) && bytes(name).count > 1000)
        }
        #expect(remote.command(#""screenshot-to-file", "\#(folder)/no/a.png""#)?["error"] as? String == "error running command")
        #expect(remote.command(#""quit""#)?["error"] as? String == "success")
        #expect(try ended().code == 0)
    }

    @Test func `films are added, jumped to and replaced`() throws {
        let path = Self.path()
        let ended = PlayProgram.begin(Self.film + ["--pause", "--input-ipc-server", path, TestAssets.demo])
        let remote = try Remote(path)
        let other = TestAssets.path("plain.mp4")
        #expect(remote.command(#""loadfile", "\#(other)", "append""#)?["error"] as? String == "success")
        #expect(remote.command(#""loadfile", "/nonexistent.mkv", "append""#)?["error"] as? String == "success")
        #expect(remote.get("playlist/1/filename") as? String == other && remote.get("playlist-count") as? Int == 3)
        #expect(remote.command(#""playlist-next""#)?["error"] as? String == "success")
        #expect(remote.event("end-file")?["reason"] as? String == "stop")
        #expect(remote.event("start-file")?["playlist_entry_id"] as? Int == 2 && remote.event("file-loaded") != nil)
        #expect(remote.get("path") as? String == other && remote.get("playlist-pos-1") as? Int == 2)
        #expect(remote.command(#""playlist-play-index", 0"#)?["error"] as? String == "success")
        #expect(remote.event("start-file")?["playlist_entry_id"] as? Int == 1 && remote.event("file-loaded") != nil)
        #expect(remote.command(#""loadfile", "/nonexistent.mkv""#)?["error"] as? String == "success")
        #expect(remote.line { $0["reason"] as? String == "error" }?["file_error"] is String)
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 66 && outcome.errors.contains("/nonexistent.mkv"), "\(outcome.errors)")
    }

    @Test func `the program plays on when its remote controls go, and refuses a socket that is another's`() throws {
        let path = Self.path(), handle = PlayProgram.Handle()
        let ended = PlayProgram.begin(Self.film + ["--loop", "--input-ipc-server", path, TestAssets.demo], handle: handle)
        for round in 0..<20 {
            let remote = try Remote(path)
            if round % 2 == 0 { #expect(remote.get("pid") as? Int == handle.processIdentifier.map { Int($0) }) }
            remote.send(#"{ "command": ["observe_property", 1, "time-pos"] }"#)
        }
        let refused = try PlayProgram.run(Self.film + ["--input-ipc-server", path, TestAssets.demo])
        #expect(refused.code == 73 && refused.errors.contains("cannot obey other programs here"), "\(refused.errors)")
        #expect(handle.isRunning)
        handle.send(SIGTERM)
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
