import Decoding
import DisplaySink
import Foundation
import Media
import Player
import Sandbox
import TestSupport
import Testing

/// Several players at once between processes that lie, each through `lying-proxy`. `ProxyMutationTests` does the same with
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

    private static func holdings() -> (memory: Int, descriptors: Int) {
        let line = TextFile.contents(of: "/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0, OpenDescriptors.count)
    }

    /// Plays the film once, and counts the lies.
    private static func play(_ film: String, _ programs: LyingFolder, isUntimed: Bool, _ tally: Monitor<Tally>) {
        let ended = Monitor<Bool?>(nil)
        var configuration = PlayerConfiguration()
        configuration.sandbox = SandboxOptions(
            policy: .full, decoderPath: programs.decoder, restarts: RestartLimit(count: 1_000_000, window: .seconds(3600)),
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
            var seen = programs.logSize, patience = 30
            while hasEnded == nil, patience > 0 {
                hasEnded = ended.wait(until: MonotonicClock.shared.now() + .seconds(1)) { $0 }
                let now = programs.logSize
                (patience, seen) = (now > seen ? 30 : patience - 1, now)
            }
        } catch { hasEnded = false }
        let told = MonotonicClock.shared.now()
        player.close()
        let seconds = Double((MonotonicClock.shared.now() - told).nanoseconds) / 1e9
        let count = programs.takeChanges()
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
        let film = try LyingFolder.film(at: ProcessFolder.path("storm.mp4")), tally = Monitor(Tally())
        let programs = try (0..<Self.lanes).map { lane in
            let path = ProcessFolder.path("storm-\(lane)")
            return try LyingFolder(path, ["scanout-decoder", "scanout-demuxer"], sharing: ProcessFolder.path("lessons"))
        }
        Lanes.run(Self.lanes) { lane in
            while tally.withLock({ $0.changes < Self.wanted && $0.plays < 1000 + Self.wanted }) {
                Self.play(film, programs[lane], isUntimed: lane % 3 != 0, tally)
            }
        }
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
