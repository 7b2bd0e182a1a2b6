import Foundation
import Media
import TestSupport
import Testing

/// Whole films with wrong bytes through the whole program, frames and sound: whatever is in them, it shows them in a window, exports them or plays
/// them for nobody, and ends with a code that says what it found.
///
/// `PLAYER_FUZZ_INPUTS` (`scripts/test --fuzz`) says how many, for all together; `PLAYER_FUZZ_SEED` makes the same films again. A film that ends the
/// program by a signal or stands still is left in /tmp.
@Suite(.serialized, .unsanitized) struct FilmMutationTests {
    /// How frames and sound go out.
    enum Stage: String, CaseIterable, Sendable {
        case headless, export, wayland

        /// A second of each film, at four times its speed or as fast as it can be decoded.
        func arguments(_ folder: String) -> [String] {
            let timed = ["--speed", "4", "--audio-device", "null"]
            let own =
                switch self {
                case .headless: ["--sink", "headless"] + timed
                case .export: ["--sink", "headless", "--untimed", "--no-audio", "--export", "unixfd:\(folder)/socket"]
                case .wayland: ["--sink", "wayland"] + timed
                }
            return own + ["--sandbox", "full", "--decoder-restarts", "1000", "--duration", "1", "--quiet"]
        }
    }

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }
    private static let wanted = (number("PLAYER_FUZZ_INPUTS") ?? TestExtent.rounds(24, full: 900)) / Stage.allCases.count
    /// Films that one start of the program plays, and seconds that each may take, on average: a process may hang for 10 s at each of some samples.
    private static let batch = 1, patience = 120.0
    /// 1 MB of a film is enough to be mutated.
    private static let mostBytes = 1 << 20

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
    private static func mutate(_ films: ArraySlice<String>, _ folder: String, _ dice: inout Dice) throws -> [String] {
        try films.enumerated().map { number, path in
            var bytes = Array((TextFile.bytes(of: path) ?? []).prefix(mostBytes))
            Mutation.apply(to: &bytes, head: 2048, places: 1...8, &dice)
            let ending = path.split(separator: ".").last ?? "film", place = "\(folder)/\(number).\(ending)"
            try Data(bytes).write(to: URL(fileURLWithPath: place))
            return place
        }
    }

    @Test(arguments: Stage.allCases) func `films with wrong bytes do the program no harm`(_ stage: Stage) throws {
        let weston = stage == .wayland ? try PrivateWeston(.gl) : nil, folder = "/tmp/films-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var dice = Dice(seed: UInt64(Self.number("PLAYER_FUZZ_SEED") ?? 20_000) &+ UInt64(stage.rawValue.utf8.count))
        var films: ArraySlice<String> = [], played = 0, codes: [Int32: Int] = [:], most = Holdings(), slowest = 0.0
        while played < Self.wanted {
            if films.isEmpty { films = Self.films(&dice)[...] }
            let paths = try Self.mutate(films.prefix(min(Self.batch, Self.wanted - played)), folder, &dice), handle = PlayProgram.Handle()
            films = films.dropFirst(paths.count)
            let client = stage == .export ? ExportReader(folder + "/socket") : nil, begun = Date()
            let ended = PlayProgram.begin(
                stage.arguments(folder) + paths, environment: weston.map { ["WAYLAND_DISPLAY": $0.display] } ?? [:],
                limit: Self.patience * Double(Self.batch), handle: handle)
            #expect(Polling.until { handle.processIdentifier != nil })
            while handle.isRunning {
                if let now = handle.processIdentifier.flatMap(Holdings.init) { most.grow(to: now) }
                usleep(50_000)
            }
            let outcome = try ended()
            client?.end()
            slowest = max(slowest, Date().timeIntervalSince(begun))
            codes[outcome.code, default: 0] += 1
            played += paths.count
            let isHarmless = !outcome.crashed && [0, 65, 66, 69, 74].contains(outcome.code)
            #expect(isHarmless, "\(stage), \(played - paths.count)...\(played): \(outcome.code) \(outcome.errors.suffix(500))")
            if !isHarmless { try? FileManager.default.copyItem(atPath: folder, toPath: "/tmp/player-mutated-films-\(UUID().uuidString.prefix(8))") }
        }
        print(
            "mutated films: \(stage), \(played) films, exit codes of \(Self.batch) each \(codes), at most \(most.memory / 1024) MB and "
                + "\(most.descriptors) descriptors, \(Self.batch) films took at most \(slowest) s")
        #expect(played >= Self.wanted)
        // A window's frames are converted, the largest into several times their bytes.
        #expect(most.memory < (stage == .wayland ? 3_000_000 : 1_200_000) && most.descriptors < 400)
    }
}
