internal import Foundation
internal import Glibc
internal import Media

/// nginx on 127.0.0.1, which serves the files of a folder as a web server of today does, with byte ranges.
public final class NginxServer: Sendable {
    /// The program that `PLAYER_NGINX` names, else the system's; nil where there is none.
    public static let program: String? = {
        let paths = [ProcessInfo.processInfo.environment["PLAYER_NGINX"], "/usr/sbin/nginx"].compactMap(\.self)
        return paths.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// A line of the server's log.
    public struct Request: Sendable {
        public let status: Int
        /// Over which connection it came.
        public let connection: Int
    }

    /// What it serves.
    public let folder: String
    private let place: String
    private let port: UInt16
    private let process = ChildProcess()

    /// Starts it with an empty folder. Blocks until it takes connections.
    public init() throws {
        place = ProcessFolder.path("nginx-\(UUID().uuidString.prefix(8))")
        folder = place + "/films"
        port = FFmpegSender.freePort()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(place)/\($0);" }.joined(separator: " ")
        let configuration = """
            daemon off; master_process off; pid \(place)/pid; error_log \(place)/errors;
            events { worker_connections 256; }
            http {
                log_format line '$status $connection'; access_log \(place)/requests line; \(folders)
                server { listen 127.0.0.1:\(port); root \(folder); }
            }
            """
        try configuration.write(toFile: place + "/configuration", atomically: true, encoding: .utf8)
        process.executableURL = URL(fileURLWithPath: Self.program ?? "/usr/sbin/nginx")
        process.arguments = ["-p", place, "-e", place + "/errors", "-c", place + "/configuration"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        guard FFmpegSender.waitForSocket("tcp", port) else {
            process.send(SIGKILL)
            throw ChildProcess.Failure(description: "nginx does not serve: \(TextFile.contents(of: place + "/errors") ?? "")")
        }
    }

    public func address(_ name: String) -> String { "http://127.0.0.1:\(port)/\(name)" }

    /// What has been answered whole, or broken off.
    public var requests: [Request] {
        (TextFile.contents(of: place + "/requests") ?? "").split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 2, let status = Int(words[0]), let connection = Int(words[1]) else { return nil }
            return Request(status: status, connection: connection)
        }
    }

    /// It answers nothing any more, and its connections stay.
    public func fallSilent() { process.send(SIGSTOP) }

    /// It goes on.
    public func goOn() { process.send(SIGCONT) }

    /// Ends it.
    public func stop() {
        process.send(SIGCONT)
        process.send(SIGTERM)
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: place)
    }
}
