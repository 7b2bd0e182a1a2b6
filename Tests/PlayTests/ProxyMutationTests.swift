import Foundation
import Media
import TestSupport
import Testing

/// The program between processes that lie, each through `lying-proxy`: whatever they say, it goes on, shows frames, exports them and plays sound,
/// ends when it is told, and keeps nothing of what they made.
///
/// `PLAYER_FUZZ_INPUTS` (`scripts/test --fuzz`) says over how many changed messages, for all together. Several run at once.
@Suite(.serialized, .unsanitized) struct ProxyMutationTests {
    /// How frames and sound go out; a window shows subtitles, too.
    enum Stage: String, CaseIterable, Sendable {
        case headless, export, wayland
        /// To a client of the export socket as fast as it takes the frames; such a film has no sound.
        case untimed

        func arguments(_ folder: String, subtitles: String) -> [String] {
            let timed = ["--speed", "4", "--audio-device", "null"]
            let own =
                switch self {
                case .headless: ["--sink", "headless"] + timed
                case .export: ["--sink", "headless", "--export", "unixfd:\(folder)/socket"] + timed
                case .untimed: ["--sink", "headless", "--untimed", "--no-audio", "--export", "unixfd:\(folder)/socket"]
                case .wayland: ["--sink", "wayland", "--sub-file", subtitles] + timed
                }
            return own + ["--sandbox", "full", "--decoder-restarts", "1000000", "--loop", "--quiet", "--stats", "-"]
        }

        /// KiB: twice the limit of lent memory, the program itself, and what is being exchanged. A window's frames may have to be converted.
        var mostMemory: Int { self == .wayland ? 1_800_000 : 1_200_000 }
    }

    private static let wanted =
        (ProcessInfo.processInfo.environment["PLAYER_FUZZ_INPUTS"].flatMap(Int.init) ?? TestExtent.rounds(240, full: 6000)) / Stage.allCases.count
    private static let lanes = min(ProcessInfo.processInfo.activeProcessorCount * 2, 16)

    /// What all lanes need.
    private struct Scene: Sendable {
        var stage: Stage
        var folder: String
        var display: String?
        var film: String

        init(_ stage: Stage, _ folder: String, _ display: String?) throws {
            (self.stage, self.folder, self.display) = (stage, folder, display)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let lines = (0..<100).map { "\($0 + 1)\n00:00:0\($0 / 10),\($0 % 10)00 --> 00:00:0\($0 / 10),\($0 % 10)90\nLine \($0)\n" }
            try lines.joined(separator: "\n").write(toFile: folder + "/text.srt", atomically: true, encoding: .utf8)
            film = try LyingFolder.film(at: folder + "/small.mp4")
        }
    }

    /// What all lanes have seen.
    private struct Tally: Sendable {
        var changes = 0
        var runs = 0
        var codes: [Int32: Int] = [:]
        var most = Holdings()
        /// Seconds from being told until it ended.
        var slowest = 0.0
        var failures: [String] = []
    }

    /// How one start of the program ended, and what it had at most.
    private struct Run {
        var outcome: PlayProgram.Outcome
        var most: Holdings
        /// From being told until it ended; nil where it ended by itself.
        var ending: Double?
    }

    /// Plays until so many messages were changed, or none for a minute.
    private static func play(_ scene: Scene, _ programs: LyingFolder, _ films: [String], until isEnough: (Int) -> Bool) throws -> Run {
        let arguments = scene.stage.arguments(programs.path, subtitles: scene.folder + "/text.srt")
        var environment = ["SCANOUT_DECODER": programs.decoder]
        if let display = scene.display { environment["WAYLAND_DISPLAY"] = display }
        let handle = PlayProgram.Handle()
        let ended = PlayProgram.begin(arguments + films, environment: environment, limit: 7200, handle: handle)
        _ = Polling.until { handle.processIdentifier != nil }
        let client = [.export, .untimed].contains(scene.stage) ? ExportReader(programs.path + "/socket") : nil
        defer { client?.end() }
        var most = Holdings()
        // A demuxer may say that the film goes on in an hour, as a film may: longer than all deadlines nothing is changed then.
        var seen = 0, patience = Date().addingTimeInterval(60)
        while handle.isRunning, Date() < patience {
            usleep(100_000)
            let size = programs.logSize
            if size > seen {
                (seen, patience) = (size, Date().addingTimeInterval(60))
                if isEnough(programs.takeChanges(keepsLog: true)) { break }
            }
            if let now = handle.processIdentifier.flatMap(Holdings.init) { most.grow(to: now) }
        }
        let told = handle.isRunning ? Date() : nil
        handle.send(SIGTERM)
        let outcome = try ended()
        return Run(outcome: outcome, most: most, ending: told.map { Date().timeIntervalSince($0) })
    }

    private static func play(_ scene: Scene, lane: Int, _ tally: Monitor<Tally>) throws {
        let programs = try LyingFolder(
            "\(scene.folder)/\(lane)", ["scanout-decoder", "scanout-demuxer", "scanout-subtitles"], sharing: scene.folder + "/lessons")
        // One has large frames that need each other; those of the rest cost less when they are lost.
        let films = lane == 0 ? [TestAssets.demo, TestAssets.path("hevc-10bit.mp4")] : [scene.film]
        while true {
            let (left, runs) = tally.withLock { (wanted - $0.changes, $0.runs) }
            guard left > 0, runs < 200 + wanted / 5 else { return }
            // A run of its own for each thousand: growth within one would show as a larger one.
            let run = try play(scene, programs, films) { $0 >= min(1000, left) || $0 >= wanted - tally.withLock { $0.changes } }
            let outcome = run.outcome
            var failures: [String] = []
            let isHarmless = !outcome.crashed && [0, 65, 69].contains(outcome.code) && run.most.memory < scene.stage.mostMemory
            if !isHarmless {
                let kept = "/tmp/player-proxy-changes-\(UUID().uuidString.prefix(8))"
                try? FileManager.default.copyItem(atPath: programs.log, toPath: kept)
                failures.append("messages in \(kept): \(outcome.code), \(run.most.memory) KiB, \(outcome.errors.suffix(500))")
            }
            let isPrintable = outcome.errors.split(separator: "\n").allSatisfy { !$0.unicodeScalars.contains { $0.value < 32 } }
            if outcome.code != 0, !isPrintable { failures.append("not printable: \(outcome.errors.debugDescription)") }
            let count = programs.takeChanges(), found = failures
            tally.change { tally in
                tally.failures += found
                tally.changes += count
                tally.runs += 1
                tally.codes[outcome.code, default: 0] += 1
                tally.most.grow(to: run.most)
                tally.slowest = max(tally.slowest, run.ending ?? 0)
            }
        }
    }

    @Test(arguments: Stage.allCases) func `processes that lie do the program no harm`(_ stage: Stage) throws {
        let weston = stage == .wayland ? try PrivateWeston(.gl) : nil, tally = Monitor(Tally())
        // Sockets have short names.
        let scene = try Scene(stage, "/tmp/proxy-\(UUID().uuidString.prefix(8))", weston?.display)
        defer { try? FileManager.default.removeItem(atPath: scene.folder) }
        Lanes.run(Self.lanes) { lane in
            do { try Self.play(scene, lane: lane, tally) } catch { tally.change { $0.failures.append("\(error)") } }
        }
        let seen = tally.withLock { $0 }
        print(
            "mutated messages: \(stage), \(seen.changes) changed in \(seen.runs) runs, exit codes \(seen.codes), at most "
                + "\(seen.most.memory / 1024) MB and \(seen.most.descriptors) descriptors, ended at most \(seen.slowest) s after SIGTERM")
        #expect(seen.failures == [])
        // Ten times what is promised: a busy machine.
        #expect(seen.slowest < 10, "it ended \(seen.slowest) s after it was told to")
        #expect(seen.changes >= Self.wanted && seen.most.descriptors < 400)
        withExtendedLifetime(weston) {}
    }
}
