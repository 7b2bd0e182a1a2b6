import Foundation
import TestSupport
import Testing

/// What a hostile film could try from inside the decoder process: each attempt is refused, or kills it.
@Suite struct ConfinementTests {
    private static func run(_ attempt: String) throws -> (code: Int32, wasKilled: Bool, output: String) {
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: BuiltPrograms.decoder)
        process.arguments = ["--attempt", attempt]
        // LeakSanitizer traces the process at its end, which a confined one does not let it.
        process.environment = ProcessInfo.processInfo.environment.merging(["ASAN_OPTIONS": "detect_leaks=0"]) { $1 }
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, process.terminationReason == .uncaughtSignal, text)
    }

    /// A sanitizer's shadow takes more memory than any limit allows: there is none then.
    private static let memory = SoftwareVADriver.isSanitized ? [] : ["memory"]

    private static let canFilter = (try? run("report"))?.output.contains("seccomp") == true

    @Test(
        .enabled(if: canFilter, "this kernel filters no system calls"),
        arguments: ["open", "write", "socket", "exec", "fork", "ptrace", "kill", "code", "priority"] + memory)
    func `an attempt is refused or deadly`(attempt: String) throws {
        let outcome = try Self.run(attempt)
        #expect(outcome.wasKilled || outcome.code == 0, "\(attempt) succeeded: \(outcome.output)")
    }

    @Test(.enabled(if: canFilter, "this kernel filters no system calls"), arguments: ["socket", "ptrace", "kill"])
    func `what no decoder asks for kills it`(attempt: String) throws {
        let outcome = try Self.run(attempt)
        #expect(outcome.wasKilled && outcome.code == SIGSYS)
    }

    @Test func `started by hand it says what it is`() throws {
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: BuiltPrograms.decoder)
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 64)
        #expect(text.contains("started by the player"))
    }
}
