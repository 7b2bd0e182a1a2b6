import Foundation
import TestSupport
import Testing

/// `play info --samples`.
@Suite struct InfoSamplesTests {
    @Test func `it prints a line for each sample`() throws {
        let outcome = try PlayProgram.run(["info", "--samples", TestAssets.path("short.mp4")])
        #expect(outcome.code == 0 && outcome.errors.isEmpty)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        let heading = try #require(lines.firstIndex { $0.hasPrefix("track 0: ") })
        let count = try #require(Int(lines[heading].split(separator: " ")[2]))
        #expect(lines[heading + 1].split(separator: " ") == ["sample", "kind", "decoded", "shown", "lasts", "bytes", "offset", "needs"])
        let first = lines[heading + 2].split(separator: " "), last = lines[heading + 1 + count].split(separator: " ")
        #expect(first[0] == "0" && first[1] == "sync" && first[3] == "0.000000" && first[7] == "0")
        #expect(last[0] == "\(count - 1)")
    }

    @Test func `its JSON lists them with whole numbers of the track's time base`() throws {
        let outcome = try PlayProgram.run(["info", "--samples", "--json", TestAssets.path("short.mp4")])
        let report = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let samples = try #require(report["samples"] as? [[String: Any]])
        let first = try #require(samples.first)
        #expect(first["track"] as? Int == 0 && first["sync"] as? String == "full" && first["presentationTicks"] as? Int == 0)
        #expect((first["bytes"] as? Int ?? 0) > 0 && (first["offset"] as? Int ?? 0) > 0)
        let without = try PlayProgram.run(["info", "--json", TestAssets.path("short.mp4")])
        #expect(!without.output.contains("presentationTicks"))
    }

    @Test func `a film that is none is an error`() throws {
        let outcome = try PlayProgram.run(["info", "--samples", "/nowhere/film.mp4"])
        #expect(outcome.code == 66 && outcome.errors == "play: /nowhere/film.mp4: no such file.\n")
    }
}
