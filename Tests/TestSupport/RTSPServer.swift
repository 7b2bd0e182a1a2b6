internal import Foundation
internal import Media

/// GStreamer's RTSP server on 127.0.0.1, which serves one film in several ways (`Tests/rtsp-server.py` says which).
public final class RTSPServer: Sendable {
    private let process = ChildProcess()
    private let input = Pipe()
    private let port: Int

    /// - Parameters:
    ///   - film: MP4, with H.264.
    ///   - port: Where it serves; nil: the kernel chooses.
    public init(serving film: String, port: UInt16? = nil) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [TestAssets.root + "/Tests/rtsp-server.py", film] + (port.map { ["\($0)"] } ?? [])
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        let text = output.firstLine()
        guard let port = Int(text.prefix(while: \.isNumber)) else {
            process.waitUntilExit()
            throw ChildProcess.Failure(
                description: "no RTSP server: gir1.2-gst-rtsp-server-1.0, python3-gi and gstreamer1.0-plugins-bad are needed")
        }
        self.port = port
    }

    /// - Parameters:
    ///   - path: `film`, `sound`, `udp`, `locked` or `live`.
    ///   - user: Name and password as an address has them (`name:password`).
    public func address(_ path: String, user: String? = nil) -> String { "rtsp://\(user.map { $0 + "@" } ?? "")127.0.0.1:\(port)/\(path)" }

    /// Ends it as a power cut would: no client is told.
    public func kill() {
        process.send(SIGKILL)
        process.waitUntilExit()
    }

    /// It takes connections and says nothing any more.
    public func fallSilent() { process.send(SIGSTOP) }

    /// Ends the server, whatever has become of it.
    public func stop() {
        try? input.fileHandleForWriting.close()
        process.send(SIGCONT)
        process.waitUntilExit()
    }
}
