public import Foundation

/// FFmpeg's program, which makes films for tests and says what is in them.
public enum FFmpeg {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    /// Runs it to its end, with these words behind the usual ones; files that are there are replaced. Throws when it fails.
    ///
    /// - Returns: What it has written to standard output.
    @discardableResult public static func run(_ arguments: [String]) throws -> Data {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-v", "error", "-y"] + arguments
        process.standardOutput = output
        try process.run()
        try? output.fileHandleForWriting.close()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "ffmpeg \(arguments.joined(separator: " ")) fails") }
        return data
    }

    /// The hash of every frame of a film's first track of video, in yuv420p.
    public static func frameSums(of film: String) throws -> [String] {
        let text = String(
            decoding: try run(["-i", film, "-map", "0:v:0", "-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-f", "framemd5", "-"]), as: UTF8.self)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").last.map(String.init) }
    }
}
