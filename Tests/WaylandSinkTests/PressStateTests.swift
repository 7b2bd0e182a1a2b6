import DisplaySink
import Testing
import WaylandSink

@Suite("Double presses and drags")
struct PressStateTests {
    @Test("the second press within 400 ms is a double one, the third begins anew")
    func doubles() {
        var state = PressState()
        let seen = [0, 400, 500, 1000, 1401, 1500].map { time in
            defer { state.release() }
            return state.press(UInt32(time), serial: 1, x: 0, y: 0)
        }
        #expect(seen == [false, true, false, false, false, true])
    }

    @Test("the time may wrap around between two presses")
    func wraps() {
        var state = PressState()
        let first = state.press(.max - 100, serial: 1, x: 0, y: 0)
        state.release()
        let second = state.press(100, serial: 2, x: 0, y: 0)
        #expect(!first && second)
    }

    @Test("a drag begins once, with the press's own serial and place, beyond the slack, and is no half of a double press")
    func drags() {
        var state = PressState(slack: 10)
        func drag(_ x: Double, _ y: Double) -> PressState.Drag? { state.move(x: x, y: y) }
        func press(_ time: UInt32, _ serial: UInt32) -> Bool { state.press(time, serial: serial, x: 50, y: 50) }
        let before = drag(50, 50)
        let first = press(0, 7)
        let little = drag(55, 54), far = drag(60, 54), again = drag(90, 90)
        state.release()
        let second = press(200, 8)
        state.release()
        let after = drag(90, 90)
        #expect(before == nil && little == nil && again == nil && after == nil)
        #expect(far?.serial == 7 && far?.x == 50 && far?.y == 50)
        #expect(!first && !second)
    }
}
