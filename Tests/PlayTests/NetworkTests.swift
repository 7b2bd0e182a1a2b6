import Foundation
import TestSupport
import Testing

/// What `play` does and says with films on web servers.
@Suite(.serialized) struct NetworkTests {
    private static let film = (try? [UInt8](Data(contentsOf: URL(fileURLWithPath: TestAssets.demo)))) ?? []

    private static func play(_ arguments: [String]) throws -> PlayProgram.Outcome {
        try PlayProgram.run(["--sink", "md5=-", "--no-audio"] + arguments, environment: ["http_proxy": "", "https_proxy": ""])
    }

    @Test(arguments: ["off", "full"]) func `every frame is shown of a film whose connection is cut`(sandbox: String) throws {
        let server = LyingServer { request in
            .file(Self.film, request).cut(after: Self.film.count / 4, request.number % 2 == 0 ? .close : .reset)
        }
        defer { server.stop() }
        let outcome = try Self.play(["--sandbox", sandbox, server.address("film.mp4")])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        let local = try Self.play([TestAssets.demo])
        #expect(outcome.output == local.output && FrameMD5File(outcome.output)?.lines.count == 300)
    }

    @Test(arguments: ["off", "full"]) func `with a small cache a film is the same, and the statistics say what came`(sandbox: String) throws {
        let server = LyingServer { .file(Self.film, $0) }
        defer { server.stop() }
        let arguments = ["--sink", "headless", "--untimed", "--demuxer-max-bytes", "64KiB", "--demuxer-max-back-bytes", "0", "--stats", "-"]
        let outcome = try PlayProgram.run(arguments + ["--sandbox", sandbox, server.address("film.mp4")], environment: ["http_proxy": ""])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        #expect(object["framesPresented"] as? Int == 300)
        let network = try #require(object["network"] as? [String: Any])
        let fetched = try #require(network["bytesFetched"] as? Int), seconds = try #require(network["secondsAhead"] as? Double)
        #expect(fetched >= Self.film.count * 9 / 10 && (0...10).contains(seconds), "\(network)")
        let ahead = try #require(network["bytesAhead"] as? Int), percent = try #require(network["percentAhead"] as? Int)
        #expect((0...Self.film.count).contains(ahead) && (0...100).contains(percent), "\(network)")
    }

    @Test(arguments: ["off", "full"]) func `with the rest of it on disk a film is fetched once`(sandbox: String) throws {
        let server = LyingServer { .file(Self.film, $0) }
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.path + "/cache-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let small = ["--demuxer-max-bytes", "64KiB", "--demuxer-max-back-bytes", "0", "--cache-on-disk", "--sandbox", sandbox]
        let outcome = try Self.play(small + ["--demuxer-cache-dir", folder, server.address("film.mp4")])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        #expect(try outcome.output == Self.play([TestAssets.demo]).output)
        #expect(unsafe rmdir(folder) == 0, "nothing is left")
        let without = try Self.play(small + ["--demuxer-cache-dir", "/nowhere", server.address("film.mp4")])
        #expect(without.code == 0 && without.output == outcome.output)
        let words = "cannot create a file in /nowhere: No such file or directory. It goes on from memory and the network."
        #expect(without.errors == "\(server.address("film.mp4")): \(words)\n")
    }

    @Test(arguments: ["off", "full"]) func `a film that cannot be had whole says where it ends`(sandbox: String) throws {
        let server = LyingServer { request in
            request.rangeStart == 0 ? .file(Self.film, request).cut(after: Self.film.count / 2) : LyingServer.Answer(status: "503 No", ending: .reset)
        }
        defer { server.stop() }
        let address = server.address("film.mp4")
        let outcome = try Self.play(["--sandbox", sandbox, "--network-timeout", "1.5", address])
        #expect(outcome.code == 74, "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.hasPrefix("play: \(address): ends at 0:0") && outcome.errors.hasSuffix(" of 0:10: the connection was lost.\n"))
        let count = FrameMD5File(outcome.output)?.lines.count ?? 0
        #expect(count > 75 && count < 225)
    }

    @Test(arguments: [
        ("400 Bad Request", "the server does not understand the request (400)"),
        ("401 Unauthorized", "the server wants another name and password (401)"),
        ("403 Forbidden", "the server does not give it out (403)"), ("404 Not Found", "the server has no such file (404)"),
        ("410 Gone", "the server has no such file any more (410)"), ("418 No", "the server refuses the request (418)"),
        ("500 Oh", "the server has failed (500)"),
    ])
    func `each refusal has its own sentence`(status: String, sentence: String) throws {
        let server = LyingServer { _ in LyingServer.Answer(status: status, headers: ["Content-Length: 0"]) }
        defer { server.stop() }
        let address = server.address("film.mp4"), outcome = try Self.play([address])
        #expect(outcome.code == 66 && outcome.errors == "play: \(address): \(sentence).\n", "\(outcome.code): \(outcome.errors)")
    }

    @Test func `a host that is unknown or serves nothing has its own sentence`() throws {
        let unknown = "http://no-such-host.invalid/film.mp4"
        let outcome = try Self.play([unknown])
        #expect(outcome.code == 66 && outcome.errors == "play: \(unknown): there is no host no-such-host.invalid.\n", "\(outcome.errors)")
        let server = LyingServer { .file([], $0) }
        server.stop()
        let refused = try Self.play([server.address("film.mp4")])
        #expect(refused.code == 66 && refused.errors.hasSuffix(": nothing serves there: the connection was refused.\n"), "\(refused.errors)")
    }

    @Test func `the server is told what the options say`() throws {
        let cookies = FileManager.default.temporaryDirectory.path + "/cookies-\(UUID().uuidString.prefix(8))"
        try "127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue\nother.example\tFALSE\t/\tFALSE\t0\tsecret\t1\n".write(
            toFile: cookies, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: cookies) }
        let server = LyingServer { .file(Self.film, $0) }
        defer { server.stop() }
        let outcome = try Self.play([
            "--user-agent", "An agent", "--referrer", "http://page.example/", "--http-header-fields", "X-One: 1", "--http-header-fields",
            "X-Two: a, b",
            "--cookies-file", cookies, "--duration", "0.2", server.address("film.mp4"),
        ])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(!server.requests.isEmpty)
        for request in server.requests {
            let headers = request.headers
            #expect(headers["user-agent"] == "An agent" && headers["referer"] == "http://page.example/", "\(headers)")
            #expect(headers["x-one"] == "1" && headers["x-two"] == "a, b" && headers["cookie"] == "name=value", "\(headers)")
        }
        let missing = try Self.play(["--cookies-file", "/nowhere/cookies", server.address("film.mp4")])
        #expect(missing.code == 66 && missing.errors == "play: /nowhere/cookies: no such file.\n", "\(missing.errors)")
    }

    @Test func `a name and a password for the host come from a file, and do not go where it redirects to`() throws {
        let file = FileManager.default.temporaryDirectory.path + "/netrc-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let elsewhere = LyingServer { .file(Self.film, $0) }
        defer { elsewhere.stop() }
        let other = elsewhere.address("film.mp4").replacing("127.0.0.1", with: "localhost")
        let server = LyingServer { request in
            // "viewer:se same"
            guard request.headers["authorization"] == "Basic dmlld2VyOnNlIHNhbWU=" else {
                return LyingServer.Answer(status: "401 Unauthorized", headers: ["WWW-Authenticate: Basic realm=\"films\"", "Content-Length: 0"])
            }
            return request.path == "there"
                ? LyingServer.Answer(status: "302 Found", headers: ["Location: \(other)", "Content-Length: 0"]) : .file(Self.film, request)
        }
        defer { server.stop() }
        try "machine 127.0.0.1 login viewer password \"se same\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        for path in ["film.mp4", "there"] {
            let outcome = try Self.play(["--netrc-file", file, "--duration", "0.2", server.address(path)])
            #expect(outcome.code == 0, "\(path): \(outcome.errors)")
        }
        #expect(!elsewhere.requests.isEmpty && elsewhere.requests.allSatisfy { $0.headers["authorization"] == nil })
        let home = FileManager.default.temporaryDirectory.path + "/home-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: home) }
        try FileManager.default.copyItem(atPath: file, toPath: home + "/.netrc")
        let usual = ["--sink", "md5=-", "--no-audio", "--duration", "0.2", server.address("film.mp4")]
        #expect(try PlayProgram.run(usual, environment: ["HOME": home]).code == 0)
        #expect(try PlayProgram.run(["--netrc-file", "/dev/null"] + usual, environment: ["HOME": home]).code == 66)
        let missing = try Self.play(["--netrc-file", "/nowhere/netrc", server.address("film.mp4")])
        #expect(missing.code == 66 && missing.errors == "play: /nowhere/netrc: no such file.\n", "\(missing.errors)")
    }

    @Test func `a proxy is asked where there is one`() throws {
        let proxy = LyingServer { .file(Self.film, $0) }
        defer { proxy.stop() }
        let place = "http://127.0.0.1:\(proxy.port)", usual = ["--sink", "md5=-", "--no-audio", "--duration", "0.2"]
        let local = try Self.play(["--duration", "0.2", TestAssets.demo]), elsewhere = "http://film.example/film.mp4"
        let named = try Self.play(["--http-proxy", place, "--duration", "0.2", elsewhere])
        #expect(named.code == 0 && named.output == local.output, "\(named.errors)")
        let implied = try PlayProgram.run(usual + [elsewhere], environment: ["http_proxy": place, "no_proxy": ""])
        #expect(implied.code == 0 && implied.output == local.output, "\(implied.errors)")
        let count = proxy.requests.count
        #expect(count >= 2 && proxy.requests.allSatisfy { $0.headers["host"] == "film.example" && $0.path.hasSuffix("//film.example/film.mp4") })
        let server = LyingServer { .file(Self.film, $0) }
        defer { server.stop() }
        let direct = try PlayProgram.run(
            usual + ["--http-proxy", "", server.address("film.mp4")], environment: ["http_proxy": place, "no_proxy": ""])
        #expect(direct.code == 0 && direct.output == local.output && proxy.requests.count == count, "\(direct.errors)")
    }

    @Test func `what answers wrongly has a sentence`() throws {
        let circle = LyingServer { _ in LyingServer.Answer(status: "302 Found", headers: ["Location: /again", "Content-Length: 0"]) }
        defer { circle.stop() }
        let lost = try Self.play([circle.address("film.mp4")])
        #expect(lost.code == 66 && lost.errors.hasSuffix(": the server leads from one address to another without an end.\n"), "\(lost.errors)")
        let other = ByteSender(Array("220 mail.example ESMTP\r\n".utf8))
        defer { other.stop() }
        let strange = try Self.play([other.address("http") + "/film.mp4"])
        #expect(strange.code == 66 && strange.errors.hasSuffix(": what answers there is no web server.\n"), "\(strange.errors)")
    }

    @Test func `options that make no sense are refused`() throws {
        for arguments in [
            ["--network-timeout", "0"], ["--demuxer-max-bytes", "1XB"], ["--demuxer-max-bytes", "10"], ["--tls-no-verify", "--tls-ca", "x"],
            ["--http-header-fields", "none"],
        ] {
            #expect(try Self.play(arguments + ["http://127.0.0.1:1/"]).code == 64, "\(arguments)")
        }
    }

    @Test func `a certificate must be signed by an authority, valid, and for the host`() throws {
        let server = try TLSServer(serving: TestAssets.root + "/assets")
        defer { server.stop() }
        let local = try Self.play([TestAssets.path("vp9.webm")])
        for certificate in TLSServer.Certificate.allCases {
            let address = server.address(certificate, "vp9.webm")
            let checked = try Self.play(["--tls-ca", server.authorities, address])
            if certificate == .valid {
                #expect(checked.code == 0 && checked.output == local.output, "\(certificate): \(checked.errors)")
            } else {
                #expect(checked.code == 66 && checked.output.isEmpty, "\(certificate): \(checked.errors)")
                #expect(
                    checked.errors.hasPrefix("play: \(address): the certificate of localhost is not valid: "), "\(certificate): \(checked.errors)")
            }
            let trusting = try Self.play(["--tls-no-verify", address])
            #expect(trusting.code == 0 && trusting.output == local.output, "\(certificate): \(trusting.errors)")
        }
        // The authority of the tests is none of the system's.
        #expect(try Self.play([server.address(.valid, "vp9.webm")]).code == 66)
        // The parts of a list, too, come over connections that are checked.
        for (sandbox, certificate) in [("off", TLSServer.Certificate.valid), ("off", .selfSigned), ("full", .selfSigned)] {
            let segment = server.address(certificate, "demo.mp4")
            let list = LyingServer { _ in
                LyingServer.Answer(
                    headers: ["Content-Type: application/vnd.apple.mpegurl"],
                    body: Array("#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n\(segment)\n#EXT-X-ENDLIST\n".utf8))
            }
            defer { list.stop() }
            let outcome = try Self.play(["--tls-ca", server.authorities, "--sandbox", sandbox, list.address("list.m3u8")])
            let count = FrameMD5File(outcome.output)?.lines.count ?? 0
            #expect(certificate == .valid ? count == 300 : count == 0 && outcome.code != 0, "\(sandbox) \(certificate): \(count) \(outcome.errors)")
        }
    }

    private static func list(_ part: String) -> String { "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n\(part)\n#EXT-X-ENDLIST\n" }

    /// Each would play the project's own film, if it were allowed to.
    private static let hostile: [(name: String, text: String)] = {
        let film = TestAssets.demo
        let manifest = """
            <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S" minBufferTime="PT1S"
            profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period duration="PT10S"><AdaptationSet mimeType="video/mp4"><Representation id="1"
            bandwidth="1000" width="640" height="360" codecs="avc1.640028"><BaseURL>file://\(film)</BaseURL></Representation></AdaptationSet>
            </Period></MPD>
            """
        return [
            ("list.m3u8", list("file://\(film)")), ("list.m3u8", list("concat:\(film)|\(film)")),
            ("list.m3u8", list("subfile,,start,0,end,0,,:\(film)")), ("list.m3u8", list("pipe:0")), ("list.m3u8", list("unix:\(film)")),
            ("list.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nfile://\(film)\n"),
            ("list.ffconcat", "ffconcat version 1.0\nfile '\(film)'\n"), ("list.ffconcat", "ffconcat version 1.0\nfile 'file:\(film)'\n"),
            ("film.mpd", manifest),
            ("film.sdp", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n"),
        ]
    }()

    @Test(arguments: hostile.indices, ["off", "full"])
    func `a list from the network reaches nothing on this machine`(_ index: Int, _ sandbox: String) throws {
        let (name, text) = Self.hostile[index]
        let server = LyingServer { .file(Array(text.utf8), $0) }
        defer { server.stop() }
        let outcome = try Self.play(["--sandbox", sandbox, server.address(name)])
        #expect(!outcome.crashed && outcome.code != 0, "\(name): \(outcome.code)")
        #expect(FrameMD5File(outcome.output)?.lines.isEmpty != false, "\(text): \(outcome.output.prefix(300))")
    }

    @Test func `a redirect leads to no file`() throws {
        let server = LyingServer { _ in
            LyingServer.Answer(status: "302 Found", headers: ["Location: file://\(TestAssets.demo)", "Content-Length: 0"])
        }
        defer { server.stop() }
        let outcome = try Self.play([server.address("film.mp4")])
        #expect(outcome.code == 66 && outcome.output.isEmpty, "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.hasSuffix(": the server leads to what is on no web server.\n"), "\(outcome.errors)")
    }
}
