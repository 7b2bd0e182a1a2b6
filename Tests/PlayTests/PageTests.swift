import Foundation
import TestSupport
import Testing

/// Films of pages, with a program that stands in for yt-dlp and says what a test wants.
@Suite(.serialized) struct PageTests {
    private static let demo = (try? [UInt8](Data(contentsOf: URL(fileURLWithPath: TestAssets.demo)))) ?? []

    /// A folder with a `yt-dlp` in it that keeps its words and does as `script` says.
    private final class StandIn: Sendable {
        let folder = FileManager.default.temporaryDirectory.path + "/pages-\(UUID().uuidString.prefix(8))"

        init(_ script: String) throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let text = "#!/bin/sh\nprintf '%s\\n' \"$@\" > '\(folder)/words'\n\(script)\n"
            try text.write(toFile: folder + "/yt-dlp", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder + "/yt-dlp")
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        var words: [String]? {
            // Foundation leaks its buffer where a file is still empty.
            TextFile.contents(of: folder + "/words")?.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        }

        func play(_ arguments: [String], handle: PlayProgram.Handle? = nil, limit: Double = 60) throws -> PlayProgram.Outcome {
            try PlayProgram.run(
                ["--sink", "md5=-"] + arguments, environment: ["PATH": folder + ":/usr/bin:/bin", "http_proxy": ""], limit: limit, handle: handle)
        }
    }

    /// A page, and the film that is on it, which is given to those only that come from the page.
    private static func server() -> LyingServer {
        LyingServer { request in
            switch request.path {
            case "film.mp4":
                request.headers["referer"] == "http://page.example/"
                    ? .file(demo, request) : LyingServer.Answer(status: "403 Forbidden", headers: ["Content-Length: 0"])
            default: .file(Array("<!DOCTYPE html><html><head><title>A page</title></head><body>Watch!</body></html>".utf8), request)
            }
        }
    }

    private static func words(_ address: String) -> String {
        #"{"title": "A film on a page", "url": "\#(address)", "http_headers": {"Referer": "http://page.example/"}}"#
    }

    private static func hashes(_ outcome: PlayProgram.Outcome) -> [String] { FrameMD5File(outcome.output)?.lines.map(\.hash) ?? [] }

    @Test(arguments: ["off", "full"]) func `the film of a page plays`(sandbox: String) throws {
        let server = Self.server()
        defer { server.stop() }
        let program = try StandIn("echo '\(Self.words(server.address("film.mp4")))'"), page = server.address("watch?v=1")
        let outcome = try program.play(["--no-audio", "--sandbox", sandbox, page])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        let local = try program.play(["--no-audio", TestAssets.demo])
        #expect(Self.hashes(outcome).count == 300 && outcome.output == local.output)
        #expect(program.words?.suffix(2) == ["--", page] && program.words?.contains("-J") == true, "\(program.words ?? [])")
    }

    @Test func `what is a film already, a local file, and what nobody wants looked for is not`() throws {
        let server = Self.server(), program = try StandIn("exit 1")
        defer { server.stop() }
        let film = try program.play(["--no-audio", "--referrer", "http://page.example/", server.address("film.mp4")])
        #expect(film.code == 0 && program.words == nil, "\(film.errors)")
        let text = program.folder + "/page.html"
        try "<html>".write(toFile: text, atomically: true, encoding: .utf8)
        #expect(try program.play([text]).code == 65 && program.words == nil)
        let page = try program.play(["--no-ytdl", server.address("watch")])
        #expect(page.code == 65 && program.words == nil && page.errors.hasSuffix(": not a film that can be recognised.\n"), "\(page.errors)")
    }

    @Test func `a page that is named so is not tried as a film first`() throws {
        let server = Self.server()
        defer { server.stop() }
        let program = try StandIn("echo '\(Self.words(server.address("film.mp4")))'")
        let outcome = try program.play(["--no-audio", "--ytdl-format", "worst", "ytdl://" + server.address("watch")])
        #expect(outcome.code == 0 && Self.hashes(outcome).count == 300, "\(outcome.code): \(outcome.errors)")
        #expect(!server.requests.contains { $0.path == "watch" } && program.words?.contains("worst") == true)
    }

    @Test func `frames and sound of two addresses play together, and from another time`() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/parts-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (kind, name) in [("-an", "frames.mp4"), ("-vn", "sound.mp4")] {
            let process = ChildProcess()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["ffmpeg", "-nostdin", "-v", "error", "-i", TestAssets.demo, kind, "-c", "copy", folder + "/" + name]
            try process.run()
            process.waitUntilExit()
        }
        let parts = try ["frames.mp4", "sound.mp4"].map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0))) }
        let server = LyingServer { request in
            request.path == "frames" ? .file(parts[0], request) : request.path == "sound" ? .file(parts[1], request) : .file([0x3C], request)
        }
        defer { server.stop() }
        let json =
            #"{"requested_formats": [{"url": "\#(server.address("frames"))", "vcodec": "h264", "acodec": "none"}, "#
            + #"{"url": "\#(server.address("sound"))", "vcodec": "none", "acodec": "aac"}]}"#
        let program = try StandIn("echo '\(json)'")
        for start in ["0", "5.5"] {
            let outcome = try program.play(["--start", start, "ytdl://http://page.example/"])
            let local = try program.play(["--start", start, TestAssets.demo])
            #expect(outcome.code == 0 && Self.hashes(outcome) == Self.hashes(local), "\(outcome.code): \(outcome.errors)")
        }
        let heard = try PlayProgram.run(
            ["--sink", "headless", "--audio-device", "null", "--duration", "2", "--stats", "-", "ytdl://http://page.example/"],
            environment: ["PATH": program.folder + ":/usr/bin:/bin", "http_proxy": ""])
        let statistics = try #require(try JSONSerialization.jsonObject(with: Data(heard.output.utf8)) as? [String: Any])
        #expect(heard.code == 0 && statistics["avOffsetMilliseconds"] is [String: Any], "\(heard.code): \(heard.errors) \(heard.output)")
    }

    @Test(arguments: [
        ("exit 127", "yt-dlp finds no film there: it says nothing."),
        ("echo 'WARNING: old' >&2; echo 'ERROR: Unsupported URL' >&2; exit 1", "yt-dlp finds no film there: ERROR: Unsupported URL."),
        ("echo nonsense", "yt-dlp finds no film there that can be played."),
        (#"echo '{"url": "file:///etc/passwd"}'"#, "yt-dlp finds no film there that can be played."),
        ("yes", "yt-dlp says more than 32 MiB of it."),
    ]) func `where yt-dlp finds nothing, that is said`(script: String, sentence: String) throws {
        let server = Self.server(), program = try StandIn(script)
        defer { server.stop() }
        let page = server.address("watch"), outcome = try program.play([page])
        #expect(outcome.code == 65 && outcome.errors == "play: \(page): \(sentence)\n", "\(outcome.code): \(outcome.errors)")
    }

    @Test func `where there is no yt-dlp, that is said`() throws {
        let server = Self.server(), empty = FileManager.default.temporaryDirectory.path + "/nothing-\(UUID().uuidString.prefix(8))"
        defer { server.stop() }
        let page = server.address("watch")
        let outcome = try PlayProgram.run(["--sink", "md5=-", page], environment: ["PATH": empty, "http_proxy": ""])
        let sentence = "not a film that can be recognised. Films on pages need the program yt-dlp, which is not installed."
        #expect(outcome.code == 65 && outcome.errors == "play: \(page): \(sentence)\n", "\(outcome.code): \(outcome.errors)")
    }

    @Test func `a search is given up when the program is to end`() throws {
        let server = Self.server(), program = try StandIn("sleep 1000"), handle = PlayProgram.Handle()
        defer { server.stop() }
        let ended = { try program.play([server.address("watch")], handle: handle) }
        let waiting = Thread {
            _ = Polling.until { program.words != nil }
            handle.interrupt()
        }
        waiting.start()
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.code): \(outcome.errors)")
    }
}
