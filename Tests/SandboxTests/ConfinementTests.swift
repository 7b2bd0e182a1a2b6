import Foundation
import TestSupport
import Testing

/// What a hostile film could try from inside the decoder process: each attempt is refused, or kills it.
@Suite struct ConfinementTests {
    private static func run(attempt: String, _ profile: String = "strict") throws -> (code: Int32, wasKilled: Bool, output: String) {
        try run(BuiltPrograms.decoder, "--attempt", attempt, profile)
    }

    private static func run(_ program: String, _ arguments: String...) throws -> (code: Int32, wasKilled: Bool, output: String) {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        // LeakSanitizer traces the process at its end, which a confined one does not let it.
        process.environment = ProcessInfo.processInfo.environment.merging(["ASAN_OPTIONS": "detect_leaks=0"]) { $1 }
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, process.terminationReason == .uncaughtSignal, text)
    }

    /// A sanitizer's shadow takes more memory than any limit allows: there is none then.
    private static let memory = TestExtent.isSanitized ? [] : ["memory"]

    private static let profiles = ["strict", "hardware", "reading"]

    private static let canFilter = measures("strict").contains("seccomp")

    /// What a process of this profile has given up. The lines after the first say what it could not, and why.
    private static func measures(_ profile: String) -> Substring {
        (try? run(attempt: "report", profile))?.output.prefix { $0 != "\n" } ?? ""
    }

    @Test(
        .enabled(if: canFilter, "this kernel filters no system calls"),
        arguments: ["open", "write", "socket", "exec", "fork", "ptrace", "kill", "code", "priority", "terminal"] + memory, profiles)
    func `an attempt is refused or deadly`(attempt: String, profile: String) throws {
        let outcome = try Self.run(attempt: attempt, profile)
        // The attempt is a real one; the player does not use such a process (`SandboxReport.isConfined`).
        if attempt == "open", profile == "reading", !Self.canKeepFilesFromReaders { return #expect(outcome.code == 1) }
        #expect(outcome.wasKilled || outcome.code == 0, "\(attempt) succeeded: \(outcome.output)")
    }

    /// Of a process that reads some folders only Landlock keeps the others away.
    private static let canKeepFilesFromReaders = measures("reading").contains("Landlock")

    /// These reach other processes, or memory without a limit, by an argument of a system call that decoding needs. No version of Landlock is
    /// needed to refuse them.
    @Test(
        .enabled(if: canFilter, "this kernel filters no system calls"),
        arguments: ["owner", "signal", "async", "affinity", "clock", "futex", "sysinfo", "shared"], profiles)
    func `an argument that reaches beyond the process is refused`(attempt: String, profile: String) throws {
        let outcome = try Self.run(attempt: attempt, profile)
        #expect(!outcome.wasKilled && outcome.code == 0, "\(attempt) succeeded: \(outcome.output)")
    }

    @Test(.enabled(if: canFilter, "this kernel filters no system calls")) func `memory that the player lends cannot be sealed`() throws {
        let outcome = try Self.run(attempt: "seals")
        #expect(!outcome.wasKilled && outcome.code == 0)
        // Under the profile that lends no memory it can, so the attempt is a real one.
        #expect(try Self.run(attempt: "seals", "hardware").code == 1)
    }

    @Test(.enabled(if: canFilter, "this kernel filters no system calls"), arguments: ["socket", "ptrace", "kill"], profiles)
    func `what no decoder asks for kills it`(attempt: String, profile: String) throws {
        let outcome = try Self.run(attempt: attempt, profile)
        #expect(outcome.wasKilled && outcome.code == SIGSYS)
    }

    @Test(arguments: [BuiltPrograms.decoder, BuiltPrograms.demuxer, BuiltPrograms.subtitles])
    func `started by hand it says what it is`(program: String) throws {
        let outcome = try Self.run(program)
        #expect(outcome.code == 64)
        #expect(outcome.output.contains("started by the player"))
    }

    /// Its libraries take longer to load than all others, and every film waits for that.
    @Test func `the decoder does not load libavformat`() throws {
        let decoder = try Self.run("/usr/bin/env", "ldd", BuiltPrograms.decoder), demuxer = try Self.run("/usr/bin/env", "ldd", BuiltPrograms.demuxer)
        #expect(decoder.output.contains("libavcodec") && !decoder.output.contains("libavformat"))
        #expect(demuxer.output.contains("libavformat"))
    }
}
