import Media
import Testing

@testable import WaylandSink

@Suite struct FullscreenStateTests {
    private let start = HostTime(nanoseconds: 1_000_000_000)

    @Test func `a toggle is the opposite of what the window is`() {
        var state = FullscreenState()
        state.toggle()
        #expect(state.take(false, now: start) == true)
        #expect(state.take(true, now: start + .seconds(1)) == nil && state.isFullscreen)
        state.toggle()
        #expect(state.take(true, now: start + .seconds(1)) == false)
    }

    @Test func `the answer to an earlier request does not turn later toggles round`() {
        var state = FullscreenState()
        for expected in [true, false, true] {
            state.toggle()
            #expect(state.take(false, now: start) == expected)
        }
        // The first request's answer looks like the last one's; then comes the second's.
        #expect(state.take(true, now: start + .milliseconds(5)) == nil)
        #expect(state.take(false, now: start + .milliseconds(10)) == nil)
        state.toggle()
        #expect(state.take(false, now: start + .milliseconds(11)) == false)
    }

    @Test func `two toggles before the first is sent ask for what there was`() {
        var state = FullscreenState()
        state.toggle()
        state.toggle()
        #expect(state.take(false, now: start) == false)
    }

    @Test func `what the compositor does by itself counts once the last request has settled`() {
        var state = FullscreenState()
        state.set(true)
        #expect(state.take(false, now: start) == true)
        #expect(state.take(true, now: start) == nil)
        #expect(state.take(true, now: start + FullscreenState.settling) == nil)
        #expect(state.take(false, now: start + .seconds(6)) == nil && !state.isFullscreen)
        state.toggle()
        #expect(state.take(false, now: start + .seconds(6)) == true)
    }

    @Test func `a window that is made again covers the screen again`() {
        var state = FullscreenState()
        state.set(true)
        _ = state.take(false, now: start)
        _ = state.take(true, now: start)
        state.beginWindow()
        #expect(!state.isFullscreen)
        #expect(state.take(false, now: start) == true)
    }
}
