import Foundation
import TestSupport
import Testing

/// What the scripts and the README say about `play`, against `play` itself.
@Suite struct ScriptsTests {
    /// The output of a program in the checkout or beside the test bundle.
    private static func output(of path: String, _ arguments: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// `play` as built together with these tests.
    private static var play: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("play").path
    }

    @Test func `scripts/run knows which options take a value`() throws {
        let help = try Self.output(of: Self.play, "--help")
        let script = try String(contentsOfFile: TestAssets.root + "/scripts/run", encoding: .utf8)
        let line = try #require(script.split(separator: "\n").first { $0.contains("--sink |") })
        let known = Set(line.split(whereSeparator: { " |)".contains($0) }).filter { $0.hasPrefix("--") }.map(String.init))
        let taking = Set(
            help.split(separator: "\n").compactMap { line -> String? in
                let words = line.split(separator: " ")
                guard let value = words.firstIndex(where: { $0.hasPrefix("<") }), words[0].hasPrefix("-"), value > 0 else { return nil }
                return words[..<value].last { $0.hasPrefix("--") }.map(String.init)
            })
        #expect(!taking.isEmpty)
        #expect(known == taking)
    }

    @Test func `every film in assets is described`() throws {
        let folder = TestAssets.root + "/assets"
        let text = try String(contentsOfFile: folder + "/README.md", encoding: .utf8)
        let films = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            !$0.hasSuffix(".py") && !$0.hasSuffix(".md") && $0.contains(".")
        }
        #expect(films.count > 10)
        for film in films { #expect(text.contains("`\(film)`")) }
    }

    @Test(arguments: [
        "README.md", "CONTRIBUTING.md", "docs/flow.md", "docs/threads.md", "docs/surface-use.md", "docs/performance.md", "docs/decoding.md",
        "docs/display.md", "docs/sandbox.md", "docs/export.md",
    ])
    func `a document names only files that are there`(_ document: String) throws {
        let manager = FileManager.default
        let path = TestAssets.root + "/" + document
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let sources = ["Sources", "Tests", "Benchmarks", "Examples"].flatMap { folder in
            manager.enumerator(atPath: TestAssets.root + "/" + folder)?.compactMap { $0 as? String } ?? []
        }
        // `Name.swift` and `+Verb.swift` in code quotes; (targets) of links.
        for name in text.split(separator: "`").filter({ $0.hasSuffix(".swift") && !$0.contains(" ") && !$0.contains("…") }) {
            let file = name.split(separator: "/").last ?? name
            #expect(sources.contains { $0.hasSuffix(file) }, "\(document) names \(name)")
        }
        for link in text.components(separatedBy: "](").dropFirst().compactMap({ $0.components(separatedBy: ")").first })
        where !link.hasPrefix("http") {
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            #expect(manager.fileExists(atPath: folder + "/" + link), "\(document) links to \(link)")
        }
    }
}
