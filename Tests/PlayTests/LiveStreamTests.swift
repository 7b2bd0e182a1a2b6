import Foundation
import TestSupport
import Testing

/// What `play` does and says with live streams that ffmpeg sends.
@Suite(.serialized) struct LiveStreamTests {
    private static func hashes(_ outcome: PlayProgram.Outcome) -> [String] { FrameMD5File(outcome.output)?.lines.map(\.hash) ?? [] }

    /// libavformat ends its thread for UDP packets by `pthread_cancel`, in the midst of a library that ThreadSanitizer was told to ignore, and the
    /// sanitizer ends the program for it.
    private static let withoutThreadSanitizer: some TestTrait = .enabled(if: !TestExtent.isSanitized, "libavformat's thread for UDP is cancelled")

    private static let arguments = ["--sink", "md5=-", "--no-audio"]

    private static func local() throws -> [String] {
        let hashes = hashes(try PlayProgram.run(arguments + [FFmpegSender.film.path]))
        try #require(hashes.count == 50)
        return hashes
    }

    @Test(arguments: ["off", "full"]) func `a transport stream over TCP plays to its end`(sandbox: String) throws {
        let port = FFmpegSender.freePort()
        let sender = try FFmpegSender(["-c", "copy", "-f", "mpegts"], to: "tcp://127.0.0.1:\(port)?listen=1")
        defer { sender.stop() }
        #expect(FFmpegSender.waitForSocket("tcp", port))
        let outcome = try PlayProgram.run(Self.arguments + ["--sandbox", sandbox, "tcp://127.0.0.1:\(port)"])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        #expect(try Self.hashes(outcome) == Self.local(), "\(Self.hashes(outcome).count)")
    }

    /// To this machine, and to a group that this machine has joined.
    @Test(Self.withoutThreadSanitizer, arguments: ["127.0.0.1", "239.1.2.3"], ["off", "full"])
    func `a transport stream in UDP packets plays, and its end is that nothing comes`(host: String, sandbox: String) throws {
        let port = FFmpegSender.freePort(), address = "udp://\(host):\(port)?localaddr=127.0.0.1"
        let ended = PlayProgram.begin(Self.arguments + ["--sandbox", sandbox, "--network-timeout", "3", address])
        #expect(FFmpegSender.waitForSocket("udp", port))
        let sender = try FFmpegSender(["-c", "copy", "-f", "mpegts"], to: address + "&pkt_size=1316")
        defer { sender.stop() }
        let outcome = try ended()
        #expect(outcome.code == 74 && outcome.errors.hasPrefix("play: \(address): ends at 0:0"), "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.hasSuffix(": nothing more of it came.\n"), "\(outcome.errors)")
        // A busy machine loses packets.
        let local = try Self.local(), hashes = Self.hashes(outcome)
        #expect(Set(hashes).intersection(local).count >= local.count / 3, "\(hashes.count)")
    }

    @Test(Self.withoutThreadSanitizer) func `where nothing is sent, that is said`() throws {
        let address = "udp://127.0.0.1:\(FFmpegSender.freePort())"
        let outcome = try PlayProgram.run(Self.arguments + ["--network-timeout", "0.5", address])
        #expect(outcome.code == 66 && outcome.errors == "play: \(address): nothing comes from there.\n", "\(outcome.code): \(outcome.errors)")
    }

    /// SRT leaves out what comes later than 120 ms, as all does on a busy machine.
    private static let lossless = "tlpktdrop=0"

    /// Neither of them tells the end of a stream from that of the connection.
    @Test(arguments: ["rtmp", "srt"]) func `a stream over a protocol without an end says that the connection ended it`(scheme: String) throws {
        let port = FFmpegSender.freePort(), address = "\(scheme)://127.0.0.1:\(port)" + (scheme == "rtmp" ? "/live/film" : "?\(Self.lossless)")
        let sender =
            scheme == "rtmp"
            ? try FFmpegSender(["-c:v", "flv1", "-q:v", "2", "-an", "-f", "flv", "-listen", "1"], to: address)
            : try FFmpegSender(["-c", "copy", "-f", "mpegts"], to: address + "&mode=listener")
        defer { sender.stop() }
        #expect(FFmpegSender.waitForSocket(scheme == "rtmp" ? "tcp" : "udp", port))
        let outcome = try PlayProgram.run(Self.arguments + ["--network-timeout", "2", address]), hashes = Self.hashes(outcome)
        #expect(outcome.code == 74 && outcome.errors.hasSuffix(": the connection was lost.\n"), "\(outcome.code): \(outcome.errors)")
        if scheme == "rtmp" {
            #expect(hashes.count == 50)
        } else {
            // What the sender has not sent when it closes never comes.
            #expect(try hashes.count > 25 && hashes == Self.local().prefix(hashes.count) + [], "\(hashes.count)")
        }
    }

    /// A caller that comes, and does not come again.
    @Test func `a listener for SRT waits for its sender no longer than for one that is silent`() throws {
        let port = FFmpegSender.freePort(), address = "srt://127.0.0.1:\(port)?mode=listener&\(Self.lossless)"
        let ended = PlayProgram.begin(Self.arguments + ["--network-timeout", "8", address])
        #expect(FFmpegSender.waitForSocket("udp", port))
        let sender = try FFmpegSender(["-c", "copy", "-f", "mpegts"], to: "srt://127.0.0.1:\(port)?\(Self.lossless)")
        defer { sender.stop() }
        let outcome = try ended(), hashes = Self.hashes(outcome)
        #expect(outcome.code == 74 && outcome.errors.hasSuffix(": the connection was lost.\n"), "\(outcome.code): \(outcome.errors)")
        #expect(try hashes.count > 25 && hashes == Self.local().prefix(hashes.count) + [], "\(hashes.count)")
        let none = try PlayProgram.run(Self.arguments + ["--network-timeout", "0.5", address])
        #expect(
            none.code == 66 && none.output.isEmpty && none.errors == "play: \(address): nothing was sent there.\n", "\(none.code): \(none.errors)")
    }

    @Test(arguments: ["off", "full"]) func `a listener for SRT waits for another sender where the first one sends nothing`(sandbox: String) throws {
        let local = try Self.local(), port = FFmpegSender.freePort(), place = "srt://127.0.0.1:\(port)?\(Self.lossless)"
        let ended = PlayProgram.begin(Self.arguments + ["--sandbox", sandbox, "--network-timeout", "15", place + "&mode=listener"])
        #expect(FFmpegSender.waitForSocket("udp", port))
        try FFmpegSender(making: ["-f", "lavfi", "-i", "color=s=64x64", "-t", "0", "-f", "rawvideo"], to: place).waitUntilEnd()
        let sender = try FFmpegSender(persistently: ["-i", FFmpegSender.film.path, "-c", "copy", "-f", "mpegts"], to: place)
        defer { sender.stop() }
        let outcome = try ended(), hashes = Self.hashes(outcome)
        #expect(outcome.code == 74 && outcome.errors.hasSuffix(": the connection was lost.\n"), "\(outcome.code): \(outcome.errors)")
        #expect(hashes.count > 25 && hashes == local.prefix(hashes.count) + [], "\(hashes.count)")
    }

    // MARK: Raw streams

    @Test func `a raw stream comes over TCP or from a socket of this machine as well as from a file`() throws {
        let path = NSTemporaryDirectory() + "raw-\(UUID().uuidString.prefix(8)).h264"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let making = ChildProcess()
        making.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        making.arguments = ["ffmpeg", "-nostdin", "-v", "error", "-i", TestAssets.demo, "-map", "0:v", "-c", "copy", "-f", "h264", path]
        try making.run()
        making.waitUntilExit()
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let raw = ["--sink", "md5=-", "--raw", "h264"], local = Self.hashes(try PlayProgram.run(raw + [path]))
        #expect(local.count == 300)
        let port = FFmpegSender.freePort(), socket = path + ".sock"
        for (place, listening) in [("tcp://127.0.0.1:\(port)", "tcp://127.0.0.1:\(port)?listen=1"), ("unix:\(socket)", "unix:\(socket)")] {
            let sending = ChildProcess()
            sending.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let unix = ["-listen", "1"]
            sending.arguments =
                ["ffmpeg", "-nostdin", "-v", "quiet", "-i", path, "-c", "copy", "-f", "h264"] + (place == listening ? unix : []) + [listening]
            try sending.run()
            defer {
                sending.send(SIGKILL)
                sending.waitUntilExit()
            }
            #expect(place == listening ? Polling.until { FileManager.default.fileExists(atPath: socket) } : FFmpegSender.waitForSocket("tcp", port))
            let outcome = try PlayProgram.run(raw + [place])
            #expect(outcome.code == 0 && Self.hashes(outcome) == local, "\(place) \(outcome.code): \(outcome.errors)")
        }
        let server = LyingServer { .file(bytes, $0) }
        defer { server.stop() }
        let served = try PlayProgram.run(raw + [server.address("film.h264")], environment: ["http_proxy": ""])
        #expect(served.code == 0 && Self.hashes(served) == local, "\(served.code): \(served.errors)")
        let none = try PlayProgram.run(raw + ["tcp://127.0.0.1:\(FFmpegSender.freePort())"])
        #expect(none.code == 66 && none.errors.hasSuffix(": nothing serves there: the connection was refused.\n"), "\(none.errors)")
    }

    @Test func `a raw stream whose connection is reset did not end`() throws {
        let server = ByteSender(try [UInt8](Data(contentsOf: URL(fileURLWithPath: TestAssets.path("annexb.h264"))))), address = server.address("tcp")
        let socket = "/tmp/play-raw-\(getpid())-\(UUID().uuidString.prefix(8)).sock"
        let ended = PlayProgram.begin(["--sink", "headless", "--raw", "h264", "--input-ipc-server", socket, address])
        let remote = try Remote(socket)
        #expect(Polling.until { remote.get("time-pos") as? Double ?? 0 > 0.2 })
        server.stop(resetting: true)
        let outcome = try ended()
        #expect(outcome.code == 74 && outcome.errors == "play: \(address): the connection was lost.\n", "\(outcome.code): \(outcome.errors)")
    }

    // MARK: SDP

    private static func session(_ port: UInt16) throws -> String {
        let path = NSTemporaryDirectory() + "session-\(UUID().uuidString.prefix(8)).sdp"
        try "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=-\nc=IN IP4 127.0.0.1\nt=0 0\nm=video \(port) RTP/AVP 32\na=rtpmap:32 MPV/90000\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test(Self.withoutThreadSanitizer, arguments: ["off", "full"]) func `packets that an SDP file announces play, and are held at half a second`(
        sandbox: String
    ) throws {
        let port = FFmpegSender.freePort(), path = try Self.session(port)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let socket = "/tmp/play-sdp-\(getpid())-\(UUID().uuidString.prefix(8)).sock"
        let ended = PlayProgram.begin(["--sink", "headless", "--sandbox", sandbox, "--network-timeout", "60", "--input-ipc-server", socket, path])
        let remote = try Remote(socket)
        #expect(FFmpegSender.waitForSocket("udp", port))
        let sender = try FFmpegSender(
            making: ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=600", "-c:v", "mpeg2video", "-bf", "0", "-g", "25", "-f", "rtp"],
            to: "rtp://127.0.0.1:\(port)")
        defer { sender.stop() }
        #expect(Polling.until { remote.get("time-pos") as? Double ?? 0 > 1 })
        #expect(remote.get("live-latency-target") as? Double == 0.5 && remote.get("live-latency") is Double)
        _ = remote.command(#""quit""#)
        let outcome = try ended()
        #expect(outcome.code == 0 && outcome.errors.isEmpty == (sandbox == "off"), "\(outcome.code): \(outcome.errors)")
    }

    @Test(Self.withoutThreadSanitizer) func `where nothing comes that an SDP file announces, or nothing more, that is said`() throws {
        let port = FFmpegSender.freePort(), path = try Self.session(port)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let none = try PlayProgram.run(Self.arguments + ["--network-timeout", "0.5", path])
        #expect(none.code == 66 && none.errors == "play: \(path): nothing comes from there.\n", "\(none.code): \(none.errors)")
        let ended = PlayProgram.begin(Self.arguments + ["--network-timeout", "15", path])
        #expect(FFmpegSender.waitForSocket("udp", port))
        let sender = try FFmpegSender(["-an", "-c", "copy", "-f", "rtp"], to: "rtp://127.0.0.1:\(port)")
        defer { sender.stop() }
        let outcome = try ended()
        // Its sender says that it ends, unless that packet is lost.
        #expect([0, 74].contains(outcome.code) && !Self.hashes(outcome).isEmpty, "\(outcome.code): \(outcome.errors)")
        let other = path + ".mp4"
        try FileManager.default.copyItem(atPath: path, toPath: other)
        defer { try? FileManager.default.removeItem(atPath: other) }
        let refused = try PlayProgram.run(Self.arguments + ["--network-timeout", "20", other])
        #expect(refused.code == 65 && refused.output.isEmpty, "\(refused.code): \(refused.errors)")
    }

    // MARK: Certificates

    @Test func `streams over TLS are refused where the certificate is not valid, and RTSPS where nobody looks at it`() throws {
        let server = try TLSServer(serving: NSTemporaryDirectory())
        defer { server.stop() }
        func address(_ certificate: TLSServer.Certificate) -> String {
            "tls" + server.address(certificate, "").dropFirst(5).dropLast()
        }
        for certificate in TLSServer.Certificate.allCases {
            // Behind a valid certificate nothing comes.
            let patience = certificate == .valid ? "1" : "30"
            let outcome = try PlayProgram.run(Self.arguments + ["--tls-ca", server.authorities, "--network-timeout", patience, address(certificate)])
            let isRefused = outcome.errors.contains("the certificate of localhost is not valid")
            #expect(isRefused == (certificate != .valid) && outcome.code != 0, "\(certificate) \(outcome.code): \(outcome.errors)")
        }
        let unchecked = try PlayProgram.run(Self.arguments + ["--tls-no-verify", "--network-timeout", "1", address(.selfSigned)])
        #expect(!unchecked.errors.contains("certificate"), "\(unchecked.errors)")
        let secure = "rtsps" + server.address(.valid, "film").dropFirst(5)
        for sandbox in ["off", "full"] {
            let outcome = try PlayProgram.run(Self.arguments + ["--sandbox", sandbox, "--tls-ca", server.authorities, secure])
            let sentence = ": the certificate of an RTSPS server cannot be checked, and it was not said that any will do.\n"
            #expect(outcome.code == 66 && outcome.errors.hasSuffix(sentence), "\(outcome.code): \(outcome.errors)")
        }
    }

    @Test(arguments: ["off", "full"]) func `a connection that is reset is no end`(sandbox: String) throws {
        let server = ByteSender(FFmpegSender.film.bytes), address = server.address("tcp")
        let socket = "/tmp/play-live-\(getpid())-\(UUID().uuidString.prefix(8)).sock"
        let ended = PlayProgram.begin(
            ["--sink", "headless", "--no-audio", "--sandbox", sandbox, "--input-ipc-server", socket, "--network-timeout", "2", address])
        let remote = try Remote(socket)
        #expect(Polling.until { remote.get("time-pos") as? Double ?? 0 > 0.2 })
        server.stop(resetting: true)
        let outcome = try ended()
        #expect(outcome.code == 74 && outcome.errors.hasSuffix(": the connection was lost.\n"), "\(outcome.code): \(outcome.errors)")
        let beginning = "\(address): the connection was lost. It is tried again.\nplay: \(address): ends at 0:0"
        #expect(outcome.errors.hasPrefix(beginning), "\(outcome.errors)")
    }
}
