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
}
