import Foundation
import Media
import TestSupport
import Testing

/// How often films and lists are played, and a program without a film.
@Suite(.unsanitized) struct RepetitionTests {
    private static let plain = TestAssets.path("plain.mp4"), short = TestAssets.path("short.mp4"), other = TestAssets.path("vp9.webm")
    private static func path() -> String { "/tmp/play-remote-\(getpid())-\(UUID().uuidString.prefix(8)).sock" }

    /// The names of the films that `--stats` wrote, and how many frames each had.
    private static func films(_ text: String) throws -> [(name: String, frames: Int)] {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let films = value as? [[String: Any]] ?? [value as? [String: Any] ?? [:]]
        return films.map { film in
            let dropped = (film["framesDropped"] as? [String: Int] ?? [:]).filter { $0.key != "flushed" }
            let name = ((film["file"] as? String ?? "") as NSString).lastPathComponent
            return (name, (film["framesPresented"] as? Int ?? 0) + dropped.values.reduce(0, +))
        }
    }

    @Test(arguments: [["--loop=2"], ["--loop-file=2"], ["--loop", "--loop=2"]]) func `a film is played so many more times`(_ words: [String]) throws {
        let outcome = try PlayProgram.run(["--no-audio", "--sink", "headless", "--stats", "-"] + words + [Self.plain])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let film = try #require(try Self.films(outcome.output).first)
        #expect(film.frames == 90, "\(outcome.output)")
    }

    /// Also where every turn begins anew, because the output takes frames as they come.
    @Test func `a list is played so many times, and each of its films`() throws {
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--untimed", "--stats", "-", "--loop-playlist=2", "--loop=1", Self.short, Self.plain])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let films = try Self.films(outcome.output)
        #expect(films.map(\.name) == ["short.mp4", "plain.mp4", "short.mp4", "plain.mp4"])
        let timed = try PlayProgram.run(
            ["--no-audio", "--sink", "headless", "--stats", "-", "--loop-playlist=2", "--loop=1", Self.short, Self.plain])
        #expect(try Self.films(timed.output).map(\.frames) == [20, 60, 20, 60], "\(timed.output)")
    }

    @Test func `a film that plays is told to begin again, and not to`() throws {
        let path = Self.path()
        let ended = PlayProgram.begin(
            ["--sink", "headless", "--no-audio", "--stats", "-", "--pause", "--speed", "8", "--input-ipc-server", path, TestAssets.demo, Self.other])
        let remote = try Remote(path)
        #expect(remote.get("loop-file") as? Bool == false && remote.get("remaining-file-loops") as? Int == 0)
        #expect(remote.command(#""keypress", "L""#)?["error"] as? String == "success")
        #expect(remote.get("loop-file") as? String == "inf" && remote.get("remaining-file-loops") as? Int == -1)
        #expect(remote.command(#""keypress", "L""#)?["error"] as? String == "success")
        #expect(remote.get("loop-file") as? Bool == false)
        #expect(remote.command(#""set_property", "loop-file", 1"#)?["error"] as? String == "success")
        #expect(remote.get("loop-file") as? Int == 1)
        #expect(remote.command(#""set_property", "pause", false"#)?["error"] as? String == "success")
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
        let films = try Self.films(outcome.output)
        #expect(films.map(\.name) == ["demo.mp4", "vp9.webm"] && films.map(\.frames) == [600, 60], "\(outcome.output)")
    }

    @Test func `with keep_open always each film stays until the next one is wanted`() throws {
        let path = Self.path()
        let ended = PlayProgram.begin(
            ["--sink", "headless", "--no-audio", "--keep-open=always", "--speed", "8", "--input-ipc-server", path, Self.short, Self.plain])
        let remote = try Remote(path)
        #expect(Polling.until { remote.get("eof-reached") as? Bool == true })
        #expect(remote.get("filename") as? String == "short.mp4")
        #expect(remote.command(#""playlist-next""#)?["error"] as? String == "success")
        #expect(Polling.until { remote.get("eof-reached") as? Bool == true && remote.get("filename") as? String == "plain.mp4" })
        #expect(remote.command(#""quit""#)?["error"] as? String == "success")
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
    }

    @Test func `without a film the program waits for one, and waits again`() throws {
        let path = Self.path()
        let ended = PlayProgram.begin(["--idle", "--sink", "headless", "--no-audio", "--stats", "-", "--input-ipc-server", path])
        let remote = try Remote(path)
        #expect(remote.get("idle-active") as? Bool == true && remote.get("playlist-pos") as? Int == -1)
        // A film that is added does not play by itself.
        #expect(remote.command(#""loadfile", "\#(Self.short)", "append""#)?["error"] as? String == "success")
        #expect(remote.get("idle-active") as? Bool == true && remote.get("playlist-count") as? Int == 1)
        #expect(remote.command(#""loadfile", "\#(Self.plain)", "append-play""#)?["error"] as? String == "success")
        #expect(remote.event("start-file")?["playlist_entry_id"] as? Int == 2)
        #expect(remote.event("end-file")?["reason"] as? String == "eof" && remote.event("idle") != nil)
        #expect(remote.get("idle-active") as? Bool == true)
        #expect(remote.command(#""loadfile", "/nowhere.mkv""#)?["error"] as? String == "success")
        #expect(remote.line { $0["reason"] as? String == "error" }?["file_error"] is String)
        #expect(remote.event("idle") != nil)
        #expect(remote.command(#""loadfile", "\#(Self.other)""#)?["error"] as? String == "success")
        #expect(remote.event("file-loaded") != nil)
        #expect(remote.command(#""stop""#)?["error"] as? String == "success")
        #expect(remote.event("idle") != nil && remote.get("playlist-count") as? Int == 0)
        #expect(remote.command(#""quit", 0"#)?["error"] as? String == "success")
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
        #expect(try Self.films(outcome.output).map(\.name) == ["plain.mp4", "nowhere.mkv", "vp9.webm"], "\(outcome.output)")
    }

    @Test func `with idle once the program ends after its films, and a signal ends one that waits`() throws {
        let path = Self.path()
        let ended = PlayProgram.begin(["--idle=once", "--sink", "headless", "--no-audio", "--input-ipc-server", path])
        #expect(try Remote(path).command(#""loadfile", "\#(Self.short)""#)?["error"] as? String == "success")
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
        let handle = PlayProgram.Handle(), second = Self.path()
        let waiting = PlayProgram.begin(["--idle", "--sink", "headless", "--input-ipc-server", second], handle: handle)
        _ = try Remote(second)
        handle.send(SIGTERM)
        let end = try waiting()
        #expect(!end.crashed && end.code == 0, "\(end.errors)")
    }

    /// The next film is opened some seconds before the one that plays ends.
    @Test func `a film that is added when the next one is open already is played after it`() throws {
        let path = Self.path(), handle = PlayProgram.Handle()
        let ended = PlayProgram.begin(
            ["--sink", "headless", "--no-audio", "--stats", "-", "--input-ipc-server", path, TestAssets.demo, Self.other], handle: handle)
        let remote = try Remote(path)
        let isOpen = Polling.until {
            guard let process = handle.processIdentifier else { return false }
            let folder = "/proc/\(process)/fd", manager = FileManager.default
            return (try? manager.contentsOfDirectory(atPath: folder))?.contains { descriptor in
                (try? manager.destinationOfSymbolicLink(atPath: "\(folder)/\(descriptor)")) == Self.other
            } == true
        }
        #expect(isOpen && remote.get("filename") as? String == "demo.mp4")
        #expect(remote.command(#""loadfile", "\#(Self.short)", "append""#)?["error"] as? String == "success")
        #expect(remote.command(#""set_property", "speed", 8"#)?["error"] as? String == "success")
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
        #expect(try Self.films(outcome.output).map(\.name) == ["demo.mp4", "vp9.webm", "short.mp4"], "\(outcome.output)")
    }

    @Test func `a list is changed while it plays`() throws {
        let path = Self.path(), list = ProcessFolder.path("more.txt")
        try Data("\(Self.other)\n\(Self.short)\n".utf8).write(to: URL(fileURLWithPath: list))
        let ended = PlayProgram.begin(["--sink", "headless", "--no-audio", "--pause", "--input-ipc-server", path, Self.plain])
        let remote = try Remote(path)
        func names() -> [String] {
            (remote.get("playlist") as? [[String: Any]] ?? []).map { (($0["filename"] as? String ?? "") as NSString).lastPathComponent }
        }
        #expect(remote.command(#""loadlist", "\#(list)", "append""#)?["error"] as? String == "success")
        #expect(Polling.until { names() == ["plain.mp4", "vp9.webm", "short.mp4"] })
        #expect(remote.command(#""loadfile", "\#(TestAssets.demo)", "insert-next""#)?["error"] as? String == "success")
        #expect(names() == ["plain.mp4", "demo.mp4", "vp9.webm", "short.mp4"])
        #expect(remote.command(#""playlist-move", 3, 0"#)?["error"] as? String == "success")
        #expect(names() == ["short.mp4", "plain.mp4", "demo.mp4", "vp9.webm"] && remote.get("playlist-pos") as? Int == 1)
        #expect(remote.command(#""playlist-remove", 2"#)?["error"] as? String == "success")
        #expect(remote.command(#""playlist-remove", "current""#)?["error"] as? String == "success")
        #expect(Polling.until { remote.get("filename") as? String == "vp9.webm" })
        #expect(names() == ["short.mp4", "vp9.webm"] && remote.get("playlist-pos") as? Int == 1)
        #expect(remote.command(#""playlist-clear""#)?["error"] as? String == "success")
        #expect(names() == ["vp9.webm"] && remote.get("playlist-pos") as? Int == 0)
        #expect(remote.command(#""quit""#)?["error"] as? String == "success")
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
    }
}
