import Foundation

/// A thread of another process that stands still until this object goes, while the others run: `ptrace(2)`.
public final class StoppedThread {
    private let process = ChildProcess(), inlet = Pipe(), outlet = Pipe()

    /// Returns once it stands.
    ///
    /// - Parameter name: of a thread of the process, the oldest of that name; nil is returned where there is none, or where it cannot be stopped.
    public init?(_ name: String, of processIdentifier: Int32) {
        let folder = "/proc/\(processIdentifier)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let found = threads.filter { (try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8)) == name + "\n" }
        guard let found = found.compactMap({ Int($0) }).min() else { return nil }
        process.executableURL = URL(filePath: "/usr/bin/python3")
        // PTRACE_SEIZE, PTRACE_INTERRUPT, __WALL. The thread goes on when this process ends.
        process.arguments = [
            "-c",
            """
            import ctypes, os, sys
            ptrace, thread = ctypes.CDLL(None).ptrace, int(sys.argv[1])
            ptrace.argtypes = [ctypes.c_long] * 4
            if ptrace(0x4206, thread, 0, 0) or ptrace(0x4207, thread, 0, 0): sys.exit(1)
            os.waitpid(thread, 0x40000000)
            print("stopped", flush=True)
            sys.stdin.read()
            """, "\(found)",
        ]
        process.standardInput = inlet
        process.standardOutput = outlet
        guard (try? process.run()) != nil else { return nil }
        try? outlet.fileHandleForWriting.close()
        guard outlet.firstLine().hasPrefix("stopped") else { return nil }
    }

    deinit {
        try? inlet.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
