import Foundation
import TestSupport
import Testing

/// What `play` does and says with streams of a real RTSP server.
@Suite(.serialized) struct RTSPTests {
    private static func play(_ arguments: [String], handle: PlayProgram.Handle? = nil) throws -> PlayProgram.Outcome {
        try PlayProgram.run(["--sink", "md5=-", "--no-audio"] + arguments, handle: handle)
    }

    private static func hashes(_ outcome: PlayProgram.Outcome) -> [String] { FrameMD5File(outcome.output)?.lines.map(\.hash) ?? [] }

    @Test(arguments: ["auto film", "tcp film", "udp film", "auto udp", "lavf film"]) func `the frames are the server's`(_ row: String) throws {
        let words = row.split(separator: " ").map(String.init)
        let server = try RTSPServer(serving: TestAssets.path("plain.mp4"))
        defer { server.stop() }
        let outcome = try Self.play(["--rtsp-transport", words[0], server.address(words[1])]), local = try Self.play([TestAssets.path("plain.mp4")])
        let found = Self.hashes(outcome), wanted = Self.hashes(local)
        if row.contains("udp") {
            // A busy machine loses packets, and what depends on them is damaged.
            #expect(!outcome.crashed && wanted.count == 30 && Set(found).intersection(wanted).count >= 10, "\(found.count): \(outcome.errors)")
        } else {
            #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
            #expect(wanted.count == 30 && found == wanted, "\(found.count)")
        }
    }

    @Test func `sound comes beside the frames`() throws {
        let server = try RTSPServer(serving: TestAssets.demo)
        defer { server.stop() }
        let outcome = try PlayProgram.run(["info", "--json", server.address("sound")])
        #expect(outcome.code == 0 && outcome.output.contains("\"aac\"") && outcome.output.contains("\"h264\""), "\(outcome.output)")
        let played = try PlayProgram.run(["--sink", "md5=-", "--duration", "0.5", server.address("sound")])
        #expect(played.code == 0 && Self.hashes(played).count >= 14, "\(played.code): \(Self.hashes(played).count) \(played.errors)")
    }

    @Test func `name and password open what is locked, and wrong ones are told apart from a stream that is not there`() throws {
        let server = try RTSPServer(serving: TestAssets.path("plain.mp4"))
        defer { server.stop() }
        let inside = try Self.play([server.address("locked", user: "viewer:open%20sesame")])
        #expect(inside.code == 0 && Self.hashes(inside).count == 30, "\(inside.code): \(inside.errors)")
        // Nobody reads the password over the viewer's shoulder, or in a log.
        let refusal = "the server wants another name and password (401)"
        for (address, shown, sentence) in [
            (server.address("locked", user: "viewer:sesame"), server.address("locked", user: "viewer:***"), refusal),
            (server.address("locked"), server.address("locked"), refusal),
            (server.address("nothing"), server.address("nothing"), "the server has no such file (404)"),
        ] {
            let outcome = try Self.play([address])
            #expect(outcome.code == 66 && outcome.errors == "play: \(shown): \(sentence).\n", "\(outcome.code): \(outcome.errors)")
        }
    }

    @Test func `a server that is not there, or does not send as asked, has its own sentence`() throws {
        let server = try RTSPServer(serving: TestAssets.path("plain.mp4")), gone = ByteSender([])
        gone.stop()
        defer { server.stop() }
        for (address, sentence) in [
            ("rtsp://no-such-host.invalid/film", "there is no host no-such-host.invalid"),
            (gone.address("rtsp") + "/film", "nothing serves there: the connection was refused"),
            (server.address("udp"), "the server does not send it in the way that was asked for"),
        ] {
            let outcome = try Self.play(["--rtsp-transport", "tcp", address])
            #expect(outcome.code == 66 && outcome.errors == "play: \(address): \(sentence).\n", "\(outcome.code): \(outcome.errors)")
        }
        #expect(try Self.play(["--rtsp-transport", "pigeon", server.address("film")]).code == 64)
    }

    /// What becomes of a server in mid-stream.
    enum Fate: CaseIterable { case dies, fallsSilent }

    @Test(arguments: ["tcp", "udp"], Fate.allCases) func `a stream that its server leaves says where it ends`(transport: String, fate: Fate) throws {
        let server = try RTSPServer(serving: TestAssets.demo)
        defer { server.stop() }
        let address = server.address("film")
        let (remote, ended) = try Self.begin(["--rtsp-transport", transport, "--network-timeout", fate == .dies ? "3600" : "2", address])
        #expect(Self.plays(remote))
        if fate == .dies { server.kill() } else { server.fallSilent() }
        let outcome = try ended()
        let words = fate == .dies ? "the connection was lost" : "nothing more of it came"
        #expect(outcome.code == 74, "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.hasPrefix("play: \(address): ends at 0:0") && outcome.errors.hasSuffix(" of 0:10: \(words).\n"), "\(outcome.errors)")
    }

    /// Without a display, remotely controlled.
    private static func begin(
        _ arguments: [String], handle: PlayProgram.Handle? = nil
    ) throws -> (remote: Remote, ended: () throws -> PlayProgram.Outcome) {
        let socket = "/tmp/play-rtsp-\(getpid())-\(UUID().uuidString.prefix(8)).sock"
        let ended = PlayProgram.begin(["--sink", "headless", "--no-audio", "--input-ipc-server", socket] + arguments, handle: handle)
        return (try Remote(socket), ended)
    }

    /// Waits until time goes on.
    private static func plays(_ remote: Remote) -> Bool { Polling.until { remote.get("time-pos") as? Double ?? 0 > 0.2 } }

    /// What the program waits for when it is asked to end.
    enum Stage: CaseIterable { case answer, nextFrame, silentServer }

    @Test(arguments: Stage.allCases, [SIGTERM, SIGINT]) func `a request to end is followed at each stage`(stage: Stage, signal: Int32) throws {
        let handle = PlayProgram.Handle(), patience = ["--network-timeout", "3600"]
        if stage == .answer {
            let server = ByteSender([])
            defer { server.stop() }
            let ended = PlayProgram.begin(["--sink", "headless"] + patience + [server.address("rtsp") + "/film"], handle: handle)
            server.waitForClient()
            handle.send(signal)
            let outcome = try ended()
            #expect(!outcome.crashed, "\(outcome.code): \(outcome.errors)")
            return
        }
        let server = try RTSPServer(serving: TestAssets.demo)
        defer { server.stop() }
        let (remote, ended) = try Self.begin(patience + [server.address("live")], handle: handle)
        #expect(Self.plays(remote))
        if stage == .silentServer { server.fallSilent() }
        handle.send(signal)
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.code): \(outcome.errors)")
    }

    @Test func `a live stream plays as long as it is wanted, and not in a process without rights`() throws {
        let server = try RTSPServer(serving: TestAssets.demo)
        defer { server.stop() }
        let address = server.address("live"), outcome = try Self.play(["--duration", "1", address])
        #expect(outcome.code == 0 && (24...26).contains(Self.hashes(outcome).count), "\(outcome.code): \(Self.hashes(outcome).count)")
        let sentence = "\(address): rtsp makes network connections of its own, which a demuxer without rights cannot."
        let open = try Self.play(["--sandbox", "full", "--duration", "0.2", address])
        #expect(open.code == 0 && open.errors.contains("Reading without a sandbox: \(sentence)"), "\(open.errors)")
        let closed = try Self.play(["--sandbox", "require", address])
        #expect(closed.code != 0 && closed.output.isEmpty && closed.errors == "play: \(sentence)\n", "\(closed.code): \(closed.errors)")
    }
}
