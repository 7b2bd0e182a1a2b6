import DisplaySink
import Foundation
import Media
import TestSupport
import Testing
import WaylandSink

/// Keys and clicks as a compositor would send them.
@Suite("Keyboard and mouse", .serialized)
struct InputTests {
    /// A film that runs in a window that has been seen.
    private func shownScene() throws -> CompositorManners.Scene {
        let scene = try CompositorManners.Scene()
        scene.play()
        try scene.enqueue(0..<8)
        try #require(scene.wait { scene.queue.statistics.framesPresented > 0 })
        return scene
    }

    private func keys(_ scene: CompositorManners.Scene) -> [PlayerKey] {
        scene.events.withLock { $0 }.compactMap { if case .key(let key) = $0 { key } else { nil } }
    }

    @Test("keys are told by what is printed on them, each press once")
    func presses() throws {
        let scene = try shownScene()
        // Space, q, f, m, comma, 9, Escape, Enter, that of the number pad, the next and the previous title, a, F1, and a Shift alone.
        let codes: [UInt32] = [57, 16, 33, 50, 51, 10, 1, 28, 96, 163, 165, 30, 59, 42]
        for code in codes { scene.tap.change { $0.inputs += [.key(code, isDown: true), .key(code, isDown: false)] } }
        // The last one shows that all before it have been told.
        scene.tap.change { $0.inputs += [.key(57, isDown: true), .key(57, isDown: false)] }
        let names = "SPACE q f m , 9 ESC ENTER KP_ENTER NEXT PREV a F1 SPACE"
        #expect(scene.wait { keys(scene).count >= 14 })
        #expect(keys(scene).map(\.rawValue).joined(separator: " ") == names)
    }

    @Test("a key that moves something repeats while it is held, others do not")
    func repeats() throws {
        let scene = try shownScene()
        // The one that does not repeat is held longer than the other, whose repeats it must not end.
        scene.tap.change { $0.inputs = [.key(105, isDown: true), .key(33, isDown: true)] }
        #expect(scene.wait { keys(scene).count { $0 == .left } >= 5 })
        scene.tap.change { $0.inputs = [.key(33, isDown: false)] }
        // The key after it shows that the end of this one was told.
        scene.tap.change { $0.inputs = [.key(105, isDown: false), .key(57, isDown: true), .key(57, isDown: false)] }
        #expect(scene.wait { keys(scene).contains(.space) })
        let pressed = keys(scene)
        #expect(pressed.count { $0.rawValue == "f" } == 1 && pressed.last == .space)
        #expect(Polling.holds(for: .milliseconds(300)) { keys(scene) == pressed })
    }

    @Test("a double click covers the monitor and another uncovers it; a single one does nothing")
    func doubleClick() throws {
        let scene = try shownScene()
        @Sendable func click(_ time: UInt32) -> [WireTap.Input] { [.button(isDown: true, time: time), .button(isDown: false, time: time + 50)] }
        scene.tap.change { $0.inputs = [.pointerEnters] + click(1000) + click(2000) }
        #expect(Polling.holds(for: .milliseconds(300)) { !scene.sink.isFullscreen })
        scene.tap.change { $0.inputs = click(4000) + click(4200) }
        #expect(scene.wait { scene.sink.isFullscreen })
        scene.tap.change { $0.inputs = click(6000) + click(6200) }
        #expect(scene.wait { !scene.sink.isFullscreen })
        #expect(scene.failures.isEmpty)
    }

    @Test("a window without a frame is dragged by its frame")
    func drag() throws {
        let scene = try shownScene()
        scene.tap.change {
            $0.inputs = [.pointerEnters, .button(isDown: true, time: 1000), .pointerMoves, .pointerMoves, .button(isDown: false, time: 1200)]
        }
        #expect(scene.wait { scene.tap.findings.moves == 1 })
        #expect(keys(scene).isEmpty && scene.failures.isEmpty)
    }

    @Test("a window without a frame is resized by its edges")
    func edges() throws {
        let scene = try shownScene()
        // 160 × 120: left, bottom, and both.
        for (index, place) in [(2, 60), (80, 118), (3, 119)].enumerated() {
            let time = UInt32(1000 * index)
            scene.tap.change {
                $0.inputs += [
                    .pointerEntersAt(UInt32(place.0), UInt32(place.1)), .button(isDown: true, time: time), .pointerMoves,
                    .button(isDown: false, time: time + 50),
                ]
            }
        }
        #expect(scene.wait { scene.tap.findings.edges == [4, 2, 6] })
        #expect(scene.tap.findings.moves == 0 && scene.failures.isEmpty)
    }

    @Test("two taps cover the monitor, a finger drags the window")
    func fingers() throws {
        let scene = try shownScene()
        func tap(_ time: UInt32) -> [WireTap.Input] { [.finger(isDown: true, time: time), .finger(isDown: false, time: time + 40)] }
        let taps = tap(1000) + tap(1200)
        scene.tap.change { $0.inputs = taps }
        #expect(scene.wait { scene.sink.isFullscreen })
        let more = tap(3000) + tap(3200)
        scene.tap.change { $0.inputs = more }
        #expect(scene.wait { !scene.sink.isFullscreen })
        scene.tap.change { $0.inputs = [.finger(isDown: true, time: 5000), .fingerMoves, .finger(isDown: false, time: 5300)] }
        #expect(scene.wait { scene.tap.findings.moves == 1 })
        #expect(keys(scene).isEmpty && scene.failures.isEmpty)
    }

    @Test("the pointer is hidden after two seconds of rest and shown when it moves")
    func cursor() throws {
        let scene = try shownScene()
        let begin = MonotonicClock.shared.now()
        scene.tap.change { $0.inputs = [.pointerEnters] }
        #expect(scene.wait { scene.tap.findings.cursors == [true] })
        #expect(scene.wait { scene.tap.findings.cursors == [true, false] })
        #expect(MonotonicClock.shared.now() - begin >= .milliseconds(2_000))
        scene.tap.change { $0.inputs = [.pointerMoves] }
        #expect(scene.wait { scene.tap.findings.cursors == [true, false, true] })
        scene.sink.stop()
        #expect(scene.failures.isEmpty)
    }
}
