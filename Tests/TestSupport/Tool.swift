import Foundation

/// Programs run to their end.
public enum Tool {
    /// What came of a run: its exit code, 124 when it took too long, and what it printed.
    public struct Outcome {
        public var code: Int32
        public var output: String
        public var errors: String
    }

    /// - Parameter limit: Seconds. A hang ends, and shows as 124. Linking the library takes minutes in a virtual machine on a busy host.
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], limit: Int = 900
    ) throws -> Outcome {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "\(limit)", program] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let folder = FileManager.default.temporaryDirectory
        let output = folder.appendingPathComponent("tool-\(UUID().uuidString).out"), errors = output.appendingPathExtension("err")
        // Files, not pipes: what a program leaves running cannot hold them open.
        for file in [output, errors] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
        defer { for file in [output, errors] { try? FileManager.default.removeItem(at: file) } }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        return Outcome(
            code: process.terminationStatus, output: TextFile.contents(of: output.path) ?? "", errors: TextFile.contents(of: errors.path) ?? "")
    }
}
