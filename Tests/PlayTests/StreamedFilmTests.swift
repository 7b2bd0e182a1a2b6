import Foundation
import TestSupport
import Testing

/// HLS films in parts of two seconds: live, encrypted, and cut for good.
@Suite(.serialized) final class StreamedFilmTests {
    private static let folder = NSTemporaryDirectory() + "parts-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: Self.folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: Self.folder) }

    /// Six seconds of 150 frames in three parts; what `options` add.
    private static func make(_ options: [String] = []) throws {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=6", "-c:v", "mpeg2video", "-g", "50", "-bf", "0"]
            + ["-f", "hls", "-hls_time", "2", "-hls_list_size", "0", "-hls_segment_filename", folder + "/part%d.ts"] + options
            + [folder + "/list.m3u8"]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    private static func answer(_ request: LyingServer.Request) -> LyingServer.Answer {
        guard let bytes = try? [UInt8](Data(contentsOf: URL(fileURLWithPath: folder + "/" + request.path))) else {
            return LyingServer.Answer(status: "404 Not Found", headers: ["Content-Length: 0"])
        }
        return .file(bytes, request)
    }

    private static func play(_ arguments: [String]) throws -> (outcome: PlayProgram.Outcome, hashes: [String]) {
        let outcome = try PlayProgram.run(["--sink", "md5=-", "--no-audio"] + arguments, environment: ["http_proxy": ""])
        return (outcome, FrameMD5File(outcome.output)?.lines.map(\.hash) ?? [])
    }

    @Test(arguments: ["off", "full"]) func `a list that grows plays to its end`(sandbox: String) throws {
        try Self.make()
        let whole = try String(contentsOfFile: Self.folder + "/list.m3u8", encoding: .utf8)
        let local = try Self.play([Self.folder + "/list.m3u8"])
        let server = LyingServer { request in
            guard request.path == "list.m3u8" else { return Self.answer(request) }
            let isFirst = request.number == 0
            let short = whole.components(separatedBy: "#EXTINF").dropLast().joined(separator: "#EXTINF")
            return .file(Array((isFirst ? short : whole).utf8), request)
        }
        defer { server.stop() }
        let (outcome, hashes) = try Self.play(["--sandbox", sandbox, server.address("list.m3u8")])
        #expect(outcome.code == 0 && hashes.count == 150 && hashes == local.hashes, "\(outcome.code): \(hashes.count) \(outcome.errors)")
    }

    @Test(arguments: ["mpegts off", "mpegts full", "fmp4 off", "fmp4 full"]) func `parts that are ranges of one file play`(_ row: String) throws {
        let words = row.split(separator: " ").map(String.init)
        // A single file has no number.
        let file = Self.folder + (words[0] == "fmp4" ? "/all.m4s" : "/all.ts")
        try Self.make([
            "-c:v", "libx264", "-bf", "0", "-hls_flags", "single_file", "-hls_segment_type", words[0], "-hls_segment_filename", file,
        ])
        let server = LyingServer(Self.answer)
        defer { server.stop() }
        let local = try Self.play([Self.folder + "/list.m3u8"])
        let (outcome, hashes) = try Self.play(["--sandbox", words[1], server.address("list.m3u8")])
        #expect(outcome.code == 0 && hashes.count == 150 && hashes == local.hashes, "\(outcome.code): \(hashes.count) \(outcome.errors)")
    }

    @Test func `parts encrypted by AES-128 play, but not in a process without rights`() throws {
        try Data("0123456789abcdef".utf8).write(to: URL(fileURLWithPath: Self.folder + "/key"))
        try "key\n\(Self.folder)/key\n".write(toFile: Self.folder + "/info", atomically: true, encoding: .utf8)
        try Self.make(["-hls_key_info_file", Self.folder + "/info"])
        let server = LyingServer(Self.answer)
        defer { server.stop() }
        let (outcome, hashes) = try Self.play([server.address("list.m3u8")])
        #expect(outcome.code == 0 && hashes.count == 150, "\(outcome.code): \(hashes.count) \(outcome.errors)")
        #expect(try Self.play(["--sandbox", "full", server.address("list.m3u8")]).outcome.code != 0)
    }

    @Test(arguments: ["off", "full"]) func `a film whose parts do not come says where it ends`(sandbox: String) throws {
        try Self.make()
        let server = LyingServer { request in
            let whole = Self.answer(request)
            guard request.path == "part1.ts" || request.path == "part2.ts" else { return whole }
            return request.rangeStart ?? 0 == 0 ? whole.cut(after: whole.body.count / 2) : LyingServer.Answer(status: "503 No", ending: .reset)
        }
        defer { server.stop() }
        let address = server.address("list.m3u8")
        let (outcome, hashes) = try Self.play(["--sandbox", sandbox, "--network-timeout", "0.5", address])
        #expect(outcome.code == 74 && outcome.errors.contains("\(address): ends at 0:0"), "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.hasSuffix(": a part of it did not come.\n") && hashes.count >= 50 && hashes.count < 150, "\(hashes.count)")
    }
}
