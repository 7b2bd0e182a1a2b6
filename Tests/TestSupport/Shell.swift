internal import Foundation

/// Commands of a shell, for what has no call of its own: modules, mounts, files of the kernel.
public enum Shell {
    /// Runs a command until its end, and returns what it printed without white space around it.
    @discardableResult public static func run(_ command: String) -> String {
        let process = ChildProcess(), pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardOutput = pipe
        try? process.run()
        process.waitUntilExit()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
