import Foundation
import Media
import TestSupport
import Testing

/// The program between processes that lie, each through `lying-proxy`: whatever they say, it goes on, shows frames, exports them and plays sound,
/// ends when it is told, and keeps nothing of what they made.
///
/// `PLAYER_FUZZ_INPUTS` (`scripts/test --fuzz`) says over how many changed messages, for all together.
@Suite(.serialized, .unsanitized) struct ProxyMutationTests {
    /// How frames and sound go out; a window shows subtitles, too.
    enum Stage: String, CaseIterable, Sendable {
        case headless, export, wayland

        /// KiB: twice the limit of lent memory, the program itself, and what is being exchanged. For a window, a frame as large as may be lent is
        /// converted into two or three buffers of 8/3 of its bytes.
        var mostMemory: Int { self == .wayland ? 3_000_000 : 1_200_000 }
    }

    private static let wanted =
        (ProcessInfo.processInfo.environment["PLAYER_FUZZ_INPUTS"].flatMap(Int.init) ?? TestExtent.rounds(240, full: 6000)) / Stage.allCases.count

    /// A folder whose programs are the proxy, with the true ones in `real`.
    private static func makeFolder() throws -> String {
        let folder = "/tmp/proxy-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder + "/real", withIntermediateDirectories: true)
        for name in ["scanout-decoder", "scanout-demuxer", "scanout-subtitles"] {
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: BuiltPrograms.folder + "/lying-proxy")
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/real/\(name)", withDestinationPath: BuiltPrograms.folder + "/" + name)
        }
        let lines = (0..<100).map { "\($0 + 1)\n00:00:0\($0 / 10),\($0 % 10)00 --> 00:00:0\($0 / 10),\($0 % 10)90\nLine \($0)\n" }
        try lines.joined(separator: "\n").write(toFile: folder + "/text.srt", atomically: true, encoding: .utf8)
        return folder
    }

    /// How many messages were changed so far.
    private static func changes(in folder: String) -> Int { TextFile.bytes(of: folder + "/changes")?.count { $0 == UInt8(ascii: "\n") } ?? 0 }

    /// How one start of the program ended, and what it had at most.
    private struct Run {
        var outcome: PlayProgram.Outcome
        var most: Holdings
        /// From being told until it ended; nil where it ended by itself.
        var ending: Double?
    }

    /// Plays until so many messages were changed, or none for a minute.
    private static func play(_ stage: Stage, _ folder: String, until limit: Int, _ display: String?) throws -> Run {
        var arguments = ["--sandbox", "full", "--decoder-restarts", "1000000", "--loop", "--quiet", "--stats", "-"],
            environment: [String: String] = [:]
        switch stage {
        case .headless: arguments += ["--sink", "headless", "--speed", "4", "--audio-device", "null"]
        case .export: arguments += ["--sink", "headless", "--untimed", "--no-audio", "--export", "unixfd:\(folder)/socket"]
        case .wayland: arguments += ["--sink", "wayland", "--speed", "4", "--audio-device", "null", "--sub-file", folder + "/text.srt"]
        }
        environment["SCANOUT_DECODER"] = folder + "/scanout-decoder"
        if let display { environment["WAYLAND_DISPLAY"] = display }
        let handle = PlayProgram.Handle()
        let ended = PlayProgram.begin(
            arguments + [TestAssets.demo, TestAssets.path("hevc-10bit.mp4")], environment: environment, limit: 7200, handle: handle)
        #expect(Polling.until { handle.isRunning })
        let client = stage == .export ? ExportReader(folder + "/socket") : nil
        defer { client?.end() }
        var most = Holdings()
        // A demuxer may say that the film goes on in an hour, as a film may: longer than all deadlines nothing is changed then.
        var seen = 0, patience = Date().addingTimeInterval(60)
        while handle.isRunning, Date() < patience {
            usleep(100_000)
            let count = changes(in: folder)
            if count >= limit { break }
            if count > seen { (seen, patience) = (count, Date().addingTimeInterval(60)) }
            if let now = handle.processIdentifier.flatMap(Holdings.init) { most.grow(to: now) }
        }
        let told = handle.isRunning ? Date() : nil
        handle.send(SIGTERM)
        let outcome = try ended()
        return Run(outcome: outcome, most: most, ending: told.map { Date().timeIntervalSince($0) })
    }

    @Test(arguments: Stage.allCases) func `processes that lie in every sixth message do the program no harm`(_ stage: Stage) throws {
        let weston = stage == .wayland ? try PrivateWeston(.gl) : nil
        let folder = try Self.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var runs: [Run] = [], codes: [Int32: Int] = [:]
        while Self.changes(in: folder) < Self.wanted, runs.count < 100 + Self.wanted / 10 {
            let before = Self.changes(in: folder)
            // A run of its own for each thousand: growth within one would show as a larger one.
            let run = try Self.play(stage, folder, until: min(before + 1000, Self.wanted), weston?.display)
            let outcome = run.outcome
            #expect(!outcome.crashed && [0, 65, 69].contains(outcome.code), "\(outcome.code) \(outcome.errors.suffix(500))")
            // Ten times what is promised: a busy machine.
            #expect(run.ending ?? 0 < 10, "it ended \(run.ending ?? 0) s after it was told to")
            #expect(outcome.code == 0 || outcome.errors.split(separator: "\n").allSatisfy { !$0.unicodeScalars.contains { $0.value < 32 } })
            codes[outcome.code, default: 0] += 1
            runs.append(run)
            if outcome.crashed {
                try? FileManager.default.copyItem(atPath: folder + "/changes", toPath: "/tmp/player-proxy-changes-\(getpid())")
                break
            }
        }
        let memory = runs.map(\.most.memory).max() ?? 0, descriptors = runs.map(\.most.descriptors).max() ?? 0
        let count = Self.changes(in: folder), slowest = runs.compactMap(\.ending).max() ?? 0
        print(
            "mutated messages: \(stage), \(count) changed in \(runs.count) runs, exit codes \(codes), at most \(memory / 1024) MB and "
                + "\(descriptors) descriptors, ended at most \(slowest) s after SIGTERM")
        #expect(count >= Self.wanted)
        #expect(memory < stage.mostMemory && descriptors < 400)
    }
}
