import Foundation
import TestSupport
import Testing

/// What `play` does and says with HLS films that are offered in several variants.
@Suite(.serialized) struct AdaptiveTests {
    private static func file(_ name: String) -> [UInt8] { (try? [UInt8](Data(contentsOf: URL(fileURLWithPath: TestAssets.path(name))))) ?? [] }

    private static func list(_ part: String, seconds: Int = 10, tags: String = "") -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:\(seconds)\n\(tags)#EXTINF:\(seconds),\n\(part)\n#EXT-X-ENDLIST\n"
    }

    /// A small variant of one second, a large one of ten, and one whose codec nobody knows to decode.
    private static let master = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=200000,RESOLUTION=320x180,CODECS="avc1.42c00d"
        small/list.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,CODECS="avc1.64001e,mp4a.40.2"
        large/list.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=9000000,RESOLUTION=3840x2160,CODECS="dvh1.05.06"
        none/list.m3u8
        """

    private static func answer(_ request: LyingServer.Request) -> LyingServer.Answer {
        let files: [String: [UInt8]] = [
            "film.m3u8": Array(master.utf8), "small/list.m3u8": Array(list("film.mp4", seconds: 1).utf8), "small/film.mp4": file("plain.mp4"),
            "large/list.m3u8": Array(list("film.mp4").utf8), "large/film.mp4": file("demo.mp4"),
        ]
        guard let bytes = files[request.path] else { return LyingServer.Answer(status: "404 Not Found", headers: ["Content-Length: 0"]) }
        return .file(bytes, request)
    }

    private static func play(_ arguments: [String]) throws -> PlayProgram.Outcome {
        try PlayProgram.run(["--sink", "md5=-", "--no-audio"] + arguments, environment: ["http_proxy": ""])
    }

    @Test(arguments: [("auto", 300), ("max", 300), ("min", 30), ("899999", 30), ("900000", 300)], ["off", "full"])
    func `the variant that is wanted plays, and nothing else is fetched`(_ wanted: (option: String, frames: Int), _ sandbox: String) throws {
        let server = LyingServer(Self.answer)
        defer { server.stop() }
        let outcome = try Self.play(["--sandbox", sandbox, "--hls-bitrate", wanted.option, server.address("film.m3u8")])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        #expect(FrameMD5File(outcome.output)?.lines.count == wanted.frames)
        let other = wanted.frames == 300 ? "small/" : "large/"
        #expect(!server.requests.contains { $0.path.hasPrefix(other) || $0.path.hasPrefix("none/") }, "\(server.requests.map(\.path))")
    }

    @Test(arguments: ["off", "full"]) func `a part whose connection is cut arrives whole`(sandbox: String) throws {
        let server = LyingServer { request in
            let whole = Self.answer(request)
            return request.path.hasSuffix(".mp4") ? whole.cut(after: Self.file("demo.mp4").count / 4, .reset) : whole
        }
        defer { server.stop() }
        let outcome = try Self.play(["--sandbox", sandbox, "--hls-bitrate", "max", server.address("film.m3u8")])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        let local = FrameMD5File(try Self.play([TestAssets.demo]).output)?.lines, lines = FrameMD5File(outcome.output)?.lines
        #expect(lines?.map(\.hash) == local?.map(\.hash) && lines?.count == 300)
    }

    @Test(arguments: ["off", "full"]) func `a list that has moved names its parts from where it is now`(sandbox: String) throws {
        let server = LyingServer { request in
            if request.path == "old.m3u8" {
                return LyingServer.Answer(status: "302 Found", headers: ["Location: /new/place/film.m3u8", "Content-Length: 0"])
            }
            guard request.path.hasPrefix("new/place/") else { return LyingServer.Answer(status: "404 Not Found", headers: ["Content-Length: 0"]) }
            var inner = request
            inner.path = String(request.path.dropFirst(10))
            return Self.answer(inner)
        }
        defer { server.stop() }
        let outcome = try Self.play(["--sandbox", sandbox, server.address("old.m3u8")])
        #expect(outcome.code == 0 && FrameMD5File(outcome.output)?.lines.count == 300, "\(outcome.code): \(outcome.errors)")
    }

    @Test(arguments: ["off", "full"]) func `a variant that is not there gives way to another`(sandbox: String) throws {
        let server = LyingServer { request in
            request.path.hasPrefix("large/") ? LyingServer.Answer(status: "404 Not Found", headers: ["Content-Length: 0"]) : Self.answer(request)
        }
        defer { server.stop() }
        let outcome = try Self.play(["--sandbox", sandbox, "--hls-bitrate", "max", server.address("film.m3u8")])
        #expect(outcome.code == 0 && FrameMD5File(outcome.output)?.lines.count == 30, "\(outcome.code): \(outcome.errors)")
    }

    @Test func `a local list offers its variants, too, and info shows them`() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/hls-\(UUID().uuidString.prefix(8))"
        let manager = FileManager.default
        defer { try? manager.removeItem(atPath: folder) }
        for (name, film) in [("small", "plain.mp4"), ("large", "demo.mp4")] {
            try manager.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            try manager.copyItem(atPath: TestAssets.path(film), toPath: "\(folder)/\(name)/film.mp4")
            try Self.list("film.mp4").write(toFile: "\(folder)/\(name)/list.m3u8", atomically: true, encoding: .utf8)
        }
        let path = "\(folder)/film.m3u8"
        try Self.master.write(toFile: path, atomically: true, encoding: .utf8)
        for sandbox in ["off", "full"] {
            #expect(FrameMD5File(try Self.play(["--sandbox", sandbox, path]).output)?.lines.count == 300, "\(sandbox)")
            let small = try Self.play(["--sandbox", sandbox, "--hls-bitrate", "min", path])
            #expect(FrameMD5File(small.output)?.lines.count == 30, "\(sandbox): \(small.errors)")
            let text = try PlayProgram.run(["info", "--sandbox", sandbox, path]).output
            #expect(text.contains("  variant 0: 320x180, 0.2 Mb/s, avc1.42c00d\n"), "\(text)")
            #expect(text.contains("  variant 1: 640x360, 0.9 Mb/s, avc1.64001e, mp4a.40.2, read\n"), "\(text)")
            let json = try PlayProgram.run(["info", "--json", "--sandbox", sandbox, path]).output
            let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
            let variants = object?["variants"] as? [[String: Any]]
            #expect(variants?.map { $0["read"] as? Bool } == [false, true, false] && variants?[1]["width"] as? Int == 640, "\(json)")
        }
    }

    @Test(arguments: ["off", "full"]) func `what cannot be decrypted is refused in one sentence`(sandbox: String) throws {
        let server = LyingServer { request in
            guard request.path == "film.m3u8" else {
                return .file(Array(Self.list("film.mp4", tags: "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key\"\n").utf8), request)
            }
            return .file(Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlist.m3u8\n".utf8), request)
        }
        defer { server.stop() }
        for name in ["film.m3u8", "list.m3u8"] {
            let address = server.address(name), outcome = try Self.play(["--sandbox", sandbox, address])
            #expect(outcome.errors == "play: \(address): it is encrypted by SAMPLE-AES, which is not played.\n" && outcome.code == 65, "\(outcome)")
        }
    }

    // MARK: DASH

    /// The same films as `master`, each one part of an MPEG-4 file in fragments.
    private static let manifest: [String: [UInt8]] = {
        let folder = FileManager.default.temporaryDirectory.path + "/dash-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var files: [String: [UInt8]] = [:], sets = ""
        for (name, film, size, rate) in [("small", "plain.mp4", "320x180", 200_000), ("large", "demo.mp4", "640x360", 900_000)] {
            let process = ChildProcess()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments =
                ["ffmpeg", "-nostdin", "-v", "error", "-i", TestAssets.path(film), "-map", "0:v", "-c", "copy", "-f", "dash", "-use_timeline", "0"]
                + ["-seg_duration", "60", "-init_seg_name", "\(name)-head.mp4", "-media_seg_name", "\(name)-$Number$.m4s", "\(folder)/\(name).mpd"]
            try? process.run()
            process.waitUntilExit()
            for part in ["\(name)-head.mp4", "\(name)-1.m4s"] {
                files[part] = (try? [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(part)")))) ?? []
            }
            let sides = size.split(separator: "x")
            sets += #"<Representation id="\#(name)" bandwidth="\#(rate)" width="\#(sides[0])" height="\#(sides[1])"/>"#
        }
        let text = """
            <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S"><Period>
            <AdaptationSet mimeType="video/mp4"><SegmentTemplate duration="60" initialization="$RepresentationID$-head.mp4"
            media="$RepresentationID$-$Number$.m4s"/>\(sets)</AdaptationSet></Period></MPD>
            """
        files["film.mpd"] = Array(text.utf8)
        return files
    }()

    private static func answerManifest(_ request: LyingServer.Request) -> LyingServer.Answer {
        guard let bytes = manifest[request.path] else { return LyingServer.Answer(status: "404 Not Found", headers: ["Content-Length: 0"]) }
        return .file(bytes, request)
    }

    @Test(arguments: [("auto", 300), ("max", 300), ("min", 30), ("899999", 30)], ["off", "require"])
    func `of a manifest the variant that is wanted plays, and nothing else is fetched`(
        _ wanted: (option: String, frames: Int), _ sandbox: String
    ) throws {
        let server = LyingServer(Self.answerManifest)
        defer { server.stop() }
        let outcome = try Self.play(["--sandbox", sandbox, "--hls-bitrate", wanted.option, server.address("film.mpd")])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        #expect(FrameMD5File(outcome.output)?.lines.count == wanted.frames)
        let other = wanted.frames == 300 ? "small-" : "large-"
        #expect(!server.requests.contains { $0.path.hasPrefix(other) }, "\(server.requests.map(\.path))")
    }

    @Test func `a part of a manifest whose connection is cut arrives whole, info names what is read, and DRM is refused`() throws {
        let server = LyingServer { request in
            let whole = Self.answerManifest(request)
            if request.path == "drm.mpd" {
                let text = String(decoding: Self.manifest["film.mpd"] ?? [], as: UTF8.self)
                let mark = #"<ContentProtection schemeIdUri="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"/><SegmentTemplate"#
                return .file(Array(text.replacingOccurrences(of: "<SegmentTemplate", with: mark).utf8), request)
            }
            return request.path.hasSuffix(".m4s") ? whole.cut(after: (Self.manifest[request.path]?.count ?? 0) / 4, .reset) : whole
        }
        defer { server.stop() }
        let outcome = try Self.play(["--hls-bitrate", "max", server.address("film.mpd")])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        let local = FrameMD5File(try Self.play([TestAssets.demo]).output)?.lines, lines = FrameMD5File(outcome.output)?.lines
        #expect(lines?.map(\.hash) == local?.map(\.hash) && lines?.count == 300)
        let text = try PlayProgram.run(["info", server.address("film.mpd")], environment: ["http_proxy": ""]).output
        #expect(text.contains("  variant 0: 320x180, 0.2 Mb/s\n") && text.contains("  variant 1: 640x360, 0.9 Mb/s, read\n"), "\(text)")
        let address = server.address("drm.mpd"), refused = try Self.play([address])
        #expect(refused.errors == "play: \(address): it is protected by Widevine, which is not played.\n" && refused.code == 65, "\(refused)")
    }

    @Test func `a bit rate that makes no sense is refused`() throws {
        for value in ["best", "-1", "1.5"] { #expect(try Self.play(["--hls-bitrate=\(value)", "http://127.0.0.1:1/"]).code == 64, "\(value)") }
    }
}
