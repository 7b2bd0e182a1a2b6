import Foundation
import Media
import TestSupport
import Testing

/// Films over a network that delays, loses and exchanges packets, and is narrow (tc-netem(8)): all from this machine to itself goes through it.
@Suite("A poor network", .serialized, .enabled(if: Lab.isHere, "runs in the virtual machine: scripts/lab suite"))
final class PoorNetworkTests {
    init() throws { _ = try Lab.output(of: "modprobe", ["sch_netem"]) }

    deinit { _ = try? Lab.output(of: "in-lab", ["tc", "qdisc", "del", "dev", "lo", "root"]) }

    /// From now on the network does so.
    private static func impair(_ rules: String) throws {
        let words = ["tc", "qdisc", "replace", "dev", "lo", "root", "netem"] + rules.split(separator: " ").map(String.init)
        _ = try Lab.output(of: "in-lab", words)
    }

    private static let arguments = ["--sink", "md5=-", "--no-audio"]

    private static func hashes(_ outcome: PlayProgram.Outcome) -> [String] { FrameMD5File(outcome.output)?.lines.map(\.hash) ?? [] }

    private static func local() throws -> [String] {
        let hashes = hashes(try PlayProgram.run(arguments + [FFmpegSender.film.path], limit: 120))
        try #require(hashes.count == 50)
        return hashes
    }

    @Test(
        arguments: [
            ("delay 50ms 20ms 25% loss 5% limit 10000", ["off", "full"]), ("delay 10ms reorder 30% 50% duplicate 5% limit 10000", ["off"]),
            ("rate 1mbit delay 20ms limit 10000", ["full"]),
        ] as [(String, [String])])
    func `a film of a web server is whole`(rules: String, sandboxes: [String]) throws {
        let local = try Self.local(), bytes = FFmpegSender.film.bytes
        let server = LyingServer { .file(bytes, $0) }
        defer { server.stop() }
        try Self.impair(rules)
        for sandbox in sandboxes {
            let outcome = try PlayProgram.run(
                Self.arguments + ["--sandbox", sandbox, server.address("film.ts")], environment: ["http_proxy": ""], limit: 240)
            #expect(outcome.code == 0 && Self.hashes(outcome) == local, "\(sandbox) \(outcome.code): \(outcome.errors)")
        }
    }

    @Test func `what SRT lost comes again`() throws {
        let port = FFmpegSender.freePort(), path = ProcessFolder.path("long.ts")
        try FFmpeg.run(["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=8", "-c:v", "mpeg2video", "-bf", "0", "-g", "25", path])
        let local = Self.hashes(try PlayProgram.run(Self.arguments + [path], limit: 120))
        try #require(local.count == 200)
        try Self.impair("delay 10ms 5ms loss 5% limit 10000")
        // The time in which it may come again, in microseconds; what a busy machine brings later is waited for.
        let address = "srt://127.0.0.1:\(port)?latency=1000000&tlpktdrop=0"
        let ended = PlayProgram.begin(Self.arguments + ["--network-timeout", "20", address + "&mode=listener"], limit: 240)
        #expect(FFmpegSender.waitForSocket("udp", port))
        // A connection is not made where the answer to the last handshake is lost.
        let sender = try FFmpegSender(persistently: ["-i", path, "-c", "copy", "-f", "mpegts"], to: address)
        defer { sender.stop() }
        let outcome = try ended(), hashes = Self.hashes(outcome)
        // Its end is that of the connection, and what the sender has not sent when it closes never comes: the last frame may be there in part.
        let right = zip(hashes, local).prefix { $0 == $1 }.count
        #expect(
            outcome.code == 74 && hashes.count > 100 && hashes.count <= local.count && right >= hashes.count - 1,
            "\(right) of \(hashes.count) \(outcome.code): \(outcome.errors)")
    }

    private static func session(_ port: UInt16) throws -> String {
        let path = ProcessFolder.path("session-\(port).sdp")
        try "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=-\nc=IN IP4 127.0.0.1\nt=0 0\nm=video \(port) RTP/AVP 32\na=rtpmap:32 MPV/90000\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// What is shown of the film that is sent by RTP.
    private static func received(_ rules: String) throws -> [String] {
        let port = FFmpegSender.freePort()
        try impair(rules)
        let ended = PlayProgram.begin(arguments + ["--network-timeout", "20", try session(port)], limit: 240)
        #expect(FFmpegSender.waitForSocket("udp", port))
        let sender = try FFmpegSender(["-an", "-c", "copy", "-f", "rtp"], to: "rtp://127.0.0.1:\(port)")
        defer { sender.stop() }
        let outcome = try ended()
        // Its sender says that it ends, unless that packet is lost.
        #expect([0, 74].contains(outcome.code), "\(rules) \(outcome.code): \(outcome.errors)")
        return hashes(outcome)
    }

    @Test func `packets of RTP that come in another order are put into theirs`() throws {
        let local = try Self.local(), hashes = try Self.received("delay 20ms reorder 30% 50% limit 10000")
        // Where the first packet is not the first to come, the film begins with the next frame that can be decoded alone.
        #expect(hashes.suffix(25) == local.suffix(25), "\(hashes.count)")
    }

    @Test func `packets of RTP that are lost damage frames, and the film goes on`() throws {
        let hashes = try Self.received("loss 5% limit 10000")
        #expect(hashes.count >= 25, "\(hashes.count)")
    }
}
