import Foundation
import TestSupport
import Testing

/// Frames that a C program serves to another one.
@Suite(.enabled(if: Installation.isPossible, "a sanitized library serves only sanitized programs")) struct ServingTests {
    private static func program() throws -> String { try Installation.shared.get().build(TestAssets.root + "/Tests/CInterface/serving.c") }

    private static func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    @Test(arguments: [["plain.mp4"], ["hevc-10bit.mp4", "plain.mp4", "crop.mp4"]])
    func `another program gets every frame of the films, one after the other on one socket`(_ films: [String]) throws {
        let program = try Self.program(), paths = films.map { TestAssets.path($0) }, socket = ProcessFolder.path("serving-\(films.count).sock")
        let script = """
            program=$1 socket=$2
            shift 2
            "$program" serve "$socket" "$@" &
            "$program" take "$socket"
            code=$?
            wait $! && exit $code
            """
        let outcome = try Tool.run("sh", ["-c", script, "sh", program, socket] + paths)
        #expect(outcome.code == 0, "\(outcome.errors)")
        let direct = try Tool.run(program, ["direct"] + paths), expected = Self.lines(direct.output)
        #expect(direct.code == 0 && expected.count >= 20 && Self.lines(outcome.output) == expected, "\(outcome.output.count) \(direct.errors)")
        #expect(outcome.errors.contains("1 served, \(expected.count) sent, 0 skipped"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test func `a socket that cannot be made has a sentence`() throws {
        let outcome = try Tool.run(Self.program(), ["serve", "/nonexistent/socket", TestAssets.path("plain.mp4")])
        #expect(outcome.code == 73 && outcome.errors.contains("/nonexistent/socket: cannot serve frames here: "), "\(outcome.errors)")
    }
}
