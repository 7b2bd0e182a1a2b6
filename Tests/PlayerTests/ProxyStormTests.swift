import Decoding
import DisplaySink
import Foundation
import Media
import Player
import Sandbox
import TestSupport
import Testing

/// Several players at once between processes that lie in every sixth message, each through `lying-proxy`. `ProxyMutationTests` does the same with
/// the whole program, a window and an export socket; this one gets through many more messages. Each frame of its film can be decoded alone, so that
/// a process that was ended costs one frame, and the deadline of a process is a second.
///
/// `PLAYER_FUZZ_INPUTS` (`scripts/test --fuzz`) says over how many changed messages.
@Suite(.serialized, .unsanitized) struct ProxyStormTests {
    private static let wanted = ProcessInfo.processInfo.environment["PLAYER_FUZZ_INPUTS"].flatMap(Int.init) ?? TestExtent.rounds(60, full: 5000)
    private static let lanes = min(ProcessInfo.processInfo.activeProcessorCount * 3, 24)

    /// What all lanes have seen.
    private struct Tally: Sendable {
        var changes = 0
        var plays = 0
        var failures = 0
        /// Plays in which nothing was changed for half a minute: a film that says that it goes on later.
        var stood = 0
        /// Seconds that the slowest `close` took.
        var slowest = 0.0
        /// Memory in KiB and descriptors after each play.
        var held: [(memory: Int, descriptors: Int)] = []
    }

    /// A folder whose programs are the proxy, with the true ones in `real`.
    private static func makeFolder(_ lane: Int) throws -> String {
        let folder = ProcessFolder.path("storm-\(lane)"), files = FileManager.default
        try files.createDirectory(atPath: folder + "/real", withIntermediateDirectories: true)
        for name in ["scanout-decoder", "scanout-demuxer"] {
            try files.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: BuiltPrograms.folder + "/lying-proxy")
            try files.createSymbolicLink(atPath: "\(folder)/real/\(name)", withDestinationPath: BuiltPrograms.folder + "/" + name)
        }
        return folder
    }

    /// Two seconds of small frames, each of which can be decoded alone, with sound.
    private static func makeFilm() throws -> String {
        let path = ProcessFolder.path("storm.mp4"), process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", TestAssets.demo, "-t", "2", "-vf", "scale=160:-2"]
            + ["-c:v", "libx264", "-g", "1", "-preset", "ultrafast", "-c:a", "copy", path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path
    }

    private static func holdings() -> (memory: Int, descriptors: Int) {
        let line = TextFile.contents(of: "/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0, OpenDescriptors.count)
    }

    /// Bytes that the proxies of a folder have written about their lies.
    private static func size(_ path: String) -> Int { (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0 }

    /// Plays the film once, and counts the lies.
    private static func play(_ film: String, _ folder: String, isUntimed: Bool, _ tally: Monitor<Tally>) {
        let ended = Monitor<Bool?>(nil), log = folder + "/changes"
        var configuration = PlayerConfiguration()
        configuration.sandbox = SandboxOptions(
            policy: .full, decoderPath: folder + "/scanout-decoder", restarts: RestartLimit(count: 1_000_000, window: .seconds(3600)),
            hangDeadline: .seconds(1))
        configuration.decoder.hardware = .disable
        configuration.audioDevice = "null"
        configuration.playsAudio = !isUntimed
        configuration.rate = isUntimed ? 1 : 4
        let player = Player(sink: HeadlessSink(isUntimed: isUntimed), configuration: configuration) { event in
            switch event {
            case .ended: ended.change { $0 = true }
            case .failed: ended.change { $0 = false }
            default: break
            }
        }
        var hasEnded: Bool?
        do {
            try player.open(film)
            var seen = size(log), patience = 30
            while hasEnded == nil, patience > 0 {
                hasEnded = ended.wait(until: MonotonicClock.shared.now() + .seconds(1)) { $0 }
                let now = size(log)
                (patience, seen) = (now > seen ? 30 : patience - 1, now)
            }
        } catch { hasEnded = false }
        let told = MonotonicClock.shared.now()
        player.close()
        let seconds = Double((MonotonicClock.shared.now() - told).nanoseconds) / 1e9
        let count = TextFile.bytes(of: log)?.count { $0 == UInt8(ascii: "\n") } ?? 0
        try? FileManager.default.removeItem(atPath: log)
        tally.change { tally in
            tally.changes += count
            tally.plays += 1
            tally.failures += hasEnded == false ? 1 : 0
            tally.stood += hasEnded == nil ? 1 : 0
            tally.slowest = max(tally.slowest, seconds)
            tally.held.append(holdings())
        }
    }

    @Test func `players between many processes that lie go on, close, and keep nothing`() throws {
        let film = try Self.makeFilm(), tally = Monitor(Tally())
        let lanes = try (0..<Self.lanes).map { lane in
            let folder = try Self.makeFolder(lane)
            return LoopThread(name: "lane") {
                while tally.withLock({ $0.changes < Self.wanted && $0.plays < 1000 + Self.wanted }) {
                    Self.play(film, folder, isUntimed: lane % 3 != 0, tally)
                }
            }
        }
        for lane in lanes { lane.join() }
        let seen = tally.withLock { $0 }
        let memory = seen.held.map(\.memory).max() ?? 0, descriptors = seen.held.map(\.descriptors).max() ?? 0
        // The first tenth of the plays shows what players need at all.
        let early = seen.held.prefix(max(seen.held.count / 10, 1)).map(\.descriptors).max() ?? 0
        print(
            "mutated messages: \(seen.changes) changed in \(seen.plays) plays, \(seen.failures) failed, \(seen.stood) stood, at most "
                + "\(memory / 1024) MB and \(descriptors) descriptors (\(early) in the first tenth), closed in at most \(seen.slowest) s")
        #expect(seen.changes >= Self.wanted)
        // What takes longer hangs, even on a busy machine.
        #expect(seen.slowest < 60, "the slowest close took \(seen.slowest) s")
        // What all lanes hold together differs from play to play; a descriptor lost in each play would be more.
        #expect(memory < 1_200_000 && descriptors <= early + 25 * Self.lanes, "\(memory) KiB, \(descriptors) descriptors, \(early) early")
    }
}
