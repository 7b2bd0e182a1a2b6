import Foundation
import Testing

/// Clients that are programs: the worst that they can do harms nobody but themselves.
@Suite(.serialized) struct ClientProcessTests {
    @Test func `200 clients killed at random moments change no picture, stall no film and leave nothing`() async {
        await #expect(processExitsWith: .success) {
            try Complaint.leave {
                let outcome = try ClientStorm.run(kills: 200, seed: 20)
                #expect(outcome.kills == 200)
                #expect(outcome.picturesSeen > 200, "the clients hardly got pictures")
                #expect(outcome.endedByServer > 5, "hardly anybody broke the protocol")
            }
        }
        Complaint.record()
    }

    @Test func `a film that waits for its clients goes on when one that holds everything is killed`() async {
        await #expect(processExitsWith: .success) {
            try Complaint.leave {
                let outcome = try ClientStorm.runLossless(kills: 20, seed: 21)
                #expect(outcome.picturesSeen >= 60)
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
