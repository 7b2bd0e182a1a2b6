import Foundation
import Media
import TestSupport
import Testing

/// What a viewer does to the program's window, by the keys and the window's frame, and what is then to be seen.
@Suite(.serialized) struct WindowInputTests {
    /// `play` in a compositor, with a keyboard between.
    private final class Scene {
        let weston: PrivateWeston
        let tap: WireTap
        private let outcome: () throws -> PlayProgram.Outcome
        private let handle = PlayProgram.Handle()

        init(_ options: [String], film: String = TestAssets.demo) throws {
            weston = try PrivateWeston(.pixman, isBare: true)
            tap = try WireTap(to: weston.display)
            outcome = PlayProgram.begin(
                ["--quiet", "--osd-level", "0"] + options + [film], environment: ["WAYLAND_DISPLAY": tap.display], limit: 60, handle: handle)
        }

        deinit {
            handle.kill()
            _ = try? outcome()
            tap.stop()
        }

        /// Presses a key by its number in `linux/input-event-codes.h`.
        func press(_ code: UInt32) { tap.change { $0.inputs += [.key(code, isDown: true), .key(code, isDown: false)] } }

        /// The film's part of the first screenshot that fits, and the number it shows; nil when none does for a minute.
        func frame(where fits: (PixelRect, FrameCode) -> Bool) throws -> (part: PixelRect, code: FrameCode)? {
            try Polling.first(every: .milliseconds(100)) {
                let shot = try weston.screenshot()
                if let part = shot.bounds(), let code = FrameCode(shot, in: part), fits(part, code) { return (part, code) }
                return nil
            }
        }

        func end() throws -> PlayProgram.Outcome { try outcome() }
    }

    private enum Key {
        static let escape: UInt32 = 1, enter: UInt32 = 28, previousSong: UInt32 = 165, zero: UInt32 = 11, q: UInt32 = 16, leftBracket: UInt32 = 26,
            f: UInt32 = 33, comma: UInt32 = 51
        static let period: UInt32 = 52, space: UInt32 = 57, left: UInt32 = 105, right: UInt32 = 106, down: UInt32 = 108
    }

    @Test func `keys seek, step and pause the film that is seen`() throws {
        let scene = try Scene(["--no-audio", "--fullscreen", "--pause", "--start", "1"])
        #expect(try scene.frame { $1.number == 30 } != nil)
        for (key, number) in [(Key.right, 180), (Key.period, 181), (Key.period, 182), (Key.comma, 181), (Key.left, 31), (Key.down, 0)] {
            scene.press(key)
            var seen: Int?
            let found = try scene.frame { _, code in
                seen = code.number
                return code.number == number
            }
            #expect(found != nil, "frame \(String(describing: seen)) instead of \(number) after key \(key)")
        }
        scene.press(Key.space)
        #expect(try scene.frame { $1.number > 20 } != nil, "does not play")
        scene.press(Key.space)
        // A busy machine takes a moment to hear the key.
        let isStill = try Polling.until {
            let number = try scene.frame { _, _ in true }?.code.number
            Thread.sleep(forTimeInterval: 0.5)
            return try number != nil && scene.frame { _, _ in true }?.code.number == number
        }
        #expect(isStill, "does not pause")
        scene.press(Key.q)
        let end = try scene.end()
        #expect(end.code == 0 && !end.crashed && end.errors.isEmpty, "\(end.errors)")
    }

    @Test func `the next film and the previous one follow in the same window`() throws {
        let scene = try Scene(["--no-audio", "--fullscreen", "--pause", "--start", "0.5", TestAssets.path("rate-60.mp4")])
        for (key, number) in [(nil, 30), (Key.enter, 15), (Key.previousSong, 30)] as [(UInt32?, Int)] {
            if let key { scene.press(key) }
            // The second film covers the monitor, too, and all of them stand still.
            #expect(try scene.frame { part, code in part.size == PixelSize(width: 640, height: 360) && code.number == number } != nil)
        }
        #expect(scene.tap.findings.windows == 1)
        scene.press(Key.q)
        let end = try scene.end()
        #expect(end.code == 0 && !end.crashed && end.errors.isEmpty, "\(end.errors)")
    }

    @Test func `f covers the monitor, Escape uncovers it and then ends the program`() throws {
        let scene = try Scene(["--no-audio", "--pause", "--start", "1"])
        let small = try #require(try scene.frame { _, _ in true }).part
        scene.press(Key.f)
        // 640x360 of 640x480.
        #expect(try scene.frame { part, code in part == PixelRect(x: 0, y: 60, width: 640, height: 360) && code.number == 30 } != nil)
        scene.press(Key.escape)
        #expect(try scene.frame { part, code in part.size == small.size && code.number == 30 } != nil)
        scene.press(Key.escape)
        #expect(try scene.end().code == 0)
    }

    @Test func `a window that is given another size shows the film in it, all of it and undistorted`() throws {
        let scene = try Scene(["--no-audio", "--pause", "--start", "1"])
        #expect(try scene.frame { $1.number == 30 } != nil)
        for (window, film) in [((320, 180), (320, 180)), ((400, 300), (400, 225)), ((360, 135), (240, 135)), ((480, 270), (480, 270))] {
            scene.tap.change { $0.sizes = [PixelSize(width: window.0, height: window.1)] }
            let expected = PixelSize(width: film.0, height: film.1)
            #expect(try scene.frame { part, code in part.size == expected && code.number == 30 } != nil, "\(window)")
        }
        scene.tap.change { $0.closeRequests = 1 }
        let end = try scene.end()
        #expect(end.code == 0 && !end.crashed && end.errors.isEmpty, "\(end.errors)")
    }

    /// All keys but the two that quit, and some that mean nothing.
    private static let restless: [UInt32] = [10, 11, 14, 26, 27, 30, 33, 50, 51, 52, 57, 103, 105, 106, 108]

    @Test(arguments: ["demo.mp4", "vp9.webm", "size-change.h264"])
    func `keys in no order, three hundred with --full, leave a player that still hears q`(_ film: String) throws {
        let scene = try Scene(["--audio-device", "null", "--loop", "--stats", "-"], film: TestAssets.path(film))
        var dice = Dice(seed: UInt64(film.utf8.count))
        for _ in 0..<TestExtent.rounds(100, full: 300) {
            scene.press(Self.restless.randomElement(using: &dice)!)
            Thread.sleep(forTimeInterval: Double.random(in: 0...0.03, using: &dice))
        }
        scene.press(Key.q)
        let end = try scene.end()
        #expect(end.code == 0 && !end.crashed, "\(end.errors)")
        #expect(end.output.contains("\"framesPresented\""))
    }

    @Test(arguments: [false, true]) func `a window that is closed ends the program, playing or paused`(_ isPaused: Bool) throws {
        let scene = try Scene(["--no-audio", "--loop", "--stats", "-"] + (isPaused ? ["--pause"] : []))
        #expect(try scene.frame { _, _ in true } != nil)
        scene.tap.change { $0.closeRequests = 1 }
        let end = try scene.end()
        #expect(end.code == 0 && !end.crashed && end.errors.isEmpty, "\(end.errors)")
        #expect(end.output.contains("\"framesPresented\""))
    }
}
