import Demuxing
import Foundation
import Media
import TestSupport
import Testing

/// What containers say of the whole film: texts and chapters.
@Suite struct FilmTextsTests {
    /// Seconds; an end of nil is not stated.
    private static func list(_ stated: [(Double, Double?)], _ duration: Double?) -> [String] {
        let chapters = stated.map { (start: MediaTime(seconds: $0), end: $1.map { MediaTime(seconds: $0) }, title: "\($0)") }
        return AssetChapter.list(chapters, duration: duration.map { MediaTime(seconds: $0) } ?? .indefinite)
            .map { "\($0.title) from \($0.range.start.seconds) to \($0.range.end.seconds)" }
    }

    @Test func `chapters follow one another, and each has an end`() {
        #expect(Self.list([(0, 5), (5, 9.5)], 10) == ["0.0 from 0.0 to 5.0", "5.0 from 5.0 to 9.5"])
        #expect(Self.list([(5, nil), (0, nil)], 10) == ["0.0 from 0.0 to 5.0", "5.0 from 5.0 to 10.0"])
        #expect(Self.list([(2, nil), (2, nil), (3, nil)], 10) == ["2.0 from 2.0 to 3.0", "2.0 from 2.0 to 3.0", "3.0 from 3.0 to 10.0"])
        #expect(Self.list([(4, nil)], nil) == ["4.0 from 4.0 to 4.0"])
        #expect(Self.list([(-1, 3), (4, 1), (20, nil)], 10) == ["-1.0 from 0.0 to 3.0", "4.0 from 4.0 to 4.0", "20.0 from 20.0 to 20.0"])
        #expect(Self.list([], 10).isEmpty)
    }

    @Test(
        .enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"),
        arguments: ["mp4/androidx/sample_with_chapters.mp4", "mkv-webm/androidx/sample_with_chapters.mkv"])
    func `third-party films have the chapters that ffprobe sees`(_ name: String) throws {
        let path = try #require(MediaCatalog.shared).path(name), chapters = try AssetReader(url: path).chapters
        let seen = try Self.probe(path)
        #expect(!chapters.isEmpty && chapters.map(\.title) == seen.map(\.title))
        for (chapter, expected) in zip(chapters, seen) {
            #expect(abs(chapter.range.start.seconds - max(expected.start, 0)) < 0.001, "\(chapter.title)")
        }
    }

    /// Times from the film's beginning, which is the container's first time.
    private static func probe(_ path: String) throws -> [(title: String, start: Double)] {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffprobe", "-v", "error", "-show_chapters", "-show_format", "-of", "json", path]
        process.standardOutput = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let answer = try JSONSerialization.jsonObject(with: bytes) as? [String: Any]
        let format = answer?["format"] as? [String: Any], beginning = Double(format?["start_time"] as? String ?? "") ?? 0
        return (answer?["chapters"] as? [[String: Any]] ?? []).map { chapter in
            let tags = chapter["tags"] as? [String: String]
            return (tags?["title"] ?? "", (Double(chapter["start_time"] as? String ?? "") ?? -1) - beginning)
        }
    }
}
