import Foundation
import TestSupport
import Testing

/// Clients that are programs: the worst that they can do harms nobody but themselves.
@Suite(.serialized) struct ClientProcessTests {
    @Test func `clients killed at random moments, 200 with --full, change no frame, stall no film and leave nothing`() async {
        await #expect(processExitsWith: .success) {
            try Complaint.leave {
                let kills = TestExtent.rounds(60, full: 200)
                let outcome = try ClientStorm.run(kills: kills, seed: 20)
                #expect(outcome.kills == kills)
                #expect(outcome.framesSeen > kills, "the clients hardly got frames")
                #expect(outcome.endedByServer > kills / 40, "hardly anybody broke the protocol")
            }
        }
        Complaint.record()
    }

    @Test func `a film that waits for its clients goes on when one that holds everything is killed`() async {
        await #expect(processExitsWith: .success) {
            try Complaint.leave {
                let outcome = try ClientStorm.runLossless(kills: 20, seed: 21)
                #expect(outcome.framesSeen >= 60)
            }
        }
        Complaint.record()
    }
}

/// What an exit test throws, for its parent, which is not told.
private enum Complaint {
    private static func path(_ parent: pid_t) -> String { "/tmp/client-storm-\(parent)" }

    static func leave(_ body: () throws -> Void) throws {
        do { try body() } catch {
            try? "\(error)".write(toFile: path(getppid()), atomically: true, encoding: .utf8)
            throw error
        }
    }

    static func record() {
        guard let text = try? String(contentsOfFile: path(getpid()), encoding: .utf8) else { return }
        Issue.record("\(text)")
        try? FileManager.default.removeItem(atPath: path(getpid()))
    }
}
