import Player
import Testing

@Suite struct ComposedOrderTests {
    /// Before the first frame, after it, after the end of the frames, after the end of the sound.
    @Test(arguments: [
        (true, true, true, "frame sound sound frame"), (true, true, false, "frame frame sound frame"), (true, false, true, "frame frame end frame"),
        (false, true, false, "sound sound sound end"), (false, false, true, "end end end end"),
    ])
    func `sound goes first, but for the first frame`(_ hasFrames: Bool, _ hasSound: Bool, _ wantsSound: Bool, _ expected: String) {
        let fresh = ComposedOrder(hasFrames: hasFrames, hasSound: hasSound)
        var begun = fresh, frameless = fresh, soundless = fresh
        begun.delivered(.frame)
        frameless.ended(.frame)
        soundless.ended(.sound)
        let steps = [fresh, begun, frameless, soundless].map { $0.next(wantsSound: wantsSound) }
        #expect(steps.map { "\($0)" }.joined(separator: " ") == expected)
    }

    @Test func `both tracks have an end`() {
        var order = ComposedOrder(hasFrames: true, hasSound: true)
        order.ended(.sound)
        #expect(order.next(wantsSound: true) == .frame)
        order.ended(.frame)
        #expect(order.next(wantsSound: true) == .end)
    }
}
