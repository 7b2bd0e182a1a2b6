import Capture
import Media
import Recording
import Testing

@Suite("The frames that a film lacks") struct RecordingLossStateTests {
    private static func time(_ seconds: Double) -> HostTime { HostTime(nanoseconds: 0) + .seconds(seconds) }

    @Test("are those before its last frame, not those of the gap in which it ends")
    func ends() {
        var state = RecordingLossState()
        state.add(CaptureDrop(.outOfBuffers, count: 5, first: 1, time: Self.time(1)))
        state.add(CaptureDrop(.damaged, first: 6, time: Self.time(1.1)))
        #expect(state.counted.isEmpty, "the film may end before")
        state.settle()
        #expect(state.counted == [.outOfBuffers: 5, .damaged: 1])
        state.add(CaptureDrop(.outOfBuffers, count: 24, first: 8, time: Self.time(2)))
        #expect(state.counted == [.outOfBuffers: 5, .damaged: 1])
        state.settle()
        state.settle()
        #expect(state.counted == [.outOfBuffers: 29, .damaged: 1], "once")
    }

    @Test("are at its end those that were lost until then")
    func stop() {
        var state = RecordingLossState()
        state.add(CaptureDrop(.damaged, first: 1, time: Self.time(1)))
        state.add(CaptureDrop(.discontinuity, count: 0, first: 2, time: Self.time(1)))
        state.add(CaptureDrop(.switchedOff, count: 9, first: 2, time: Self.time(1)))
        state.add(CaptureDrop(.damaged, first: 11, time: Self.time(3)))
        state.settle(until: Self.time(2))
        #expect(state.counted == [.damaged: 1])
    }
}
