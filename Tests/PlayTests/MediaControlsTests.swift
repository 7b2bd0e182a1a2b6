import Foundation
import Media
import TestSupport
import Testing

/// The player on a session's bus, under the control of playerctl, which others wrote.
@Suite(.serialized) final class MediaControlsTests {
    private let bus = ChildProcess()
    private let path = "/tmp/play-bus-\(getpid())-\(UUID().uuidString.prefix(8))"
    private var environment: [String: String] { ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)"] }

    init() throws {
        bus.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        bus.arguments = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path=\(path)"]
        bus.standardOutput = FileHandle.nullDevice
        bus.standardError = FileHandle.nullDevice
        try bus.run()
        let path = path
        try #require(Polling.until { FileManager.default.fileExists(atPath: path) })
    }

    deinit {
        bus.send(SIGKILL)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// What playerctl answers, without the end of the line.
    private func playerctl(_ words: String...) -> String {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["playerctl"] + words
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardError = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        guard (try? process.run()) != nil else { return "" }
        let text = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func waits(for answer: String, _ words: String) -> Bool {
        let words = words.split(separator: " ").map(String.init)
        return Polling.until {
            switch words.count {
            case 1: playerctl(words[0]) == answer
            default: playerctl(words[0], words[1]) == answer
            }
        }
    }

    @Test func `a film is seen, paused, sought and ended`() throws {
        let film = TestAssets.demo, other = TestAssets.path("plain.mp4")
        let ended = PlayProgram.begin(["--sink", "headless", "--no-audio", "--pause", "--loop", film, other], environment: environment)
        #expect(waits(for: "Paused", "status") && waits(for: "10000000", "metadata mpris:length"))
        #expect(playerctl("metadata", "xesam:url") == "file://\(film)" && playerctl("-l") == "scanout")
        _ = playerctl("position", "5")
        #expect(waits(for: "5.000000", "position"))
        _ = playerctl("volume", "0.25")
        #expect(waits(for: "0.250000", "volume"))
        _ = playerctl("play")
        #expect(waits(for: "Playing", "status"))
        _ = playerctl("pause")
        #expect(waits(for: "Paused", "status"))
        _ = playerctl("next")
        #expect(waits(for: "file://\(other)", "metadata xesam:url"))
        _ = playerctl("stop")
        let outcome = try ended()
        #expect(outcome.code == 0, "\(outcome.errors)")
    }

    @Test func `two players have two names, and one without is not seen`() throws {
        let words = ["--sink", "headless", "--no-audio", "--pause", TestAssets.demo]
        let handles = [PlayProgram.Handle(), PlayProgram.Handle(), PlayProgram.Handle()]
        let first = PlayProgram.begin(words, environment: environment, handle: handles[0])
        #expect(waits(for: "Paused", "status"))
        let second = PlayProgram.begin(words, environment: environment, handle: handles[1])
        let third = PlayProgram.begin(["--no-media-controls"] + words, environment: environment, handle: handles[2])
        #expect(Polling.until { playerctl("-l").split(separator: "\n").count == 2 })
        #expect(playerctl("-l").contains("scanout.instance"))
        for handle in handles { handle.interrupt() }
        for end in [first, second, third] { #expect(try end().code == 0) }
        #expect(Polling.until { playerctl("-l").isEmpty })
    }
}
