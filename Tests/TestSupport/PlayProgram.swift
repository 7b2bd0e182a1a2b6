public import Foundation
internal import Media

/// The built `play` program, run as a user would.
public enum PlayProgram {
    public struct Outcome {
        public var code: Int32
        public var output: String
        public var errors: String
        /// Ended by a signal of its own: a crash, or the deadline's.
        public var crashed: Bool
    }

    public static let path = BuiltPrograms.folder + "/play"

    /// Runs it to its end, or ends it after `limit` seconds with SIGABRT (SIGKILL, if that does not help), which counts as a crash.
    ///
    /// - Parameters:
    ///   - terminal: A device or a FIFO to be its standard input instead of `input`.
    ///   - sink: Its standard output, instead of one that is collected.
    ///   - launcher: A program with arguments that becomes `play`, such as `setpriv --reuid=…`.
    public static func run(
        _ arguments: [String], input: Data? = nil, environment: [String: String] = [:], limit: Double = 60, signal: (Int32, after: Double)? = nil,
        handle: Handle? = nil, terminal: String? = nil, sink: FileHandle? = nil, launcher: [String] = []
    ) throws -> Outcome {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: launcher.isEmpty ? path : "/usr/bin/env")
        process.arguments = launcher.isEmpty ? arguments : launcher + [path] + arguments
        // Films begin where somebody left them; nobody has left one here.
        var usual = ProcessInfo.processInfo.environment.merging(["XDG_STATE_HOME": NSTemporaryDirectory() + "no-state"]) { $1 }
        // It ends without its threads where one of them hangs, which ThreadSanitizer would report.
        usual["TSAN_OPTIONS", default: ""] += ":report_thread_leaks=0"
        process.environment = usual.merging(environment) { $1 }
        process.isDeaf = true
        let output = Pipe(), errors = Pipe(), inlet = Pipe()
        process.standardOutput = sink ?? output
        process.standardError = errors
        process.standardInput = terminal.map { FileHandle(forUpdatingAtPath: $0) as Any } ?? inlet
        try process.run()
        handle?.began(process)
        if sink != nil { try? output.fileHandleForWriting.close() }
        // Threads of their own, since Dispatch may take long to start one more beside those that wait: one reader a pipe, so that neither can
        // fill up and hold the program.
        let texts = Texts()
        let readers = [("output", output), ("errors", errors)].map { name, pipe in
            LoopThread(name: name) { texts.set(name, (try? pipe.fileHandleForReading.readToEnd()) ?? Data()) }
        }
        let writer = LoopThread(name: "input") {
            if let input { try? inlet.fileHandleForWriting.write(contentsOf: input) }
            try? inlet.fileHandleForWriting.close()
        }
        let began = MonotonicClock.shared.now()
        func hasEnded(after seconds: Double) -> Bool { process.waitUntilExit(until: began + HostSpan.seconds(seconds)) }
        if let signal, signal.after < limit, !hasEnded(after: signal.after) { process.send(signal.0) }
        if !hasEnded(after: limit) {
            // A program that hangs shows where.
            process.send(SIGABRT)
            if !hasEnded(after: limit + 30) { process.send(SIGKILL) }
            process.waitUntilExit()
            texts.set("limit", Data("\nended by the test after \(limit) seconds".utf8))
        }
        for thread in readers + [writer] { thread.join() }
        for end in [output.fileHandleForReading, output.fileHandleForWriting, errors.fileHandleForReading, errors.fileHandleForWriting] {
            try? end.close()
        }
        try? inlet.fileHandleForReading.close()
        return Outcome(
            code: process.terminationStatus, output: String(decoding: texts.get("output"), as: UTF8.self),
            errors: String(decoding: texts.get("errors") + texts.get("limit"), as: UTF8.self), crashed: process.terminationReason == .uncaughtSignal)
    }

    /// Runs it on another thread; the result is there when the closure returned is called, which waits for it.
    public static func begin(
        _ arguments: [String], environment: [String: String] = [:], limit: Double = 60, signal: (Int32, after: Double)? = nil, handle: Handle? = nil,
        terminal: String? = nil, sink: FileHandle? = nil, launcher: [String] = []
    ) -> () throws -> Outcome {
        let result = ResultBox()
        let thread = LoopThread(name: "play") {
            result.value = Swift.Result {
                try run(
                    arguments, environment: environment, limit: limit, signal: signal, handle: handle, terminal: terminal, sink: sink,
                    launcher: launcher)
            }
        }
        return {
            thread.join()
            return try result.value!.get()
        }
    }

    /// A hold on a program that runs, to end it when a test has seen enough.
    public final class Handle: Sendable {
        private let process = Monitor<ChildProcess?>(nil)

        public init() {}

        fileprivate func began(_ process: ChildProcess) { self.process.change { $0 = process } }

        /// Asks it to end, as Ctrl-C would.
        public func interrupt() { send(SIGINT) }

        /// Ends it as nothing can prevent.
        public func kill() { send(SIGKILL) }

        /// Sends a signal, if it runs; waits until it does.
        public func send(_ signal: Int32) {
            guard let process = process.wait(until: MonotonicClock.shared.now() + .seconds(60), { $0 }), process.isRunning else { return }
            process.send(signal)
        }

        /// nil before it has begun.
        public var processIdentifier: Int32? { process.withLock { $0?.processIdentifier } }

        public var isRunning: Bool { process.withLock { $0?.isRunning ?? false } }
    }

    private final class ResultBox: @unchecked Sendable {
        var value: Swift.Result<Outcome, any Error>?
    }

    private final class Texts: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [String: Data] = [:]
        func set(_ name: String, _ value: Data) { lock.withLock { values[name] = value } }
        func get(_ name: String) -> Data { lock.withLock { values[name] ?? Data() } }
    }
}
