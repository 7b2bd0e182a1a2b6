import Foundation
import TestSupport
import Testing

/// Frames at times and conversions, as programs in C use them.
@Suite(.enabled(if: Installation.isPossible, "a sanitized library serves only sanitized programs")) struct FilmToolsTests {
    @Test(arguments: [[], ["full"]])
    func `a C program finds frames at times`(sandbox: [String]) throws {
        let program = try Installation.shared.get().build(TestAssets.root + "/Tests/CInterface/frames-at.c")
        let outcome = try Tool.run(program, [TestAssets.path("plain.mp4")] + sandbox)
        try #require(outcome.code == 0, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        func line(_ name: String) -> [String] { lines.first { ($0.first ?? "") == name || $0.prefix(2).joined(separator: " ") == name } ?? [] }
        #expect(line("length") == ["length", "1000"])
        #expect(Array(line("one").prefix(4)) == ["one", "500", "yuv420p", "320x180"])
        let list = lines.filter { $0.first == "list" }
        #expect(list.map { $0[1] } == ["1", "4", "2", "0", "3"], "in the order of the film")
        #expect(list.map { $0[2] } == ["0", "33", "500", "900", "1"], "the last one: no frame")
        #expect(list[2].last == line("one").last, "the same frame")
        #expect(Set(list.prefix(4).map { $0.last ?? "" }).count == 4, "four frames")
        #expect(Array(line("small").prefix(4)) == ["small", "533", "bgra", "32x18"])
        #expect(Array(line("kept").prefix(4)) == ["kept", "0", "bgra", "32x18"] && line("kept").last != "0")
        #expect(line("format") == ["format", "-1"] && line("file") == ["file", "-2", "1"])
        #expect(line("null") == ["null", "-1"] && line("cancelled") == ["cancelled", "-6"])
    }

    @Test(arguments: [[], ["full"]])
    func `a C program makes films of a film, and another of its threads sees how far it is`(sandbox: [String]) throws {
        let program = try Installation.shared.get().build(TestAssets.root + "/Tests/CInterface/conversion.c")
        let manager = FileManager.default
        let folder = manager.temporaryDirectory.appendingPathComponent("conversion-\(UUID().uuidString)").path
        try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? manager.removeItem(atPath: folder) }
        let outcome = try Tool.run(program, [TestAssets.demo, folder] + sandbox)
        try #require(outcome.code == 0, "\(outcome.errors)")
        #expect(
            outcome.output.split(separator: "\n").map(String.init) == [
                "copy 0 whole 1 copied 0 again -1", "copy new -2 1", "passes 0 whole 1 copied 0 again -1", "part 0 whole 1 copied 0 again -1",
                "ended 0 whole 1 copied 0 again -1", "cancelled -6 whole 0 copied 0 again -1", "wrong new -1 1", "both new -1 1", "missing new -2 1",
                "null -1 -1",
            ], "\(outcome.output)")
        #expect(try manager.contentsOfDirectory(atPath: folder).sorted() == ["copy.mkv", "ended.mp4", "part.mp4", "passes.mp4"])
        func frames(_ name: String) throws -> String {
            let words = ["-v", "quiet", "-count_frames", "-select_streams", "v:0", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0"]
            return try Tool.run("ffprobe", words + ["\(folder)/\(name)"]).output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        guard manager.isExecutableFile(atPath: "/usr/bin/ffprobe") else { return }
        #expect(try ["copy.mkv", "passes.mp4", "part.mp4"].map(frames) == ["300", "300", "15"])
        let ended = try Int(frames("ended.mp4")) ?? 0
        #expect((1..<300).contains(ended), "\(ended) frames")
    }
}
