import Foundation
import Media
import TestSupport
import Testing

/// What a service manager is told: `sd_notify(3)`.
@Suite(.serialized) struct ServiceManagerTests {
    private let manager: NotifySocket

    init() throws { manager = try #require(NotifySocket()) }

    private func environment(patience: HostSpan) -> [String: String] {
        ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "\(patience.nanoseconds / 1000)"]
    }

    /// By a film that plays, and by one that cannot be.
    @Test(
        arguments: [
            (["--no-audio", "--duration", "1", TestAssets.demo], ["READY=1", "WATCHDOG=1"]),
            (["--no-video", "--audio-device", "null", "--duration", "1", TestAssets.demo], ["READY=1", "WATCHDOG=1"]),
            (["--no-audio", "/nowhere/film.mp4"], []),
        ] as [([String], [String])])
    func `it hears that the film is on the screen, or heard`(_ arguments: [String], _ words: [String]) throws {
        let outcome = try PlayProgram.run(["--sink", "headless"] + arguments, environment: environment(patience: .seconds(4)))
        let heard = manager.heard()
        #expect(!outcome.crashed)
        #expect(Set(heard).isSuperset(of: words), "\(heard)")
        // Signs of life come while a film is being opened, too.
        if words.isEmpty { #expect(Set(heard).isSubset(of: ["WATCHDOG=1"])) } else { #expect(heard.last == "STOPPING=1") }
    }

    @Test(.unsanitized, arguments: ["present", "decode"]) func `a film that stands still gives no sign of life`(_ thread: String) throws {
        let handle = PlayProgram.Handle()
        let end = PlayProgram.begin(
            ["--sink", "headless", "--no-audio", "--loop", TestAssets.path("short.mp4")], environment: environment(patience: .seconds(2)), limit: 120,
            handle: handle)
        // Signs of a film that moves, after some turns of the loop.
        var signs = 0
        #expect(
            Polling.until(within: .seconds(60)) {
                signs += manager.heard().count { $0 == "WATCHDOG=1" }
                return signs >= 3
            })
        var stopped = StoppedThread(thread, of: try #require(handle.processIdentifier))
        #expect(stopped != nil)
        // What it says in the first second and a half is of the time before.
        Thread.sleep(forTimeInterval: 3)
        _ = manager.heard()
        #expect(Polling.holds(for: .seconds(3)) { manager.heard().isEmpty })
        stopped = nil
        #expect(Polling.until(within: .seconds(60)) { manager.heard().contains("WATCHDOG=1") })
        handle.interrupt()
        #expect(try end().code == 0)
    }

    /// Two slides of three seconds each, and one that stays.
    @Test(.unsanitized, arguments: [("slides.mp4", ["-r", "1/3", "-t", "6"]), ("still.png", ["-frames:v", "1"])] as [(String, [String])])
    func `a film that has nothing to move gives signs`(_ name: String, _ words: [String]) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString.prefix(8))-\(name)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FFmpeg.run(["-f", "lavfi", "-i", "testsrc=s=64x64"] + words + [path])
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--image-duration", "5", path], environment: environment(patience: .seconds(1)), limit: 120)
        // Two a second; were the film thought to stand still, those of the first half second of each slide.
        let signs = manager.heard().count { $0 == "WATCHDOG=1" }
        #expect(outcome.code == 0 && signs >= 6, "\(signs) signs")
    }
}
