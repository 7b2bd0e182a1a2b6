import Media
import Sandbox
import Testing

@Suite struct AcceptPauseTests {
    @Test func `a pause begins once, goes on while nobody can be taken in, and ends`() {
        let start = HostTime(nanoseconds: 5_000_000_000)
        var pause = AcceptPause()
        let first = pause.interest(at: start)
        #expect(first == .readable && pause.end == nil)
        let isFirst = pause.begin(at: start)
        #expect(isFirst && pause.end == start + .milliseconds(100))
        let during = pause.interest(at: start + .milliseconds(99))
        #expect(during == [] && pause.end == start + .milliseconds(100))
        let after = pause.interest(at: start + .milliseconds(100))
        #expect(after == .readable && pause.end == nil, "the socket is looked at again")
        let isAnother = pause.begin(at: start + .milliseconds(101))
        #expect(!isAnother && pause.end == start + .milliseconds(201), "the same shortage")
        let later = pause.interest(at: start + .milliseconds(300))
        #expect(later == .readable)
        pause.finish()
        let isNew = pause.begin(at: start + .seconds(1))
        #expect(isNew)
    }
}
