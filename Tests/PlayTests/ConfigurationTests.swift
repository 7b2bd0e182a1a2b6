import Foundation
import PlaySupport
import TestSupport
import Testing

/// Configuration files, profiles and mpv's spellings, as a user meets them.
@Suite final class ConfigurationTests {
    private let folder = NSTemporaryDirectory() + "configuration-\(UUID().uuidString.prefix(8))"
    private var path: String { folder + "/scanout/scanout.conf" }

    init() throws { try FileManager.default.createDirectory(atPath: folder + "/scanout", withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func run(_ words: [String]) throws -> PlayProgram.Outcome {
        try PlayProgram.run(words, environment: ["XDG_CONFIG_HOME": folder])
    }

    /// The number of frames that the checksums list.
    private func frames(_ outcome: PlayProgram.Outcome) -> Int { outcome.output.split(separator: "\n").count { !$0.hasPrefix("#") } }

    @Test func `the file's options hold until the command line says otherwise`() throws {
        let film = TestAssets.path("short.mp4")
        let all = frames(try run(["--sink", "md5=-", film]))
        try "# a comment\nduration=0.2\nvo=null\nuntimed".write(toFile: path, atomically: true, encoding: .utf8)
        let short = try run(["--sink", "md5=-", film])
        #expect(short.code == 0 && (1..<all).contains(frames(short)), "\(short.errors)")
        #expect(frames(try run(["--sink", "md5=-", "--duration", "100", film])) == all)
        #expect(frames(try run(["--no-config", "--sink", "md5=-", film])) == all)
        #expect(frames(try run(["--config-dir", folder, "--sink", "md5=-", film])) == all, "there is no file in that folder")
        #expect(frames(try run(["--config-dir", folder + "/scanout", "--sink", "md5=-", film])) == frames(short))
    }

    @Test func `a profile is asked for by name`() throws {
        try "[first]\nduration=0.2\n[both]\nprofile=first\nsink=md5=-".write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try run(["--profile", "both", TestAssets.path("short.mp4")])
        #expect(outcome.code == 0 && frames(outcome) > 0, "\(outcome.errors)")
        let other = try run(["--profile=none", TestAssets.path("short.mp4")])
        #expect(other.code == 64 && other.errors.contains("There is no profile none."), "\(other.errors)")
    }

    @Test func `lines that make no sense are said, and the film plays`() throws {
        try "vf=crop\nsink=headless\nuntimed\nbogus".write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try run([TestAssets.path("short.mp4")])
        #expect(outcome.code == 0 && outcome.errors.contains("\(path):1: --vf is an option of mpv's"), "\(outcome.errors)")
        #expect(outcome.errors.contains("\(path):4: there is no option bogus."))
        #expect(try run(["--quiet", TestAssets.path("short.mp4")]).errors.isEmpty)
    }

    @Test func `a file that cannot be read is said, and none is not`() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let outcome = try run(["--sink", "headless", "--untimed", TestAssets.path("short.mp4")])
        #expect(outcome.code == 0 && outcome.errors.contains("\(path): the configuration cannot be read: "), "\(outcome.errors)")
    }

    @Test(
        arguments: [
            ("--vf=crop", "--vf is an option of mpv's that does not exist here: there are no filters"), ("--loop=maybe", "--loop cannot be maybe."),
            ("--hwdec=cuda", "--decoder says how to decode."), ("--bogus=1", "Unknown option '--bogus'"),
        ])
    func `a word without a meaning is one sentence`(_ word: String, _ sentence: String) throws {
        let outcome = try run([word, TestAssets.path("short.mp4")])
        #expect(outcome.code == 64 && outcome.errors.contains(sentence) && outcome.errors.contains("FILE|URL"), "\(outcome.errors)")
    }

    @Test func `mpv's words play`() throws {
        let outcome = try run([
            "--vo=null", "--ao=null", "--untimed=yes", "--hwdec=no", "--loop-file=no", "--length=0.2", TestAssets.path("short.mp4"),
        ])
        #expect(outcome.code == 0, "\(outcome.errors)")
    }
}

/// The page that compares the options with mpv's.
@Suite struct MPVPageTests {
    /// The options that a section of the page names in its tables' first column.
    private static func options(_ section: String) throws -> Set<String> {
        let page = try String(contentsOfFile: TestAssets.root + "/docs/mpv.md", encoding: .utf8)
        let part = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix(section) })
        let cells = part.split(separator: "\n").filter { $0.hasPrefix("|") }.compactMap { $0.split(separator: "|").first }
        return Set(cells.flatMap { $0.matches(of: /`--([a-z0-9-]+)/).map { String($0.1) } })
    }

    private static func names() throws -> Set<String> {
        let outcome = try PlayProgram.run(["file", "--experimental-dump-help"])
        return try #require(OptionCatalogue(description: outcome.output)).names
    }

    @Test func `the page says what the program does`() throws {
        let own = try Self.names(), same = try Self.options("Options with"), others = try Self.options("Options of mpv that are called")
        let absent = try Self.options("Options of mpv that do not exist")
        #expect(same.count > 20 && same.subtracting(own).isEmpty, "\(same.subtracting(own))")
        #expect(ForeignOption.valued.isSubset(of: own) && ForeignOption.valued.isSubset(of: same))
        let foreign = Set(ForeignOption.names)
        #expect(foreign.isDisjoint(with: own), "an option of the program's own hides it: \(foreign.intersection(own))")
        #expect(others.union(absent) == foreign, "\(others.union(absent).symmetricDifference(foreign))")
    }
}
