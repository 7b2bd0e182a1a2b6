import Foundation
import Media
import TestSupport
import Testing

/// Whole films with wrong bytes through the whole program, frames and sound: whatever is in them, it shows them in a window, exports them or plays
/// them for nobody, and ends with a code that says what it found.
///
/// `PLAYER_FUZZ_INPUTS` (`scripts/test --fuzz`) says how many, for all together; `PLAYER_FUZZ_SEED` makes the same films again. Each start of the
/// program plays a list of them, and several run at once. A list that ends the program by a signal or stands still is left in /tmp.
@Suite(.serialized, .unsanitized) struct FilmMutationTests {
    /// How frames and sound go out.
    enum Stage: String, CaseIterable, Sendable {
        case headless, export, wayland
        /// To a client of the export socket as fast as it takes the frames; such a film has no sound.
        case untimed

        /// A second of each film, at sixteen times its speed or as fast as it can be decoded.
        func arguments(_ folder: String) -> [String] {
            let timed = ["--speed", "16", "--audio-device", "null"]
            let own =
                switch self {
                case .headless: ["--sink", "headless"] + timed
                case .export: ["--sink", "headless", "--export", "unixfd:\(folder)/socket"] + timed
                case .untimed: ["--sink", "headless", "--untimed", "--no-audio", "--export", "unixfd:\(folder)/socket"]
                case .wayland: ["--sink", "wayland"] + timed
                }
            return own + ["--sandbox", "full", "--decoder-restarts", "1000", "--duration", "1", "--quiet"]
        }

        /// KiB: twice the limit of lent memory, the program itself, and what is being exchanged. A window's frames may have to be converted.
        var mostMemory: Int { self == .wayland ? 1_800_000 : 1_200_000 }
    }

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }
    private static let seed = UInt64(number("PLAYER_FUZZ_SEED") ?? 20_000)
    private static let wanted = (number("PLAYER_FUZZ_INPUTS") ?? TestExtent.rounds(24, full: 900)) / Stage.allCases.count
    private static let lanes = min(ProcessInfo.processInfo.activeProcessorCount * 2, 16)
    /// Films that one start of the program plays, and seconds that each may take, on average: a process may hang for 10 s at each of some samples.
    /// A list of 16 takes ten seconds, and one that stands shall not hold the others up for half an hour.
    private static let batch = min(16, max(wanted / lanes, 1)), patience = 25.0
    /// 1 MB of a film is enough to be mutated.
    private static let mostBytes = 1 << 20

    /// What all lanes have seen.
    private struct Tally: Sendable {
        /// Films that are played or have been.
        var begun = 0
        var played = 0
        var starts = 0
        var codes: [Int32: Int] = [:]
        var most = Holdings()
        /// Seconds that the slowest list took.
        var slowest = 0.0
        var failures: [String] = []
    }

    private static func films(_ dice: inout Dice) -> [String] {
        let own = ["demo.mp4", "plain.mp4", "av1.mkv", "vp9.webm", "edit-list.mp4", "hdr10.mp4", "short.mp4", "audio-only.flac"].map(TestAssets.path)
        // Lists of other files are not mutated.
        let others =
            MediaCatalog.shared.map { catalog in
                catalog.films.filter { !["malformed", "hls"].contains($0.group) }.map { catalog.path($0.path) }
            } ?? []
        return (own + others).shuffled(using: &dice)
    }

    /// Changes so many films and writes them into the folder.
    private static func mutate(_ films: some Collection<String>, _ folder: String, _ dice: inout Dice) throws -> [String] {
        try films.enumerated().map { number, path in
            var bytes = Array((TextFile.bytes(of: path) ?? []).prefix(mostBytes))
            Mutation.apply(to: &bytes, head: 2048, places: 1...8, &dice)
            let ending = path.split(separator: ".").last ?? "film", place = "\(folder)/\(number).\(ending)"
            try Data(bytes).write(to: URL(fileURLWithPath: place))
            return place
        }
    }

    /// Plays lists of films until all lanes together have played enough.
    private static func play(_ stage: Stage, _ lane: Int, _ display: String?, _ tally: Monitor<Tally>) throws {
        let seed = seed &+ UInt64(stage.rawValue.utf8.count) &* 1000 &+ UInt64(lane)
        var dice = Dice(seed: seed), films: ArraySlice<String> = []
        while true {
            let count = tally.withLock { tally in
                let count = min(batch, wanted - tally.begun)
                tally.begun += count
                return count
            }
            guard count > 0 else { return }
            let folder = ProcessFolder.path("films-\(UUID().uuidString.prefix(8))")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            while films.count < count { films += Self.films(&dice) }
            let paths = try mutate(films.prefix(count), folder, &dice)
            films = films.dropFirst(count)
            let (outcome, most, seconds) = try play(stage, paths, folder, display)
            tally.change { tally in
                tally.played += count
                tally.starts += 1
                tally.codes[outcome.code, default: 0] += 1
                tally.most.grow(to: most)
                tally.slowest = max(tally.slowest, seconds)
            }
            let isHarmless = !outcome.crashed && [0, 65, 66, 69, 74].contains(outcome.code) && most.memory < stage.mostMemory
            guard !isHarmless else { continue }
            let kept = "/tmp/player-mutated-films-\(UUID().uuidString.prefix(8))"
            try? FileManager.default.copyItem(atPath: folder, toPath: kept)
            let words = "seed \(seed), films in \(kept): \(outcome.code), \(most.memory) KiB, \(outcome.errors.suffix(500))"
            tally.change { $0.failures.append(words) }
        }
    }

    private static func play(
        _ stage: Stage, _ paths: [String], _ folder: String, _ display: String?
    ) throws -> (PlayProgram.Outcome, Holdings, seconds: Double) {
        let client = [.export, .untimed].contains(stage) ? ExportReader(folder + "/socket") : nil, handle = PlayProgram.Handle()
        defer { client?.end() }
        let begun = MonotonicClock.shared.now()
        let ended = PlayProgram.begin(
            stage.arguments(folder) + paths, environment: display.map { ["WAYLAND_DISPLAY": $0] } ?? [:], limit: patience * Double(paths.count),
            handle: handle)
        _ = Polling.until { handle.processIdentifier != nil }
        var most = Holdings()
        while handle.isRunning {
            if let now = handle.processIdentifier.flatMap(Holdings.init) { most.grow(to: now) }
            usleep(50_000)
        }
        return (try ended(), most, (MonotonicClock.shared.now() - begun).seconds)
    }

    @Test(arguments: Stage.allCases) func `films with wrong bytes do the program no harm`(_ stage: Stage) throws {
        let weston = stage == .wayland ? try PrivateWeston(.gl) : nil, tally = Monitor(Tally()), display = weston?.display
        Lanes.run(Self.lanes) { lane in
            do { try Self.play(stage, lane, display, tally) } catch { tally.change { $0.failures.append("\(error)") } }
        }
        let seen = tally.withLock { $0 }
        print(
            "mutated films: \(stage), seed \(Self.seed), \(seen.played) films in \(seen.starts) lists, exit codes \(seen.codes), at most "
                + "\(seen.most.memory / 1024) MB and \(seen.most.descriptors) descriptors, a list took at most \(seen.slowest) s")
        #expect(seen.failures == [])
        #expect(seen.played >= Self.wanted && seen.most.descriptors < 400)
        withExtendedLifetime(weston) {}
    }
}
