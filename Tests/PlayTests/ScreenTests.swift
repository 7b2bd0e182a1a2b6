import Foundation
import Media
import OnScreen
import TestSupport
import Testing

/// What tells the viewer of the player, as it is seen in a window: read from screenshots of a real compositor.
@Suite(.serialized) final class ScreenTests {
    /// The film in a fullscreen window on 640x480 is 640x360 in the middle. Messages and the bar lie on the black parts above and below.
    private static let part = PixelRect(x: 0, y: 60, width: 640, height: 360)
    private static let above = PixelRect(x: 0, y: 0, width: 640, height: 58), below = PixelRect(x: 0, y: 422, width: 640, height: 58)
    private static let size = PixelSize(width: 640, height: 480)

    /// `play` in a compositor, with a keyboard and a pointer between, on frame 30.
    private final class Scene {
        let weston: PrivateWeston
        let tap: WireTap
        private let outcome: () throws -> PlayProgram.Outcome
        private let handle = PlayProgram.Handle()

        init(_ options: [String], environment: [String: String] = [:]) throws {
            weston = try PrivateWeston(.gl, isBare: true)
            tap = try WireTap(to: weston.display)
            outcome = PlayProgram.begin(
                ["--no-audio", "--fullscreen", "--pause", "--start", "1", "--no-exact-colors", "--stats", "-"] + options + [TestAssets.demo],
                environment: environment.merging(["WAYLAND_DISPLAY": tap.display]) { $1 }, limit: 180, handle: handle)
        }

        deinit {
            handle.kill()
            _ = try? outcome()
            tap.stop()
        }

        /// Presses a key by its number in `linux/input-event-codes.h`.
        func press(_ code: UInt32) { tap.change { $0.inputs += [.key(code, isDown: true), .key(code, isDown: false)] } }

        /// - Parameter key: Pressed before each look.
        func shows(frame: ClosedRange<Int> = 30...30, _ parts: (above: Bool, below: Bool), pressing key: UInt32? = nil) throws -> Bool {
            try Polling.until(every: .milliseconds(50)) {
                if let key { press(key) }
                let shot = try weston.screenshot()
                guard let code = FrameCode(shot, in: ScreenTests.part), frame.contains(code.number) else { return false }
                return ScreenTests.hasWhite(shot, ScreenTests.above) == parts.above && ScreenTests.hasWhite(shot, ScreenTests.below) == parts.below
            }
        }

        func end() throws -> PlayProgram.Outcome {
            press(Key.q)
            return try outcome()
        }
    }

    private enum Key {
        static let q: UInt32 = 16, i: UInt32 = 23, o: UInt32 = 24, zero: UInt32 = 11, right: UInt32 = 106, s: UInt32 = 31, capitalS: UInt32 = 83
    }

    private static func hasWhite(_ shot: RGBImage, _ part: PixelRect) -> Bool {
        for y in part.y..<part.y + part.height {
            for x in part.x..<part.x + part.width where shot[x, y].distance(to: .init(red: 255, green: 255, blue: 255)) < 60 { return true }
        }
        return false
    }

    private static func bytesCopied(_ end: PlayProgram.Outcome) throws -> Int? {
        try (JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any])?["bytesCopied"] as? Int
    }

    @Test(arguments: ["off", "full"]) func `what a key changes is told, goes by itself, and costs no copy of a frame`(_ sandbox: String) throws {
        let scene = try Scene(["--sandbox", sandbox, "--osd-duration", "3000"])
        #expect(try scene.shows((above: false, below: false)))
        // A screenshot may come so late that what a key has shown is gone.
        #expect(try scene.shows((above: true, below: false), pressing: Key.zero), "the volume")
        #expect(try scene.shows((above: false, below: false)))
        #expect(try scene.shows((above: false, below: true), pressing: Key.o), "the bar")
        #expect(try scene.shows((above: false, below: false)))
        // They lie over the frame, too.
        let hasStatistics = try Polling.until(every: .milliseconds(50)) {
            scene.press(Key.i)
            return try Self.hasWhite(scene.weston.screenshot(), Self.above)
        }
        #expect(hasStatistics, "the statistics")
        let end = try scene.end()
        #expect(try end.code == 0 && Self.bytesCopied(end) == 0, "\(end.errors)")
    }

    @Test func `the bar comes with the pointer and is dragged, and the window stays where it is`() throws {
        let scene = try Scene(["--osd-duration", "10000000"])
        #expect(try scene.shows((above: false, below: false)))
        let bar = BarLayout(ScreenBar(isPlaying: false, position: 1, duration: 10), ScreenLayout(Self.size)), track = try #require(bar.track)
        let row = UInt32(bar.pill.y + bar.pill.height / 2)
        func column(_ share: Double) -> UInt32 { UInt32((track.x + track.width * share).rounded()) }
        scene.tap.change { $0.inputs += [.pointerEntersAt(300, 100), .pointerMovesTo(301, 100)] }
        #expect(try scene.shows((above: false, below: true)))
        // On a busy machine it would be gone again before it is pressed; the key makes it stay.
        #expect(try scene.shows((above: false, below: true), pressing: Key.o))
        let places = (column(0.1), column(0.5), column(0.8))
        scene.tap.change { $0.inputs += [.pointerMovesTo(places.0, row), .button(isDown: true, time: 1000), .pointerMovesTo(places.1, row)] }
        #expect(try scene.shows(frame: 147...153, (above: false, below: true)))
        // Beside the bar the pointer still holds it.
        scene.tap.change { $0.inputs += [.pointerMovesTo(places.2, 10), .button(isDown: false, time: 2000), .pointerMovesTo(places.0, 10)] }
        #expect(try scene.shows(frame: 237...243, (above: false, below: true)))
        #expect(scene.tap.findings.moves == 0)
        #expect(try scene.end().code == 0)
    }

    @Test(arguments: [
        (["--osd-level", "0"], false, false), (["--no-osd-bar", "--osd-duration", "10000000"], true, false),
        (["--osd-duration", "10000000", "--osd-level=3"], true, true),
    ])
    func `options say how much is told`(_ options: [String], _ above: Bool, _ below: Bool) throws {
        let scene = try Scene(options)
        scene.press(Key.right)
        #expect(try scene.shows(frame: 180...180, (above: above, below: below)))
        #expect(try scene.end().code == 0)
    }

    @Test func `keys are bound by input_conf, and lines that make no sense are said`() throws {
        let folder = NSTemporaryDirectory() + "bindings-\(UUID().uuidString.prefix(8))", path = folder + "/input.conf", other = folder + "/other.conf"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "o seek 2 exact; show-text \"two ${time-pos}\" 100000\nF99 quit\n0 ignore\n".write(toFile: path, atomically: true, encoding: .utf8)
        try "i explode\nRIGHT no-osd seek 4".write(toFile: other, atomically: true, encoding: .utf8)
        let scene = try Scene(["--config-dir", folder, "--input-conf", other])
        #expect(try scene.shows((above: false, below: false)))
        for key in [Key.zero, Key.right] { scene.press(key) }
        #expect(try scene.shows(frame: 150...150, (above: false, below: false)))
        scene.press(Key.o)
        #expect(try scene.shows(frame: 210...210, (above: true, below: false)))
        let end = try scene.end()
        #expect(end.code == 0 && end.errors.contains("\(path):2: there is no key F99."), "\(end.errors)")
        #expect(end.errors.contains("\(other):1: there is no command explode."))
    }

    @Test func `how the film fits is set by options and keys, also while it is paused`() throws {
        let bindings = NSTemporaryDirectory() + "bindings-\(UUID().uuidString.prefix(8))"
        try "o set panscan 0\ni add video-pan-y -0.1\n0 cycle-values video-rotate 180 0".write(toFile: bindings, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: bindings) }
        let scene = try Scene(["--panscan", "1", "--video-zoom", "-0", "--video-pan-x", "-0.0", "--osd-level", "0", "--input-conf", bindings])
        func isBlack(_ part: PixelRect) throws -> Bool {
            let shot = try scene.weston.screenshot()
            for y in part.y..<part.y + part.height {
                for x in part.x..<part.x + part.width where shot[x, y].distance(to: .init(red: 0, green: 0, blue: 0)) > 2 { return false }
            }
            return true
        }
        #expect(try Polling.until(every: .milliseconds(50)) { try !isBlack(Self.above) && !isBlack(Self.below) }, "no borders")
        scene.press(Key.o)
        #expect(try scene.shows((above: false, below: false)))
        #expect(try isBlack(Self.above) && isBlack(Self.below), "borders")
        scene.press(Key.zero)
        // Its code stands on its head now.
        #expect(try Polling.until(every: .milliseconds(50)) { try FrameCode(scene.weston.screenshot(), in: Self.part)?.number != 30 }, "turned")
        #expect(try isBlack(Self.above) && isBlack(Self.below), "turned, not moved")
        scene.press(Key.zero)
        #expect(try scene.shows((above: false, below: false)), "upright")
        scene.press(Key.i)
        // 36 pixels further up.
        #expect(try Polling.until(every: .milliseconds(50)) { try !isBlack(PixelRect(x: 0, y: 26, width: 640, height: 30)) }, "moved")
        #expect(try isBlack(PixelRect(x: 0, y: 390, width: 640, height: 90)))
        let end = try scene.end()
        #expect(try end.code == 0 && Self.bytesCopied(end) == 0, "\(end.errors)")
    }

    @Test func `brightness and colours are set by options and keys, also while it is paused`() throws {
        let bindings = NSTemporaryDirectory() + "bindings-\(UUID().uuidString.prefix(8))"
        try "o set contrast 0\ni no-osd set brightness -100".write(toFile: bindings, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: bindings) }
        let scene = try Scene(["--contrast", "-100", "--osd-level", "0", "--input-conf", bindings])
        func isBlack() throws -> Bool {
            let shot = try scene.weston.screenshot()
            return FrameCode(shot, in: Self.part) == nil && shot.mean(of: Self.part).distance(to: .init(red: 0, green: 0, blue: 0)) <= 5
        }
        #expect(try Polling.until(every: .milliseconds(50)) { try scene.tap.findings.commits > 0 && isBlack() }, "black by an option")
        scene.press(Key.o)
        #expect(try scene.shows((above: false, below: false)), "the film")
        scene.press(Key.i)
        #expect(try Polling.until(every: .milliseconds(50), isBlack), "black by a key")
        let end = try scene.end()
        #expect(try end.code == 0 && Self.bytesCopied(end) ?? 0 > 0, "\(end.errors)")
    }

    @Test(arguments: ["off", "full"]) func `a screenshot is the frame that is shown, with its subtitles or without`(_ sandbox: String) throws {
        let folder = NSTemporaryDirectory() + "screenshots-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "1\n00:00:00,500 --> 00:00:09,000\n{\\an7}MMMMMMMM\n".write(toFile: folder + "/text.srt", atomically: true, encoding: .utf8)
        let scene = try Scene([
            "--sandbox", sandbox, "--sub-file", folder + "/text.srt", "--screenshot-dir", folder + "/shots", "--screenshot-template", "%F-%02n",
        ])
        #expect(try scene.shows((above: true, below: false)))
        var images: [RGBImage] = []
        for (key, name) in [(Key.s, "demo-01.png"), (Key.capitalS, "demo-02.png")] {
            scene.press(key)
            let path = "\(folder)/shots/\(name)"
            #expect(Polling.until { FileManager.default.fileExists(atPath: path) }, "\(name)")
            images.append(try Self.image(path))
        }
        for image in images {
            let code = try #require(FrameCode(image, in: PixelRect(x: 0, y: 0, width: 640, height: 360)))
            #expect(code.number == 30)
        }
        // Letters of 28 rows lie on the frame's own upper left corner.
        let corner = PixelRect(x: 0, y: 0, width: 300, height: 60)
        #expect(images[0].mean(of: corner).distance(to: images[1].mean(of: corner)) > 2)
        #expect(try scene.end().code == 0)
    }

    /// A PNG file of 640x360, decoded by ffmpeg.
    private static func image(_ path: String) throws -> RGBImage {
        let process = ChildProcess(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "bgr0", "-"]
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0 && bytes.count == 640 * 360 * 4)
        return RGBImage(bytes: Array(bytes), size: PixelSize(width: 640, height: 360), layout: .xrgb8888, bytesPerRow: 640 * 4)
    }

    @Test func `the part between two marks is played again`() throws {
        let options = ["--ab-loop-a", "9", "--ab-loop-b", "9.5"]
        let handle = PlayProgram.Handle()
        let outcome = PlayProgram.begin(
            ["--sink", "headless", "--no-audio", "--start", "9.2"] + options + [TestAssets.demo], handle: handle)
        // From 9.2 s to the end of the film there are 24 frames: without the loop it would end.
        let goesOn = Polling.holds(for: .seconds(3)) { handle.processIdentifier == nil || handle.isRunning }
        #expect(goesOn)
        handle.send(SIGTERM)
        let end = try outcome()
        #expect(end.code == 0 && end.errors.isEmpty, "\(end.errors)")
    }

    @Test func `the names of keys and commands are listed`() throws {
        let keys = try PlayProgram.run(["--input-keylist"]), commands = try PlayProgram.run(["--input-cmdlist"])
        #expect(keys.code == 0 && Set(keys.output.split(separator: "\n")).isSuperset(of: ["SPACE", "LEFT", "F12", "SHARP"]))
        #expect(commands.code == 0 && Set(commands.output.split(separator: "\n")).isSuperset(of: ["seek", "show-text", "cycle-values", "ignore"]))
        let missing = try PlayProgram.run([
            "--input-conf", "/nonexistent/input.conf", "--sink", "headless", "--untimed", TestAssets.path("short.mp4"),
        ])
        #expect(missing.code == 0 && missing.errors.contains("/nonexistent/input.conf: the configuration cannot be read"), "\(missing.errors)")
    }
}
