import Foundation
import FrameExport
import Media
import TestSupport
import Testing

/// However it is told to end, and whatever hangs then, the program ends, with its statistics, its terminal and its socket in order.
@Suite(.serialized, .unsanitized) struct EndingTests {
    private static let film = ["--sink", "headless", "--no-audio", "--loop", "--stats", "-"]

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT]) func `every signal that asks for the end gets a clean one`(_ signal: Int32) throws {
        let socket = "/tmp/play-ending-\(getpid())-\(UUID().uuidString.prefix(8)).sock", handle = PlayProgram.Handle()
        let ended = PlayProgram.begin(Self.film + ["--export", "unixfd:" + socket, TestAssets.demo], handle: handle)
        // It serves: so it plays.
        let client = try ExportTests.connect(socket)
        handle.send(signal)
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("\"framesPresented\""))
        #expect(!FileManager.default.fileExists(atPath: socket))
        withExtendedLifetime(client) {}
    }

    /// timeout(1) sends its signal to the program and to its group; a terminal that closes does so, too.
    @Test func `two signals at once ask once`() throws {
        let socket = "/tmp/play-ending-\(getpid())-\(UUID().uuidString.prefix(8)).sock", handle = PlayProgram.Handle()
        let ended = PlayProgram.begin(Self.film + ["--export", "unixfd:" + socket, TestAssets.demo], handle: handle)
        let client = try ExportTests.connect(socket)
        // Both wait until it goes on.
        for signal in [SIGSTOP, SIGINT, SIGTERM, SIGCONT] { handle.send(signal) }
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0 && outcome.output.contains("\"framesPresented\""), "\(outcome.output)\(outcome.errors)")
        withExtendedLifetime(client) {}
    }

    @Test func `nohup's SIGHUP is ignored`() throws {
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--no-audio", "--duration", "2", "--stats", "-", TestAssets.demo], signal: (SIGHUP, after: 1),
            launcher: ["sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""])
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
        let members = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome.output)")
        // A busy machine may show some too late.
        let late = try #require((members["framesDropped"] as? [String: Int])?["late"]), shown = try #require(members["framesPresented"] as? Int)
        #expect(shown > 0 && shown + late == 60, "\(outcome.output)")
    }

    /// It wakes for events only. A busy machine can only hide a thread that wakes too often.
    @Test func `the main thread sleeps while the film stands`() throws {
        let handle = PlayProgram.Handle()
        let ended = PlayProgram.begin(["--sink", "headless", "--no-audio", "--pause", TestAssets.demo], handle: handle)
        func wakes() -> Int? {
            guard let pid = handle.processIdentifier, let status = TextFile.contents(of: "/proc/\(pid)/task/\(pid)/status") else { return nil }
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return line?.split(separator: "\t").last.flatMap { Int($0) }
        }
        // Until it has started: its threads are there, and it has slept since.
        var before = 0
        #expect(
            Polling.until(every: .milliseconds(300)) {
                defer { before = wakes() ?? 0 }
                return before > 0 && wakes() == before
            })
        #expect(Polling.holds(for: .seconds(2)) { handle.isRunning })
        #expect(try #require(wakes()) - before <= 4)
        handle.interrupt()
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
    }

    /// Stops the decoder process, which then answers nothing and cannot be asked to end.
    @Test(arguments: [SIGTERM, SIGQUIT]) func `a signal ends a film whose decoder hangs, statistics included`(_ signal: Int32) throws {
        let handle = PlayProgram.Handle()
        let ended = PlayProgram.begin(Self.film + ["--sandbox", "decoder", TestAssets.demo], limit: 40, handle: handle)
        try stopDecoder(of: handle)
        usleep(300_000)
        let told = Date()
        handle.send(signal)
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("\"framesPresented\""), "\(outcome.output)")
        // Ten times what is promised: a busy machine. The decoder's own deadline comes later.
        #expect(Date().timeIntervalSince(told) < 10)
    }

    @Test func `q ends a film whose decoder hangs`() throws {
        let terminal = try PseudoTerminal(), handle = PlayProgram.Handle()
        let ended = PlayProgram.begin(
            Self.film + ["--sandbox", "decoder", TestAssets.demo], limit: 40, handle: handle, terminal: terminal.path)
        try stopDecoder(of: handle)
        #expect(Polling.until { !terminal.isAsFound })
        let told = Date()
        terminal.type("q")
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("\"framesPresented\""), "\(outcome.output)")
        #expect(terminal.isAsFound)
        // Four times what is promised, for a busy machine. The decoder's own deadline is 10 s.
        #expect(Date().timeIntervalSince(told) < 8)
    }

    private func stopDecoder(of handle: PlayProgram.Handle) throws {
        for _ in 0..<3000 {
            if let play = handle.processIdentifier, let decoder = SandboxTests.decoder(of: play),
                TextFile.contents(of: "/proc/\(decoder)/status")?.contains("Seccomp:\t2") == true
            {
                usleep(500_000)
                kill(decoder, SIGSTOP)
                return
            }
            usleep(10_000)
        }
        Issue.record("no decoder process")
    }

    @Test(.neverSanitized, arguments: [8, 10, 12, 14, 16]) func `with too few threads it says so, or plays`(_ limit: Int) throws {
        try #require(getuid() == 0, "only root becomes a user without other processes")
        let user = "--reuid=\(54_000 + limit)"
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--untimed", "--no-audio", TestAssets.demo],
            launcher: ["setpriv", user, "--clear-groups", "bash", "-c", "ulimit -u \(limit); exec \"$0\" \"$@\""])
        #expect(!outcome.crashed && [0, 71].contains(outcome.code), "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == (outcome.code == 0 ? 0 : 1), "\(outcome.errors)")
    }
}
