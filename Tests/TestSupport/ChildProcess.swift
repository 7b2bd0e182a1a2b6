internal import CTestSupport
public import Foundation
internal import Glibc
public import Media

/// A program that a test runs, with the members of Foundation's `Process` that tests use.
///
/// Foundation learns of an end by a socket that its child inherits, and with it every other program that is started at the same moment: it then
/// waits for that one, too. Here a thread waits for the program itself, and the program has nothing open but what it was given.
///
/// Thread-safety: what describes the program is set by one thread before `run`; the rest is for any thread. The corresponding C functions are
/// `posix_spawn(3)` and `waitid(2)`.
public final class ChildProcess: @unchecked Sendable {
    public enum TerminationReason: Sendable { case exit, uncaughtSignal }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private enum State {
        case new
        case running(pid_t)
        case ended(pid_t, code: Int32, TerminationReason)
    }

    public var executableURL: URL?
    public var arguments: [String] = []
    /// nil: that of this process.
    public var environment: [String: String]?
    public var currentDirectoryURL: URL?
    /// A `Pipe`, whose other end `run` closes here, or a `FileHandle`; nil: that of this process.
    public var standardInput: Any?
    public var standardOutput: Any?
    public var standardError: Any?
    /// Requests to end (SIGINT, SIGTERM, SIGHUP, SIGQUIT) wait until the program takes them, so that none comes too early.
    public var isDeaf = false
    private let state = Monitor(State.new)

    public init() {}

    /// Starts it.
    public func run() throws {
        let path = executableURL?.path ?? "", null = FileHandle(forUpdatingAtPath: "/dev/null")
        var given: [FileHandle] = [], child: pid_t = 0
        let streams = [standardInput, standardOutput, standardError].enumerated().map { number, stream in
            if let pipe = stream as? Pipe {
                given.append(number == 0 ? pipe.fileHandleForReading : pipe.fileHandleForWriting)
                return given.last!.fileDescriptor
            }
            guard let handle = stream as? FileHandle else { return -1 }
            return (handle === FileHandle.nullDevice ? null! : handle).fileDescriptor
        }
        let words = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
        let result = unsafe Self.withStrings([path] + arguments) { arguments in
            unsafe Self.withStrings(words) { unsafe ctest_spawn(path, arguments, $0, streams, currentDirectoryURL?.path, isDeaf ? 1 : 0, &child) }
        }
        guard result == 0 else { throw unsafe Failure(description: "cannot run \(path): \(String(cString: strerror(result)))") }
        for end in given { try? end.close() }
        let process = child
        state.change { $0 = .running(process) }
        // Nobody joins it: it cleans up after itself.
        _ = LoopThread(name: "child") { self.watch(process) }
    }

    private func watch(_ process: pid_t) {
        var information = unsafe siginfo_t(), status: Int32 = 0
        while unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        state.change { state in
            // Not before: as long as nobody has waited for it, its number is that of no other program.
            unsafe waitpid(process, &status, 0)
            let signal = status & 0x7f
            state = signal == 0 ? .ended(process, code: status >> 8 & 0xff, .exit) : .ended(process, code: signal, .uncaughtSignal)
        }
    }

    private static func withStrings<R>(_ words: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        let copies: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
    }

    /// Waits for its end; returns at once when it was never started. False when `deadline` (CLOCK_MONOTONIC; nil: never) comes before.
    @discardableResult public func waitUntilExit(until deadline: HostTime? = nil) -> Bool {
        let ended: Void? = state.wait(until: deadline) { if case .running = $0 { nil } else { () } }
        return ended != nil
    }

    public var isRunning: Bool { state.withLock { if case .running = $0 { true } else { false } } }

    /// 0 before the start.
    public var processIdentifier: Int32 {
        state.withLock { state in
            switch state {
            case .new: 0
            case .running(let process), .ended(let process, _, _): process
            }
        }
    }

    /// Its exit code, or the signal that ended it. Asked after the end.
    public var terminationStatus: Int32 { end.code }

    public var terminationReason: TerminationReason { end.reason }

    private var end: (code: Int32, reason: TerminationReason) {
        guard case .ended(_, let code, let reason) = state.withLock({ $0 }) else { preconditionFailure("the program has not ended") }
        return (code, reason)
    }

    /// Sends it a signal, if it runs.
    public func send(_ signal: Int32) {
        state.withLock { if case .running(let process) = $0 { kill(process, signal) } }
    }

    public func terminate() { send(SIGTERM) }

    public func interrupt() { send(SIGINT) }
}
