import Foundation
import TestSupport
import Testing

/// Films with wrong bytes, by the thousand, through the processes without rights: whatever libavformat and libavcodec make of them, this
/// program goes on, and nothing of it is left behind.
///
/// Each runs in a process of its own, whose descriptors are counted, and whose crash would be one failure. `PLAYER_FUZZ_SECONDS`, for all
/// together, makes them longer, `PLAYER_FUZZ_INPUTS` lets them go on until so many films have been tried (`scripts/test --fuzz`), and
/// `PLAYER_FUZZ_SEED` makes the same films again.
@Suite(.serialized) struct MutationTests {
    @Test func `mutated samples cost no more than their decoder`() async {
        Self.tell(
            await #expect(processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]) { try Fuzzer.run(.samples) })
    }

    @Test func `mutated sound costs no more than its decoder`() async {
        Self.tell(await #expect(processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]) { try Fuzzer.run(.sound) })
    }

    @Test func `mutated containers cost no more than their demuxer`() async {
        Self.tell(
            await #expect(processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]) { try Fuzzer.run(.containers) })
    }

    private static func tell(_ result: ExitTest.Result?) {
        guard let result else { return }
        print(String(decoding: result.standardOutputContent + result.standardErrorContent, as: UTF8.self), terminator: "")
    }
}
