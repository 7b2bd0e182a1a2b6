import Foundation
import Media
import TestSupport
import Testing

/// How far `play` is behind real senders, and what it does when they go.
@Suite(.serialized) struct LiveLatencyTests {
    /// Frames of which each second begins with one that can be decoded alone, for ten minutes, with sound; no faster than they play.
    private static let film =
        ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=600", "-f", "lavfi", "-i", "sine=r=48000:d=600"]
        + ["-c:v", "mpeg2video", "-bf", "0", "-g", "25", "-c:a", "mp2"]

    private static func begin(
        _ arguments: [String], handle: PlayProgram.Handle? = nil
    ) throws -> (remote: Remote, ended: () throws -> PlayProgram.Outcome) {
        let socket = "/tmp/play-latency-\(getpid())-\(UUID().uuidString.prefix(8)).sock"
        let ended = PlayProgram.begin(
            ["--sink", "headless", "--audio-device", "null", "--input-ipc-server", socket, "--stats", "-"] + arguments, limit: 240, handle: handle)
        return (try Remote(socket), ended)
    }

    private static func position(_ remote: Remote) -> Double { remote.get("time-pos") as? Double ?? 0 }
    private static func latency(_ remote: Remote) -> Double? { remote.get("live-latency") as? Double }

    /// Waits until time goes on from here.
    private static func goesOn(_ remote: Remote) -> Bool {
        let from = position(remote)
        return Polling.until { position(remote) > from + 0.2 }
    }

    /// Waits until the latency is about this, several times in a row.
    private static func settles(_ remote: Remote, at target: Double) -> Bool {
        var inARow = 0
        return Polling.until {
            inARow = latency(remote).map { abs($0 - target) < 0.15 } == true ? inARow + 1 : 0
            return inARow == 5
        }
    }

    /// The report that `--stats -` ends with, of the only film.
    private static func live(_ outcome: PlayProgram.Outcome) -> [String: Any]? {
        let list = try? JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]]
        return list?.last?["live"] as? [String: Any]
    }

    enum Hindrance: CaseIterable { case pause, silence }

    @Test(arguments: Hindrance.allCases) func `behind a sender over TCP the latency comes back to what is wanted`(hindrance: Hindrance) throws {
        let port = FFmpegSender.freePort()
        let sender = try FFmpegSender(making: Self.film + ["-f", "mpegts"], to: "tcp://127.0.0.1:\(port)?listen=1")
        defer { sender.stop() }
        #expect(FFmpegSender.waitForSocket("tcp", port))
        let (remote, ended) = try Self.begin(["--latency", "0.5", "tcp://127.0.0.1:\(port)"])
        #expect(Self.goesOn(remote))
        #expect(Self.settles(remote, at: 0.5), "\(Self.latency(remote) ?? -1)")
        if hindrance == .pause {
            _ = remote.command(#""set_property", "pause", true"#)
            // Time passes for the sender only.
            #expect(Polling.until { Self.latency(remote) ?? 0 > 4 })
            _ = remote.command(#""set_property", "pause", false"#)
        } else {
            sender.fallSilent()
            #expect(Polling.until { remote.get("paused-for-cache") as? Bool == true })
            #expect(Polling.until { Self.latency(remote) ?? 0 > 3 })
            sender.goOn()
        }
        #expect(Self.goesOn(remote))
        #expect(Self.settles(remote, at: 0.5), "\(Self.latency(remote) ?? -1)")
        _ = remote.command(#""quit""#)
        let outcome = try ended(), live = Self.live(outcome)
        #expect(outcome.code == 0, "\(outcome.code): \(outcome.errors)")
        #expect(live?["targetSeconds"] as? Double == 0.5 && live?["latencySeconds"] is Double, "\(outcome.output)")
        #expect(live?["jumps"] as? Int ?? 0 >= 1, "\(String(describing: live))")
    }

    /// Frames that are decoded already count, too: the film would stand until as many again had come.
    @Test func `a film that ran dry goes on once its latency has come`() throws {
        let bytes = FFmpegSender.film.bytes
        // Packets with which a frame begins (ISO/IEC 13818-1, 2.4.3.2), of the track that ffmpeg sends first.
        let begins = stride(from: 0, to: bytes.count - 187, by: 188).filter { bytes[$0 + 1] & 0x5F == 0x41 && bytes[$0 + 2] == 0 }
        try #require(begins.count == 50)
        let server = ByteSender(Array(bytes[..<begins[25]]))
        defer { server.stop() }
        let (remote, ended) = try Self.begin(["--latency", "0.3", "--network-timeout", "120", server.address("tcp")])
        #expect(Polling.until { remote.get("paused-for-cache") as? Bool == true })
        // A new connection would bring it from its beginning.
        server.refuse()
        let stopped = Self.position(remote)
        // 0.4 s, of which the end waits for what comes behind it.
        server.send(Array(bytes[begins[25]..<begins[35]]))
        #expect(Polling.until { Self.position(remote) > stopped + 0.1 }, "\(Self.position(remote)) after \(stopped)")
        _ = remote.command(#""quit""#)
        #expect(try ended().code == 0)
    }

    @Test func `a camera's stream has half a second by itself, and goes back to live when it is asked to`() throws {
        let server = try RTSPServer(serving: TestAssets.demo)
        defer { server.stop() }
        let (remote, ended) = try Self.begin([server.address("live")])
        #expect(Self.goesOn(remote))
        #expect(remote.get("live-latency-target") as? Double == 0.5)
        #expect(Self.settles(remote, at: 0.5), "\(Self.latency(remote) ?? -1)")
        // Whoever goes back wants to be there.
        #expect(Polling.until { Self.position(remote) > 5 })
        _ = remote.command(#""seek", -3"#)
        #expect(Polling.until { Self.latency(remote) ?? 0 > 3 })
        #expect(Self.goesOn(remote) && Self.latency(remote) ?? 0 > 3)
        _ = remote.command(#""set_property", "pause", true"#)
        #expect(Polling.until { Self.latency(remote) ?? 0 > 5 })
        #expect(remote.command(#""seek-to-live""#)?["error"] as? String == "success")
        #expect(Polling.until { remote.get("pause") as? Bool == false })
        #expect(Self.settles(remote, at: 0.5), "\(Self.latency(remote) ?? -1)")
        _ = remote.command(#""quit""#)
        #expect(try ended().code == 0)
    }

    @Test func `what has come can be gone back to, and from there to live by a key`() throws {
        let port = FFmpegSender.freePort()
        let sender = try FFmpegSender(making: Self.film + ["-f", "mpegts"], to: "tcp://127.0.0.1:\(port)?listen=1")
        defer { sender.stop() }
        #expect(FFmpegSender.waitForSocket("tcp", port))
        let (remote, ended) = try Self.begin(["--latency", "no", "tcp://127.0.0.1:\(port)"])
        #expect(Polling.until { Self.position(remote) > 5 })
        _ = remote.command(#""seek", -4"#)
        #expect(Polling.until { Self.latency(remote) ?? 0 > 3.5 }, "\(Self.latency(remote) ?? -1)")
        #expect(Self.goesOn(remote))
        _ = remote.command(#""keypress", "END""#)
        #expect(Polling.until { Self.latency(remote) ?? 9 < 2.5 }, "\(Self.latency(remote) ?? -1)")
        #expect(Self.goesOn(remote))
        _ = remote.command(#""quit""#)
        let outcome = try ended()
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
    }

    @Test func `films that are not live have no latency, and wrong ones are refused`() throws {
        let (remote, ended) = try Self.begin(["--loop", TestAssets.path("plain.mp4")])
        #expect(Self.goesOn(remote))
        #expect(Self.latency(remote) == nil && remote.command(#""seek-to-live""#)?["error"] as? String != "success")
        _ = remote.command(#""quit""#)
        #expect(try ended().code == 0)
        for word in ["soon", "0", "-1", "61", "nan"] { #expect(try PlayProgram.run(["--latency=\(word)", "x"]).code == 64, "\(word)") }
    }

    // MARK: Connections that are lost

    @Test(arguments: ["off", "full"]) func `a server that goes and comes back is played on`(sandbox: String) throws {
        let port = FFmpegSender.freePort(), address = "tcp://127.0.0.1:\(port)"
        let arguments = Self.film + ["-f", "mpegts"], listening = address + "?listen=1"
        let sender = try FFmpegSender(making: arguments, to: listening)
        #expect(FFmpegSender.waitForSocket("tcp", port))
        let relay = try ResettingRelay(to: port)
        defer { relay.stop() }
        let (remote, ended) = try Self.begin(["--sandbox", sandbox, "--network-timeout", "120", "tcp://127.0.0.1:\(relay.port)"])
        #expect(Polling.until { Self.position(remote) > 1 })
        relay.reset()
        sender.stop()
        #expect(Polling.until { remote.get("paused-for-cache") as? Bool == true })
        let stopped = Self.position(remote)
        let other = try FFmpegSender(making: arguments, to: listening)
        defer { other.stop() }
        #expect(Polling.until { Self.position(remote) > stopped + 1 }, "\(Self.position(remote)) after \(stopped)")
        _ = remote.command(#""quit""#)
        let outcome = try ended()
        #expect(outcome.code == 0, "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors == "tcp://127.0.0.1:\(relay.port): the connection was lost. It is tried again.\n", "\(outcome.errors)")
        #expect(Self.live(outcome)?["reconnections"] as? Int == 1, "\(outcome.output)")
    }

    @Test func `a camera that is switched off and on is played on`() throws {
        let port = FFmpegSender.freePort(), first = try RTSPServer(serving: TestAssets.demo, port: port)
        let (remote, ended) = try Self.begin(["--network-timeout", "120", first.address("live")])
        #expect(Polling.until { Self.position(remote) > 1 })
        first.kill()
        #expect(Polling.until { remote.get("paused-for-cache") as? Bool == true })
        let stopped = Self.position(remote)
        let second = try RTSPServer(serving: TestAssets.demo, port: port)
        defer { second.stop() }
        #expect(Polling.until { Self.position(remote) > stopped + 1 }, "\(Self.position(remote)) after \(stopped)")
        #expect(Self.settles(remote, at: 0.5), "\(Self.latency(remote) ?? -1)")
        _ = remote.command(#""quit""#)
        let outcome = try ended()
        #expect(outcome.code == 0 && outcome.errors.hasSuffix("the connection was lost. It is tried again.\n"), "\(outcome.code): \(outcome.errors)")
    }

    @Test func `one that stays away ends the film when the time for it is over`() throws {
        let server = try RTSPServer(serving: TestAssets.demo)
        defer { server.stop() }
        let address = server.address("live"), (remote, ended) = try Self.begin(["--network-timeout", "2", address])
        #expect(Self.goesOn(remote))
        server.kill()
        let outcome = try ended()
        #expect(outcome.code == 74 && outcome.errors.contains("play: \(address): ends at 0:0"), "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.hasSuffix(": the connection was lost.\n"), "\(outcome.errors)")
    }
}
