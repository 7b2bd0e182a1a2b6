import Testing

/// Clients that are programs: the worst that they can do harms nobody but themselves.
@Suite(.serialized) struct ClientProcessTests {
    @Test func `200 clients killed at random moments change no picture, stall no film and leave nothing`() async {
        await #expect(processExitsWith: .success) {
            let outcome = try ClientStorm.run(kills: 200, seed: 20)
            #expect(outcome.kills == 200)
            #expect(outcome.picturesSeen > 200, "the clients hardly got pictures")
            #expect(outcome.endedByServer > 5, "hardly anybody broke the protocol")
        }
    }

    @Test func `a film that waits for its clients goes on when one that holds everything is killed`() async {
        await #expect(processExitsWith: .success) {
            let outcome = try ClientStorm.runLossless(kills: 20, seed: 21)
            #expect(outcome.picturesSeen >= 60)
        }
    }
}
