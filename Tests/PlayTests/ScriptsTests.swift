import Foundation
import TestSupport
import Testing

/// What the scripts and the README say about `play`, against `play` itself.
@Suite struct ScriptsTests {
    /// The output of a program in the checkout or beside the test bundle.
    private static func output(of path: String, _ arguments: String...) throws -> String {
        let process = ChildProcess()
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

    /// `scripts/run` in a checkout of its own, whose `play` writes down what it is given.
    @Test(
        arguments: [
            ([], ["assets/demo.mp4"]), (["--loop"], ["--loop"]), (["film.mkv", "--loop"], ["film.mkv", "--loop"]),
            (["--speed", "2"], ["--speed", "2"]),
        ] as [([String], [String])])
    func `scripts/run plays the demo only when nothing is said`(_ arguments: [String], _ expected: [String]) throws {
        let manager = FileManager.default, root = manager.temporaryDirectory.resolvingSymlinksInPath().path + "/run-\(UUID().uuidString)"
        defer { try? manager.removeItem(atPath: root) }
        for folder in ["scripts/lib", "Sources", ".build/release"] {
            try manager.createDirectory(atPath: "\(root)/\(folder)", withIntermediateDirectories: true)
        }
        for script in ["scripts/run", "scripts/lib/setup.sh"] {
            try manager.copyItem(atPath: "\(TestAssets.root)/\(script)", toPath: "\(root)/\(script)")
        }
        try "".write(toFile: root + "/Package.swift", atomically: true, encoding: .utf8)
        try "#!/bin/sh\necho $PLAYER_EXEC_TIME\nfor word; do echo \"$word\"; done\n".write(
            toFile: root + "/.build/release/play", atomically: true, encoding: .utf8)
        try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: root + "/.build/release/play")
        try "".write(toFile: root + "/.build/play.stamp", atomically: true, encoding: .utf8)
        let began = Date().timeIntervalSince1970
        let process = ChildProcess(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: root + "/scripts/run")
        process.arguments = arguments
        process.standardOutput = pipe
        try process.run()
        let lines = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n").map(String.init)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(lines.dropFirst() == expected.map { $0.hasPrefix("assets/") ? "\(root)/\($0)" : $0 }[...])
        let handedOver = try #require(lines.first.flatMap(Double.init))
        #expect(handedOver >= began - 0.01 && handedOver <= Date().timeIntervalSince1970)
    }

    /// The shell that becomes `play` has existed for two seconds by then.
    @Test func `the start-up counts from exec, not from the script that became the program`() throws {
        let began = Date().timeIntervalSince1970
        let play = "'\(Self.play)' --sink headless --untimed --no-audio --stats - '\(TestAssets.path("plain.mp4"))'"
        let text = try Self.output(of: "/bin/bash", "-c", "sleep 2; export PLAYER_EXEC_TIME=$EPOCHREALTIME; exec \(play)")
        let all = (Date().timeIntervalSince1970 - began) * 1000
        let members = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let startup = try #require(members["startupMilliseconds"] as? Double)
        #expect(startup > 0 && startup <= all - 2000, "\(startup) of \(all)")
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
        "docs/display.md", "docs/sandbox.md", "docs/export.md", "docs/mpv.md", "docs/screen.md",
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
            let file = String(link.prefix { $0 != "#" })
            #expect(manager.fileExists(atPath: folder + "/" + file), "\(document) links to \(link)")
        }
    }
}
