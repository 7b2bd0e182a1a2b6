import Foundation
import TestSupport
import Testing

/// `--start` and `--end`: the part of a film that plays.
@Suite struct PartTests {
    private static func frames(_ options: [String], _ film: String) throws -> [Substring] {
        let outcome = try PlayProgram.run(["--sink", "md5=-"] + options + [film])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    /// The demo with chapters at 0, 4 and 7 s.
    private static func chapters() throws -> String {
        let path = ProcessFolder.path("chapters.mkv"), texts = ProcessFolder.path("chapters.txt")
        let list = [(0, 4), (4, 7), (7, 10)].map { "[CHAPTER]\nTIMEBASE=1/1\nSTART=\($0)\nEND=\($1)\n" }.joined()
        try Data((";FFMETADATA1\n" + list).utf8).write(to: URL(fileURLWithPath: texts))
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", TestAssets.demo, "-i", texts, "-map_metadata", "1", "-c", "copy", path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path
    }

    @Test(arguments: [
        (["--start=50%"], ["--start=5"]), (["--start", "-4"], ["--start=6"]), (["--end=-7"], ["--duration=3"]), (["--end", "30%"], ["--duration=3"]),
        (["--start=2", "--end=4"], ["--start=2", "--duration=2"]), (["--start=+2", "--length=1", "--end=9"], ["--start=2", "--duration=1"]),
        (["--start=2", "--length=30%"], ["--start=2", "--duration=3"]),
    ]) func `a part is named in several ways`(_ one: [String], _ other: [String]) throws {
        let shown = try Self.frames(one, TestAssets.demo)
        #expect(shown.count > 20 && shown.count < 200)
        #expect(try shown == Self.frames(other, TestAssets.demo))
    }

    @Test func `a part begins and ends with chapters`() throws {
        let film = try Self.chapters()
        let shown = try Self.frames(["--start=#2", "--end=#3"], film)
        // The container counts milliseconds, so that the first frame of the next chapter may begin in this one.
        #expect((90...91).contains(shown.count), "\(shown.count)")
        #expect(try shown == Self.frames(["--start=4", "--end=7"], film))
        // A film without such a chapter plays as a whole, and a sentence says so.
        let whole = try PlayProgram.run(["--sink", "md5=-", "--start=#9", film])
        #expect(whole.code == 0 && whole.errors.contains("has 3 chapters, not 9"), "\(whole.errors)")
        #expect(whole.output.split(separator: "\n").count { !$0.hasPrefix("#") } == 300)
    }

    @Test(arguments: [
        ["--start=soon"], ["--start=101%"], ["--end=#0"], ["--end", "2", "--raw", "h264"], ["--duration=0"], ["--length=101%"], ["--length=-2"],
    ]) func `what makes no sense is refused`(
        _ options: [String]
    ) throws {
        #expect(try PlayProgram.run(options + [TestAssets.demo]).code == 64)
    }
}
