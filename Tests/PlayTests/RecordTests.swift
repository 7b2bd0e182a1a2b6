import Foundation
import TestSupport
import Testing

/// `play record` where there is no device: ALSA's `null`, which gives silence as fast as it is read, as a microphone.
@Suite(.serialized) struct RecordTests {
    private static func path() -> String { NSTemporaryDirectory() + "record-\(UUID().uuidString.prefix(8)).mkv" }

    private static func arguments(_ path: String) -> [String] { ["record", path, "--microphone", "null", "--audio", "pcm_s16le"] }

    @Test func `the space bar pauses and resumes, q ends, and the last line says so`() throws {
        let terminal = try PseudoTerminal(), path = Self.path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let outcome = PlayProgram.begin(Self.arguments(path), limit: 60, terminal: terminal.path)
        // It has its name from the first fragment on, and so begins before a pause.
        #expect(Polling.until { FileManager.default.fileExists(atPath: path) && !terminal.isAsFound })
        terminal.type("  ")
        terminal.type("xsq")
        let end = try outcome()
        #expect(end.code == 0 && end.errors.wholeMatch(of: /.+: \d+\.\d+ s of sound, .*; paused once\.\n/) != nil, "\(end.errors)")
        #expect(terminal.isAsFound)
    }

    @Test func `the file ends before it is too large, and the last line says so`() throws {
        let path = Self.path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let end = try PlayProgram.run(Self.arguments(path) + ["--max-size", "100KiB"])
        #expect(end.code == 0 && end.errors.hasSuffix("; ended because more would exceed --max-size.\n"), "\(end.errors)")
        let size = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        #expect(size > 20_000 && size <= 102_400, "\(size)")
    }

    @Test func `a disk with too little room is one sentence and code 73`() throws {
        let path = Self.path()
        let end = try PlayProgram.run(Self.arguments(path) + ["--min-free", "1024GiB"])
        #expect(end.code == 73 && end.errors.wholeMatch(of: /play: .+: only \d+ bytes are free, and \d+ are to be left\.\n/) != nil, "\(end.errors)")
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(
        arguments: [
            ["--sink", "headless"], ["--microphone", "null", "--preview"], ["--preview", "--sink", "md5=x"], ["--max-size", "many"],
            ["--microphone", "null", "--hardware", "require"], ["--device", "/dev/dri/renderD128"], ["--hardware", "perhaps"],
        ])
    func `options that make no sense are refused`(options: [String]) throws {
        #expect(try PlayProgram.run(["record", Self.path()] + options).code == 64)
    }
}
