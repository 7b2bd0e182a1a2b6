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

    @Test(Self.withoutThreadSanitizer, arguments: ["off", "full"]) func `a transport stream in UDP packets plays, and its end is that nothing comes`(
        sandbox: String
    ) throws {
        let port = FFmpegSender.freePort(), address = "udp://127.0.0.1:\(port)"
        let ended = PlayProgram.begin(Self.arguments + ["--sandbox", sandbox, "--network-timeout", "3", address])
        #expect(FFmpegSender.waitForSocket("udp", port))
        let sender = try FFmpegSender(["-c", "copy", "-f", "mpegts"], to: address + "?pkt_size=1316")
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

    /// Neither of them tells the end of a stream from that of the connection.
    @Test(arguments: ["rtmp", "srt"]) func `a stream over a protocol without an end says that the connection ended it`(scheme: String) throws {
        let port = FFmpegSender.freePort(), address = "\(scheme)://127.0.0.1:\(port)" + (scheme == "rtmp" ? "/live/film" : "")
        let sender =
            scheme == "rtmp"
            ? try FFmpegSender(["-c:v", "flv1", "-q:v", "2", "-an", "-f", "flv", "-listen", "1"], to: address)
            : try FFmpegSender(["-c", "copy", "-f", "mpegts"], to: address + "?mode=listener")
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
