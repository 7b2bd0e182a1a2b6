import Foundation
import TestSupport
import Testing

/// Names of any bytes, and texts of files that a terminal would obey.
@Suite(.serialized) struct NameTests {
    /// `caf\xe9 \x1b[31m` and a line end: Latin-1, an escape sequence, two lines.
    private static let name: [UInt8] = Array("caf".utf8) + [0xE9] + Array(" \u{1b}[31m\nfilm.mp4".utf8)

    /// Runs `play` in a shell that makes the name, because Foundation's names are UTF-8.
    private func run(_ arguments: [String], file: String = TestAssets.path("plain.mp4")) throws -> PlayProgram.Outcome {
        let folder = FileManager.default.temporaryDirectory.path + "/names-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let octal = Self.name.map { "\\" + String(repeating: "0", count: 3 - String($0, radix: 8).count) + String($0, radix: 8) }.joined()
        let script = "cd '\(folder)'; name=$(printf '\(octal)'); ln -s '\(file)' \"$name\"; play=$1; shift; exec \"$play\" \"$@\" \"$name\""
        return try PlayProgram.run(arguments, launcher: ["sh", "-c", script, "sh"])
    }

    @Test(arguments: ["off", "full"]) func `a film plays whatever the bytes of its name are`(sandbox: String) throws {
        let outcome = try run(["--sink", "md5=-", "--sandbox", sandbox])
        let reference = try PlayProgram.run(["--sink", "md5=-", TestAssets.path("plain.mp4")])
        #expect(outcome.code == 0 && !outcome.output.isEmpty && outcome.output == reference.output, "\(outcome.errors)")
    }

    @Test func `a raw stream plays whatever the bytes of its name are`() throws {
        let outcome = try run(["--sink", "md5=-", "--raw", "h264"], file: TestAssets.path("annexb.h264"))
        #expect(outcome.code == 0 && outcome.output.count > 1000, "\(outcome.errors)")
    }

    @Test func `a report shows a name in one line that a terminal only shows`() throws {
        let text = try run(["info"])
        #expect(text.code == 0 && text.output.hasPrefix("caf\u{fffd} \u{fffd}[31m film.mp4: "), "\(text.output)")
        let json = try run(["info", "--json"])
        #expect(json.output.utf8.allSatisfy { $0 == 0x0A || $0 >= 0x20 && $0 != 0x7F }, "\(json.output)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect((object["file"] as? String)?.hasSuffix(" \u{1b}[31m\nfilm.mp4") == true)
    }

    @Test func `an error names a file in one line that a terminal only shows`() throws {
        let outcome = try run(["--sink", "headless"], file: "/nowhere/film.mp4")
        #expect(outcome.code == 66 && outcome.errors == "play: caf\u{fffd} \u{fffd}[31m film.mp4: no such file.\n", "\(outcome.errors)")
    }
}
