internal import Foundation
internal import Glibc
internal import Media

/// ffmpeg as the sender of a live stream: 2 s of 50 frames with sound, no faster than they play.
public final class FFmpegSender: Sendable {
    private let process = ChildProcess()
    /// What ends it: SIGTERM where it is a shell, which has to end ffmpeg first.
    private let endSignal: Int32

    /// What is sent: MPEG-2 video without reordering, and MP2, as a transport stream. Made by ffmpeg when it is first asked for.
    public static let film: (path: String, bytes: [UInt8]) = {
        let path = NSTemporaryDirectory() + "sent-\(getpid()).ts", process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=2", "-f", "lavfi", "-i", "sine=r=48000:d=2"]
            + ["-c:v", "mpeg2video", "-bf", "0", "-g", "25", "-c:a", "mp2", "-y", path]
        try? process.run()
        process.waitUntilExit()
        return (path, (try? [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))) ?? [])
    }()

    /// - Parameters:
    ///   - arguments: From the codec on: `-c copy -f mpegts`.
    ///   - address: Where to, with ffmpeg's options (`?listen=1`).
    public convenience init(_ arguments: [String], to address: String) throws {
        try self.init(making: ["-i", Self.film.path] + arguments, to: address)
    }

    /// A sender of what ffmpeg makes by itself.
    ///
    /// - Parameter arguments: From the inputs (`-f lavfi -i …`) on; each is read no faster than it plays.
    public convenience init(making arguments: [String], to address: String) throws {
        try self.init("/usr/bin/env", ["ffmpeg"] + Self.words(arguments, address))
    }

    /// The same, which tries again up to four times where it makes no connection, or loses it.
    public convenience init(persistently arguments: [String], to address: String) throws {
        let loop = "trap 'kill -9 $!; exit' TERM; for try in 1 2 3 4 5; do ffmpeg \"$@\" & wait $! && exit; done"
        try self.init("/bin/sh", ["-c", loop, "sh"] + Self.words(arguments, address), endedBy: SIGTERM)
    }

    private init(_ program: String, _ arguments: [String], endedBy signal: Int32 = SIGKILL) throws {
        endSignal = signal
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        try process.run()
    }

    private static func words(_ arguments: [String], _ address: String) -> [String] {
        ["-nostdin", "-v", "quiet"] + arguments.flatMap { $0 == "-i" ? ["-re", "-i"] : [$0] } + [address]
    }

    /// It sends nothing any more, and keeps its connections.
    public func fallSilent() { process.send(SIGSTOP) }

    /// It sends what it would have sent meanwhile, and goes on.
    public func goOn() { process.send(SIGCONT) }

    /// Waits until it has sent all.
    public func waitUntilEnd() { process.waitUntilExit() }

    /// Ends it.
    public func stop() {
        process.send(endSignal)
        process.waitUntilExit()
    }

    /// A port on 127.0.0.1 that nobody uses.
    public static func freePort() -> UInt16 {
        let (socket, port) = LyingServer.listen()
        close(socket)
        return port
    }

    /// Waits until a socket of this machine has the port: `tcp` ones that listen, `udp` ones that receive.
    public static func waitForSocket(_ kind: String, _ port: UInt16) -> Bool {
        let place = ":" + String(String(0x10000 + Int(port), radix: 16).uppercased().dropFirst())
        return Polling.until(every: .milliseconds(10)) {
            let tables = [kind, kind + "6"].compactMap { TextFile.contents(of: "/proc/net/\($0)") }.joined()
            return tables.split(separator: "\n").contains { row in
                let cells = row.split(separator: " ")
                return cells.count > 3 && cells[1].hasSuffix(place) && (kind == "udp" || cells[3] == "0A")
            }
        }
    }
}
