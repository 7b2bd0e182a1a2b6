import Composition
import Media
import Testing

@Suite struct CompositorPatienceTests {
    @Test func `who is late is given half the time, down to a sixteenth, and all of it after an answer`() {
        var patience = CompositorPatience(.drop(after: .milliseconds(1600)))
        patience.notePassedThrough()
        var spans: [Int64] = []
        for isLate in [true, true, true, true, true, false, true] {
            spans.append((patience.span?.nanoseconds ?? 0) / 1_000_000)
            patience.note(isLate: isLate)
        }
        #expect(spans == [1600, 800, 400, 200, 100, 100, 1600])
        #expect(patience.span == .milliseconds(800))
        // A frame that is passed through says nothing of the compositor.
        patience.notePassedThrough()
        #expect(patience.span == .milliseconds(800))
    }

    @Test(arguments: [(true, 800), (false, 1600)]) func `the first frame of a range is given four times as long`(isLate: Bool, second: Int64) {
        var patience = CompositorPatience(.drop(after: .milliseconds(1600)))
        #expect(patience.isFirst && patience.span == .milliseconds(6400))
        patience.note(isLate: isLate)
        #expect(!patience.isFirst && patience.span == .milliseconds(second))
    }

    @Test func `an export waits for ever`() {
        var patience = CompositorPatience(.wait)
        patience.note(isLate: true)
        #expect(patience.span == nil)
    }
}
