import Foundation
import Glibc
import Media
import TestSupport
import Testing

/// The program on a terminal: its keys, and the terminal afterwards.
@Suite(.serialized) struct TerminalTests {
    private static let film = ["--sink", "headless", "--no-audio", "--loop", "--stats", "-", TestAssets.demo]

    @Test func `q in the terminal ends the program, and the terminal is as it was found`() throws {
        let terminal = try PseudoTerminal()
        #expect(terminal.isAsFound)
        let outcome = PlayProgram.begin(Self.film, limit: 40, terminal: terminal.path)
        #expect(Polling.until { !terminal.isAsFound })
        // An arrow and a key that means nothing on the way.
        terminal.type("\u{1b}[Cx ")
        terminal.type(" q")
        let end = try outcome()
        #expect(end.code == 0 && !end.crashed && end.output.contains("\"framesPresented\""), "\(end.errors)")
        #expect(terminal.isAsFound)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `a signal leaves the terminal as it was found`(_ signal: Int32) throws {
        let terminal = try PseudoTerminal(), handle = PlayProgram.Handle()
        let outcome = PlayProgram.begin(Self.film, limit: 40, handle: handle, terminal: terminal.path)
        #expect(Polling.until { !terminal.isAsFound })
        handle.send(signal)
        #expect(try outcome().code == 0)
        #expect(terminal.isAsFound)
    }

    @Test func `the terminal's keys are read beside a film from standard input`() throws {
        let terminal = try PseudoTerminal()
        // A session of its own, whose terminal this is.
        let launcher = ["setsid", "--ctty", "--wait", "sh", "-c", #"film="$1"; shift; exec "$@" < "$film""#, "sh", TestAssets.demo]
        let outcome = PlayProgram.begin(
            ["--sink", "headless", "--no-audio", "--pause", "--stats", "-", "-"], limit: 40, terminal: terminal.path, launcher: launcher)
        #expect(Polling.until { !terminal.isAsFound })
        terminal.type("q")
        let end = try outcome()
        #expect(end.code == 0 && !end.crashed && end.output.contains("\"framesPresented\""), "\(end.errors)")
        #expect(terminal.isAsFound)
    }

    @Test func `a film from standard input leaves the terminal alone`() throws {
        let terminal = try PseudoTerminal()
        let outcome = PlayProgram.begin(["--sink", "headless", "--no-audio", "-"], limit: 40, signal: (SIGINT, after: 1), terminal: terminal.path)
        #expect(Polling.holds(for: .milliseconds(700)) { terminal.isAsFound })
        _ = try outcome()
    }
}
