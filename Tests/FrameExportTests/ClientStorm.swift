import Decoding
import DisplaySink
import Foundation
import FrameExport
import Media
import Player
import TestSupport

/// A film that plays round and round while clients of every manner come and are killed at random moments.
///
/// It counts the descriptors of the whole process: for exit tests.
struct ClientStorm {
    /// What went wrong, as one sentence.
    struct Failure: Error, CustomStringConvertible { var description: String }

    struct Outcome {
        var kills = 0
        /// Clients that ended by themselves: those that the server ended, and those that found no place.
        var exits = 0
        var endedByServer = 0
        var framesSeen = 0
    }

    private let server: FrameServer
    private let player: Player
    private let tally: ClientProcess.Tally
    private let misdeeds = Monitor(0)
    private let failure = Monitor<String?>(nil)

    private init(isLossless: Bool) throws {
        let misdeeds = misdeeds, failure = failure
        tally = try ClientProcess.Tally()
        server = try FrameServer(
            path: ExportStage.socketPath(), configuration: .init(clientLimit: 4, clientBudget: 3, isLossless: isLossless)
        ) { notice in
            if notice.contains("does not hold") { misdeeds.withLock { $0 += 1 } }
        }
        var configuration = PlayerConfiguration()
        configuration.loops = true
        configuration.playsAudio = false
        configuration.decoder.hardware = .disable
        configuration.exporters = [server.exporter]
        player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration) { event in
            if case .failed(let error) = event { failure.withLock { $0 = "\(error)" } }
        }
        try player.open(TestAssets.path("plain.mp4"))
    }

    private func close() {
        player.close()
        server.stop()
        tally.remove()
    }

    /// Plays until `kills` clients have been killed, and checks that the film went on, that no frame changed in a client's hands, and that
    /// nothing is left behind.
    static func run(kills: Int, seed: UInt64) throws -> Outcome {
        var dice = Dice(seed: seed)
        // What the process keeps is made first.
        _ = try round(kills: 3, &dice)
        let before = descriptors
        let outcome = try round(kills: kills, &dice)
        let after = descriptors
        guard after <= before else { throw Failure(description: "\(before) descriptors became \(after)") }
        return outcome
    }

    private static func round(kills: Int, _ dice: inout Dice) throws -> Outcome {
        let storm = try ClientStorm(isLossless: false)
        defer { storm.close() }
        var outcome = Outcome(), clients: [ClientProcess] = []
        while outcome.kills < kills {
            while clients.count < 4 {
                let manner = ClientProcess.Manner.allCases.randomElement(using: &dice)!
                clients.append(
                    try ClientProcess(manner, socket: storm.server.path, seed: UInt64.random(in: 1...1000, using: &dice), tally: storm.tally))
            }
            // A moment of the film's, or any moment: while it connects, while it looks, while it speaks.
            if Bool.random(using: &dice) {
                try storm.watch(frames: Int.random(in: 1...12, using: &dice))
            } else {
                usleep(UInt32.random(in: 0...4000, using: &dice))
            }
            let victim = clients.remove(at: Int.random(in: 0..<clients.count, using: &dice))
            switch victim.kill() {
            case .signal(SIGKILL): outcome.kills += 1
            case let ending: try storm.note(ending, &outcome)
            }
            for index in clients.indices.reversed() {
                guard let ending = clients[index].ending() else { continue }
                clients.remove(at: index)
                try storm.note(ending, &outcome)
            }
        }
        for client in clients { _ = client.kill() }
        try storm.waitUntil("clients that are gone are still counted") { storm.server.statistics.clients == 0 }
        try storm.watch(frames: 60)
        let dropped = storm.player.statistics.framesDropped.filter { $0.reason == "outOfSurfaces" || $0.reason == "decodeError" }
        guard dropped.allSatisfy({ $0.count == 0 }) else { throw Failure(description: "frames were dropped: \(dropped)") }
        let counts = storm.tally.counts
        guard counts.changed == 0 else { throw Failure(description: "\(counts.changed) frames changed while they were held") }
        outcome.framesSeen = Int(counts.seen)
        outcome.endedByServer = storm.misdeeds.withLock { $0 }
        return outcome
    }

    /// Where every frame counts, one who gives nothing back holds the film up, until it is gone.
    static func runLossless(kills: Int, seed: UInt64) throws -> Outcome {
        let storm = try ClientStorm(isLossless: true)
        defer { storm.close() }
        var dice = Dice(seed: seed), outcome = Outcome()
        while outcome.kills < kills {
            let seen = storm.tally.counts.seen
            let client = try ClientProcess(.never, socket: storm.server.path, seed: 1, tally: storm.tally)
            // It has all that it may have: nothing moves.
            try storm.waitUntil("a client got no frames") { storm.tally.counts.seen >= seen + 3 }
            usleep(UInt32.random(in: 0...2000, using: &dice))
            guard client.kill() == .signal(SIGKILL) else { throw Failure(description: "a client ended by itself") }
            outcome.kills += 1
            try storm.watch(frames: 20)
        }
        guard storm.tally.counts.changed == 0 else { throw Failure(description: "frames changed while they were held") }
        outcome.framesSeen = Int(storm.tally.counts.seen)
        return outcome
    }

    private func note(_ ending: ClientProcess.Ending, _ outcome: inout Outcome) throws {
        if ending == .exit(3) { throw Failure(description: "a frame changed in a client's hands") }
        guard ending == .exit(0) else { throw Failure(description: "a client ended with \(ending)") }
        outcome.exits += 1
    }

    /// Waits until the display has had so many more frames.
    private func watch(frames: Int) throws {
        let goal = player.statistics.framesPresented + frames
        try waitUntil("the film stands still") { player.statistics.framesPresented >= goal }
    }

    private func waitUntil(_ complaint: String, _ condition: () -> Bool) throws {
        let isDone = try Polling.until {
            if condition() { return true }
            if let failure = failure.withLock({ $0 }) { throw Failure(description: failure) }
            return false
        }
        guard isDone else { throw Failure(description: complaint) }
    }

    private static var descriptors: Int { OpenDescriptors.count }
}
