import Foundation
import PlaySupport
import TestSupport
import Testing

/// Films begin where the viewer left them.
@Suite(.unsanitized) final class ResumeTests {
    private let folder = "/tmp/play-resume-\(getpid())-\(UUID().uuidString.prefix(8))"
    private var socket: String { folder + "/socket" }
    private var places: WatchLater { WatchLater(folder: folder + "/scanout/watch_later") }
    private static let film = TestAssets.demo, other = TestAssets.path("plain.mp4")

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// A film that stands at its first frame, and its remote control.
    private func begin(_ words: [String], handle: PlayProgram.Handle? = nil) throws -> (ended: () throws -> PlayProgram.Outcome, remote: Remote) {
        let all = ["--sink", "headless", "--no-audio", "--pause", "--input-ipc-server", socket] + words
        let ended = PlayProgram.begin(all, environment: ["XDG_STATE_HOME": folder], handle: handle)
        let remote = try Remote(socket)
        #expect(Polling.until { remote.get("seeking") as? Bool == false })
        return (ended, remote)
    }

    private func run(_ words: [String]) throws -> PlayProgram.Outcome { try PlayProgram.run(words, environment: ["XDG_STATE_HOME": folder]) }

    private func leave(at time: Double, _ film: String) throws {
        var state = WatchLaterState()
        state.start = time
        #expect(try places.keep(state, of: film))
    }

    @Test func `Q keeps the place and what was set, and the next time the film begins there, once`() throws {
        var (ended, remote) = try begin([Self.film])
        for command in [#""set", "volume", 30"#, #""set", "speed", 1.5"#, #""set", "deinterlace", "yes""#] {
            #expect(remote.command(command)?["error"] as? String == "success")
        }
        #expect(remote.command(#""seek", 4, "absolute""#)?["error"] as? String == "success")
        #expect(Polling.until { remote.get("time-pos") as? Double == 4 })
        #expect(remote.command(#""keypress", "Q""#)?["error"] as? String == "success")
        let first = try ended()
        #expect(first.code == 0 && first.errors.contains("Where the film is left is kept.\n"), "\(first.errors)")
        #expect(try places.state(of: Self.film)?.start == 4)
        (ended, remote) = try begin([Self.film])
        #expect(remote.get("time-pos") as? Double == 4 && remote.get("volume") as? Double == 30 && remote.get("speed") as? Double == 1.5)
        #expect(remote.get("deinterlace") as? String == "yes")
        #expect(!places.holds(Self.film), "a film that is open has no other place than the one where it is")
        #expect(remote.command(#""quit", 3"#)?["error"] as? String == "success")
        let second = try ended()
        #expect(second.code == 3 && second.errors.contains(" continues at 0:04; --no-resume-playback begins anew.\n"), "\(second.errors)")
        (ended, remote) = try begin([Self.film])
        #expect(remote.get("time-pos") as? Double == 0 && remote.get("volume") as? Double == 100)
        remote.send("quit-watch-later 5")
        #expect(try ended().code == 5)
        #expect(try places.state(of: Self.film)?.text == "start=0.0\n", "nothing else was set")
    }

    @Test(
        .unsanitized,
        arguments: [
            ([], 4.0), (["--no-resume-playback"], 0), (["--resume-playback=no"], 0), (["--start", "2"], 2), (["--start=2", "--speed=1"], 2),
            (["--no-config"], 0), (["--watch-later-dir", "/nowhere"], 0),
        ] as [([String], Double)])
    func `the command line says whether a film begins where it was left`(_ words: [String], _ expected: Double) throws {
        try leave(at: 4, Self.film)
        let (ended, remote) = try begin(words + [Self.film])
        #expect(remote.get("time-pos") as? Double == expected)
        remote.send("quit")
        #expect(try ended().code == 0)
        #expect(places.holds(Self.film) == !(words.isEmpty || words.first?.hasPrefix("--start") == true))
    }

    @Test func `a list begins with the film that was left, and the next one at its beginning`() throws {
        try leave(at: 0.5, Self.other)
        let (ended, remote) = try begin([Self.film, Self.other, Self.film])
        #expect(remote.get("playlist-pos") as? Int == 1 && remote.get("time-pos") as? Double == 0.5)
        remote.send("set pause no")
        #expect(Polling.until { remote.get("playlist-pos") as? Int == 2 && (remote.get("time-pos") as? Double ?? 9) < 9 })
        #expect(remote.get("time-pos") as? Double ?? 9 < 8)
        remote.send("quit")
        #expect(try ended().code == 0)
    }

    @Test func `a film in the middle of a list begins where it was left, too, although the one before plays to its end`() throws {
        let short = TestAssets.path("short.mp4")
        try leave(at: 6, Self.film)
        // It was left later, but stands earlier in the list.
        try leave(at: 0, short)
        // Slowly, so that a busy machine sees it before its end.
        let (ended, remote) = try begin(["--speed", "0.25", short, Self.film])
        remote.send("set pause no")
        #expect(Polling.until { remote.get("playlist-pos") as? Int == 1 && remote.get("time-pos") as? Double ?? 0 >= 6 })
        remote.send("quit")
        #expect(try ended().code == 0)
        #expect(!places.holds(short) && !places.holds(Self.film))
    }

    @Test func `a film that loops begins the next turn at its beginning`() throws {
        try leave(at: 0.5, Self.other)
        let (ended, remote) = try begin(["--loop", Self.other])
        #expect(remote.get("time-pos") as? Double == 0.5)
        remote.send("set pause no")
        #expect(Polling.until { remote.get("time-pos") as? Double ?? 9 < 0.5 })
        remote.send("quit")
        #expect(try ended().code == 0)
    }

    @Test func `a signal keeps the place where that is wanted`() throws {
        let handle = PlayProgram.Handle()
        let (ended, remote) = try begin(["--save-position-on-quit", Self.film], handle: handle)
        #expect(remote.command(#""seek", 7, "absolute""#)?["error"] as? String == "success")
        #expect(Polling.until { remote.get("time-pos") as? Double == 7 })
        handle.send(SIGTERM)
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
        #expect(try places.state(of: Self.film)?.start == 7)
    }

    @Test func `a place is kept and forgotten from afar`() throws {
        let (ended, remote) = try begin([Self.film])
        #expect(remote.command(#""write-watch-later-config""#)?["error"] as? String == "success")
        #expect(Polling.until { places.holds(Self.film) })
        #expect(remote.command(#""delete-watch-later-config""#)?["error"] as? String == "success")
        #expect(Polling.until { !places.holds(Self.film) })
        #expect(remote.command(#""write-watch-later-config""#)?["error"] as? String == "success")
        #expect(remote.command(#""delete-watch-later-config", "\#(Self.film)""#)?["error"] as? String == "success")
        #expect(Polling.until { !places.holds(Self.film) })
        remote.send("quit")
        #expect(try ended().code == 0)
    }

    @Test func `a file that makes no sense is one sentence, and the film plays`() throws {
        try leave(at: 0, Self.film)
        let name = try #require(WatchLater.fileName(for: Self.film, in: "/"))
        let file = places.folder + "/" + name
        try Data("start=\u{1b}[2J".utf8).write(to: URL(fileURLWithPath: file))
        let outcome = try run(["--sink", "headless", "--no-audio", "--duration", "0.1", Self.film])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.errors == "\(file) does not say where a film was left, and the film begins anew.\n")
        #expect(try run(["--sink", "headless", "--no-audio", "--duration", "0.1", "--quiet", Self.film]).errors.isEmpty)
    }

    @Test func `a time that is not in the film any more is its beginning, and checksums are always those of the whole film`() throws {
        try leave(at: 500, Self.other)
        let checked = try run(["--sink", "md5=-", Self.other])
        #expect(checked.code == 0 && checked.output.split(separator: "\n").count { !$0.hasPrefix("#") } == 30, "\(checked.errors)")
        #expect(places.holds(Self.other))
        let (ended, remote) = try begin([Self.other])
        #expect(remote.get("time-pos") as? Double == 0)
        remote.send("quit")
        #expect(try ended().code == 0)
    }
}
