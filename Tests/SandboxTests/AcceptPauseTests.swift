import Media
import Sandbox
import Testing

@Suite struct AcceptPauseTests {
    @Test func `a pause begins once, goes on while nobody can be taken in, and ends`() {
        let start = HostTime(nanoseconds: 5_000_000_000)
        var pause = AcceptPause()
        #expect(pause.interest == .readable && pause.end == nil && !pause.isOver(at: start))
        let isFirst = pause.begin(at: start)
        #expect(isFirst)
        #expect(pause.interest == [] && pause.end == start + .milliseconds(100))
        #expect(!pause.isOver(at: start + .milliseconds(99)) && pause.isOver(at: start + .milliseconds(100)))
        let isAnother = pause.begin(at: start + .milliseconds(100))
        #expect(!isAnother, "the same shortage")
        #expect(pause.end == start + .milliseconds(200))
        pause.finish()
        #expect(pause.interest == .readable && pause.end == nil)
        let isNew = pause.begin(at: start + .seconds(1))
        #expect(isNew)
    }
}
