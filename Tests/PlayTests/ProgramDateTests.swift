import Foundation
import Media
import TestSupport
import Testing

/// What `play` does with films whose senders say when they were made.
@Suite(.serialized) final class ProgramDateTests {
    private static let folder = NSTemporaryDirectory() + "dates-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: Self.folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: Self.folder) }

    /// Six seconds of 150 frames in six parts, made from 20:15 on, with a pause of ten minutes in the middle.
    private static func server() throws -> LyingServer {
        let path = folder + "/list.m3u8"
        let words: [[String]] = [
            ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=6", "-c:v", "mpeg2video", "-g", "25", "-bf", "0", "-f", "hls", "-hls_time", "1"],
            ["-hls_list_size", "0", "-hls_segment_filename", folder + "/part%d.ts", path],
        ]
        try FFmpeg.run(Array(words.joined()))
        var parts = 0
        let dated = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line -> String in
            guard line.hasPrefix("#EXTINF") else { return String(line) }
            parts += 1
            let date = parts == 1 ? "2026-11-27T20:15:00Z" : parts == 4 ? "2026-11-27T21:25:03+01:00" : nil
            return (date.map { "#EXT-X-PROGRAM-DATE-TIME:\($0)\n" } ?? "") + line
        }
        let list = [UInt8]((dated.joined(separator: "\n") + "\n").utf8)
        return LyingServer { request in
            if request.path == "list.m3u8" { return .file(list, request) }
            guard let part = try? Data(contentsOf: URL(fileURLWithPath: folder + "/" + request.path)) else {
                return LyingServer.Answer(status: "404 Not Found", headers: ["Content-Length: 0"])
            }
            return .file([UInt8](part), request)
        }
    }

    @Test func `a film begins and ends with the frames that were made then`() throws {
        let server = try Self.server()
        defer { server.stop() }
        func play(_ options: [String]) throws -> (hashes: [String], errors: String) {
            let outcome = try PlayProgram.run(
                ["--sink", "md5=-", "--no-audio"] + options + [server.address("list.m3u8")], environment: ["http_proxy": ""])
            #expect(outcome.code == 0, "\(outcome.code): \(outcome.errors)")
            return (FrameMD5File(outcome.output)?.lines.map(\.hash) ?? [], outcome.errors)
        }
        let whole = try play([]).hashes
        try #require(whole.count == 150 && Set(whole).count == 150)
        for (options, shown) in [
            (["--start", "2026-11-27T20:15:01.2Z"], 30..<150), (["--start", "2026-11-27T20:25:04Z"], 100..<150),
            // Nothing was made in the pause.
            (["--start", "2026-11-27T20:20:00Z"], 75..<150), (["--start", "1", "--end", "2026-11-27T20:15:02Z"], 25..<50),
        ] as [([String], Range<Int>)] {
            let (hashes, errors) = try play(options)
            #expect(hashes == Array(whole[shown]) && errors.isEmpty, "\(options) \(hashes.count): \(errors)")
        }
        for date in ["2026-11-27T20:14:00Z", "2027-01-01T00:00:00Z"] {
            let (hashes, errors) = try play(["--start", date])
            #expect(hashes == whole && errors.contains("has no list that says which frame was made at \(date.dropLast()).000Z"), "\(errors)")
        }
        #expect(try PlayProgram.run(["--start", "2026-11-27T25:15:00Z", "x"]).code == 64)
    }

    @Test func `a remote control reads the date and goes to one`() throws {
        let server = try Self.server()
        defer { server.stop() }
        let socket = "/tmp/play-dates-\(getpid())-\(UUID().uuidString.prefix(8)).sock"
        let ended = PlayProgram.begin(
            ["--sink", "headless", "--pause", "--input-ipc-server", socket, server.address("list.m3u8")], environment: ["http_proxy": ""])
        let remote = try Remote(socket)
        #expect(Polling.until { remote.get("program-date") as? String == "2026-11-27T20:15:00.000Z" }, "\(remote.get("program-date") ?? "none")")
        let answer = remote.command(#""set_property", "program-date", "2026-11-27T20:25:04.2Z""#)
        #expect(answer?["error"] as? String == "success")
        #expect(Polling.until { remote.get("time-pos") as? Double == 4.2 }, "\(remote.get("time-pos") ?? "none")")
        #expect(remote.get("program-date") as? String == "2026-11-27T20:25:04.200Z")
        #expect(remote.command(#""set_property", "program-date", "soon""#)?["error"] as? String != "success")
        _ = remote.command(#""quit""#)
        #expect(try ended().code == 0)
    }

    /// Reports of RTP senders name the date (RFC 3550, 6.4.1).
    @Test(arguments: ["off", "full"]) func `a camera's sender says when its frames were made`(sandbox: String) throws {
        let server = try RTSPServer(serving: TestAssets.demo)
        defer { server.stop() }
        let socket = "/tmp/play-dates-\(getpid())-\(UUID().uuidString.prefix(8)).sock"
        let ended = PlayProgram.begin(
            ["--sink", "headless", "--no-audio", "--sandbox", sandbox, "--stats", "-", "--input-ipc-server", socket, server.address("live")])
        let remote = try Remote(socket)
        var date: ProgramDate?
        #expect(
            Polling.until {
                date = (remote.get("program-date") as? String).flatMap { ProgramDate(iso8601: $0) }
                return date != nil
            })
        let age = try (ProgramDate.now() - #require(date)).seconds
        #expect(abs(age) < 20, "\(age)")
        _ = remote.command(#""quit""#)
        let outcome = try ended()
        #expect(outcome.code == 0, "\(outcome.code): \(outcome.errors)")
        let list = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]]
        let byDate = try #require((list?.last?["live"] as? [String: Any])?["latencyByDateSeconds"] as? Double)
        #expect(abs(byDate) < 20, "\(byDate)")
    }
}
