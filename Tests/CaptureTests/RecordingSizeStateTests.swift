import Media
import Recording
import Testing
import Writing

@Suite("The size that a recording will have") struct RecordingSizeStateTests {
    @Test("counts what comes, what the index takes, and what is still to come", arguments: FileContainer.allCases)
    func foresees(container: FileContainer) {
        var state = RecordingSizeState(container)
        let empty = state.foreseen(written: 0, length: .zero, framesAhead: 0)
        #expect(empty > 0 && empty < 16_384)
        for _ in 0..<100 { state.add(byteCount: 1000, isVideo: true) }
        state.add(byteCount: 9000, isVideo: true)
        let now = state.foreseen(written: 0, length: MediaTime(value: 4, timescale: 1), framesAhead: 0)
        #expect(now > 109_000 + empty && now < 160_000)
        #expect(state.foreseen(written: 0, length: MediaTime(value: 4, timescale: 1), framesAhead: 2) == now + 18_000, "two key frames")
        #expect(state.foreseen(written: 500_000, length: .zero, framesAhead: 0) == 500_000)
        state.add(byteCount: 300, isVideo: false)
        #expect(state.foreseen(written: 500_000, length: .zero, framesAhead: 1) == 500_000 + 9000 + 900)
        // The sound of a second is missing, and that of three has 300 bytes.
        let second = MediaTime(value: 1, timescale: 1)
        let late = state.foreseen(written: 500_000, length: second.multiplied(by: 4), framesAhead: 0, soundTime: second.multiplied(by: 3))
        #expect(late == 500_000 + 900 + 100)
    }
}
