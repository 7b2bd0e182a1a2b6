import Foundation
import Media
import TestSupport
import Testing

/// The program in a real compositor: what a viewer would see, read from screenshots.
@Suite(.serialized) struct WindowTests {
    /// The film in a fullscreen window on 640x480: 640x360 in the middle.
    private static let part = PixelRect(x: 0, y: 60, width: 640, height: 360)

    /// The first screenshot with a readable frame number that fits; else the last one with a number.
    private func frame(of weston: PrivateWeston, where fits: (RGBImage, FrameCode) -> Bool = { _, _ in true }) throws -> (RGBImage, FrameCode)? {
        var last: (RGBImage, FrameCode)?
        _ = try Polling.until(every: .milliseconds(100)) {
            let shot = try weston.screenshot()
            guard let code = FrameCode(shot, in: Self.part) else { return false }
            last = (shot, code)
            return fits(shot, code)
        }
        return last
    }

    /// The shell fades windows in; the film's white bar is 191 when that is over.
    private func hasSettled(_ shot: RGBImage) -> Bool {
        ColorBars.measured(in: shot, part: Self.part)[0].distance(to: ColorBars.expected[0]) <= 3
            && shot.mean(of: PixelRect(x: 100, y: 10, width: 400, height: 30)).distance(to: .init(red: 0, green: 0, blue: 0)) <= 2
    }

    @Test(arguments: [(PrivateWeston.Renderer.pixman, false), (.gl, false), (.gl, true)])
    func `the demo's frame of a given time is on the screen, in its colours`(_ renderer: PrivateWeston.Renderer, _ exact: Bool) throws {
        let weston = try PrivateWeston(renderer), handle = PlayProgram.Handle()
        let outcome = PlayProgram.begin(
            ["--no-audio", "--pause", "--start", "3.1", "--fullscreen", "--stats", "-"] + (exact ? [] : ["--no-exact-colors"]) + [TestAssets.demo],
            environment: ["WAYLAND_DISPLAY": weston.display], handle: handle)
        let seen = try frame(of: weston) { shot, _ in hasSettled(shot) }
        handle.send(SIGTERM)
        let (shot, code) = try #require(seen, "no frame number on the screen")
        let part = Self.part
        #expect(code.number == 93)
        // Black above and below.
        #expect(shot.mean(of: PixelRect(x: 100, y: 10, width: 400, height: 30)).distance(to: .init(red: 0, green: 0, blue: 0)) <= 2)
        // A compositor that takes YUV and no description of it decodes as it likes; grey is grey everywhere.
        if renderer == .pixman || exact {
            #expect(ColorBars.worstError(in: shot, part: part) <= 6, "\(ColorBars.measured(in: shot, part: part))")
        } else {
            #expect(ColorBars.measured(in: shot, part: part)[0].distance(to: ColorBars.expected[0]) <= 6)
        }
        let end = try outcome()
        #expect(end.code == 0 && !end.crashed, "\(end.errors)")
        let members = try #require(try JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any])
        let converts = !(members["conversion"] is NSNull)
        #expect(converts == (renderer == .pixman || exact))
        #expect((members["bytesCopied"] as? Int == 0) == !converts)
    }

    /// A white frame: a third opaque, a third half, a third transparent.
    private static func whiteFilm() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/white-\(UUID().uuidString.prefix(8)).webm", process = ChildProcess()
        let alpha = "if(lt(X,104),255,if(lt(X,208),128,0))"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=white:s=320x240:r=25:d=0.4"]
            + ["-vf", "format=yuva420p,geq=lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='\(alpha)'", "-c:v", "libvpx-vp9", "-auto-alt-ref", "0"]
            + ["-b:v", "2M", "-deadline", "realtime", path]
        try process.run()
        process.waitUntilExit()
        return path
    }

    @Test func `a film with alpha lies over black`() throws {
        let weston = try PrivateWeston(.pixman), handle = PlayProgram.Handle(), film = try Self.whiteFilm()
        defer { try? FileManager.default.removeItem(atPath: film) }
        let outcome = PlayProgram.begin(
            ["--no-audio", "--fullscreen", "--loop", film], environment: ["WAYLAND_DISPLAY": weston.display], handle: handle)
        let width = weston.size.width / 3
        var levels = [0, 0, 0]
        // The shell fades windows in.
        _ = try Polling.until(every: .milliseconds(100)) {
            let shot = try weston.screenshot()
            levels = (0..<3).map { shot.mean(of: PixelRect(x: $0 * width + width / 4, y: 100, width: width / 2, height: 200)).red }
            return levels[0] >= 250
        }
        handle.send(SIGTERM)
        #expect(levels[0] >= 250 && abs(levels[1] - 128) <= 4 && levels[2] <= 4, "\(levels)")
        #expect(try outcome().code == 0)
    }

    @Test func `frames follow each other while it plays`() throws {
        let weston = try PrivateWeston(.pixman), handle = PlayProgram.Handle()
        let outcome = PlayProgram.begin(
            ["--no-audio", "--fullscreen", "--loop", TestAssets.demo], environment: ["WAYLAND_DISPLAY": weston.display], handle: handle)
        let first = try #require(try frame(of: weston)).1.number
        let later = try frame(of: weston) { $1.number != first }
        handle.send(SIGTERM)
        #expect(later != nil && later?.1.number != first)
        #expect(try outcome().code == 0)
    }

    @Test func `a compositor that dies ends it with one sentence`() throws {
        let weston = try PrivateWeston(.pixman)
        let outcome = PlayProgram.begin(
            ["--no-audio", "--fullscreen", "--loop", TestAssets.demo], environment: ["WAYLAND_DISPLAY": weston.display], limit: 40)
        #expect(try frame(of: weston) != nil)
        weston.kill()
        let end = try outcome()
        #expect(!end.crashed && end.code == 69)
        #expect(end.errors.split(separator: "\n").count == 1, "\(end.errors)")
    }
}
