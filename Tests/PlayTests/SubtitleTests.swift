import Foundation
import Media
import TestSupport
import Testing

/// Subtitles as a viewer sees them: read from screenshots of a real compositor.
@Suite(.serialized) final class SubtitleTests {
    /// The film in a fullscreen window on 640x480 is 640x360 in the middle; plain text uses the black parts above and below.
    private static let part = PixelRect(x: 0, y: 60, width: 640, height: 360)
    private static let above = PixelRect(x: 100, y: 0, width: 440, height: 58), below = PixelRect(x: 100, y: 422, width: 440, height: 58)
    /// At the lower edge from 2 s to 4 s, at the upper one before and after.
    private static let text =
        "1\n00:00:00,000 --> 00:00:02,000\n{\\an8}XXXX\n\n2\n00:00:02,000 --> 00:00:04,000\nXXXX\n\n3\n00:00:04,000 --> 00:00:10,000\n{\\an8}XXXX\n"
    private let folder = NSTemporaryDirectory() + "subtitles-\(UUID().uuidString.prefix(8))"

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Self.text.write(toFile: folder + "/text.srt", atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static func hasText(_ shot: RGBImage, _ part: PixelRect) -> Bool {
        for y in part.y..<part.y + part.height {
            for x in part.x..<part.x + part.width where shot[x, y].distance(to: .init(red: 255, green: 255, blue: 255)) < 60 { return true }
        }
        return false
    }

    /// Plays, and looks at the screen until it shows frame `number` with text above or below.
    private func outcome(_ weston: PrivateWeston, frame number: Int, isBelow: Bool, _ arguments: [String]) throws -> (Bool, PlayProgram.Outcome) {
        let handle = PlayProgram.Handle(), start = "\(MediaTime(value: Int64(number) * 1000 / 30 + 10, timescale: 1000).seconds)"
        let outcome = PlayProgram.begin(
            ["--no-audio", "--pause", "--start", start, "--fullscreen", "--stats", "-"] + arguments, environment: ["WAYLAND_DISPLAY": weston.display],
            handle: handle)
        let isSeen = try Polling.until(every: .milliseconds(50)) {
            let shot = try weston.screenshot()
            guard FrameCode(shot, in: Self.part)?.number == number else { return false }
            return Self.hasText(shot, Self.below) == isBelow && Self.hasText(shot, Self.above) == !isBelow
        }
        handle.send(SIGTERM)
        return (isSeen, try outcome())
    }

    @Test func `the text belongs to the very frame, and the film is not copied`() throws {
        let weston = try PrivateWeston(.gl, isBare: true)
        for (number, isBelow) in [(59, false), (60, true), (119, true), (120, false)] {
            let (isSeen, end) = try outcome(
                weston, frame: number, isBelow: isBelow, ["--no-exact-colors", "--sub-file", folder + "/text.srt", TestAssets.demo])
            #expect(isSeen, "frame \(number): \(end)")
            let members = try #require(try JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any])
            #expect(end.code == 0 && members["bytesCopied"] as? Int == 0, "\(end.errors)")
        }
    }

    @Test func `a file with the film's name is found, and can be declined`() throws {
        let weston = try PrivateWeston(.pixman, isBare: true), film = folder + "/film.mp4"
        try FileManager.default.createSymbolicLink(atPath: film, withDestinationPath: TestAssets.demo)
        try FileManager.default.moveItem(atPath: folder + "/text.srt", toPath: folder + "/film.en.srt")
        #expect(try outcome(weston, frame: 60, isBelow: true, [film]).0)
        // The delay makes the line before the one of this frame.
        #expect(try outcome(weston, frame: 60, isBelow: false, ["--sub-delay", "1", "--slang", "en", film]).0)
        #expect(try outcome(weston, frame: 60, isBelow: true, ["--sandbox", "require", film]).0)
        for arguments in [["--sub-auto", "no"], ["--no-sub"]] {
            let handle = PlayProgram.Handle()
            let outcome = PlayProgram.begin(
                ["--no-audio", "--pause", "--start", "2.01", "--fullscreen"] + arguments + [film], environment: ["WAYLAND_DISPLAY": weston.display],
                handle: handle)
            var shot: RGBImage?
            _ = try Polling.until(every: .milliseconds(50)) {
                shot = try weston.screenshot()
                return shot.flatMap { FrameCode($0, in: Self.part)?.number } == 60
            }
            handle.send(SIGTERM)
            let end = try outcome(), image = try #require(shot)
            #expect(!Self.hasText(image, Self.below) && !Self.hasText(image, Self.above), "\(arguments)")
            #expect(end.code == 0, "\(end.errors)")
        }
    }

    @Test(
        arguments: [
            (["--no-sub", "--sid", "1"], "--no-sub and --sid exclude each other."),
            (["--sub-scale", "0"], "--sub-scale must lie between 0.1 and 10."),
            (["--sub-pos", "151"], "--sub-pos must lie between 0 and 150."), (["--sub-delay", "1e9"], "--sub-delay must lie within a day."),
            (["--sid", "x"], "--sid"), (["--slang", ","], "--slang"), (["--sub-auto", "all"], "--sub-auto"),
        ])
    func `what makes no sense is refused`(_ arguments: [String], _ sentence: String) throws {
        let outcome = try PlayProgram.run(["--sink", "headless"] + arguments + [TestAssets.demo])
        #expect(outcome.code == 64 && outcome.errors.contains(sentence), "\(outcome.errors)")
    }

    @Test func `a display without subtitles says so where they are asked for`() throws {
        let sentence = "Subtitles are shown in a window or on a monitor only, and given to programs that ask for them."
        for (arguments, isTold) in [(["--sub-file", folder + "/text.srt"], true), (["--sid", "1"], true), (["--sid", "auto"], false)] {
            let end = try PlayProgram.run(["--sink", "headless", "--untimed", "--duration", "0.1"] + arguments + [TestAssets.demo])
            #expect(end.code == 0 && end.errors.contains(sentence) == isTold, "\(end.errors)")
        }
    }

    @Test func `info says how subtitles are asked for`() throws {
        let film = folder + "/film.mkv", process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=1", "-i", folder + "/text.srt"]
            + ["-map", "0", "-map", "1", "-map", "1", "-c:v", "ffv1", "-c:s:0", "srt", "-c:s:1", "ass", "-metadata:s:s:0", "language=eng"]
            + ["-disposition:s:0", "forced+hearing_impaired", film]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        for sandbox in ["off", "full"] {
            let lines = try PlayProgram.run(["info", "--sandbox", sandbox, film]).output.split(separator: "\n").map(String.init)
            #expect(lines.contains { $0.hasSuffix("subtitle, subrip, eng, forced, hearing impaired, --sid 1") }, "\(lines)")
            #expect(lines.contains { $0.hasSuffix("subtitle, ass, --sid 2") }, "\(lines)")
        }
    }

    // MARK: Captions inside frames

    /// What the screen shows of a captioned film that is paused at 1.95 s, as soon as that is as wanted.
    private func screen(_ weston: PrivateWeston, _ arguments: [String], _ isWanted: (RGBImage) -> Bool) throws -> RGBImage? {
        let film = try #require(MediaCatalog.shared).path("mp4/androidx/fragmented_captions.mp4"), handle = PlayProgram.Handle()
        let outcome = PlayProgram.begin(
            ["--no-audio", "--pause", "--start", "1.95", "--fullscreen", "--no-exact-colors"] + arguments + [film],
            environment: ["WAYLAND_DISPLAY": weston.display], handle: handle)
        var seen: RGBImage?
        _ = try Polling.until(every: .milliseconds(50)) {
            let shot = try weston.screenshot()
            seen = isWanted(shot) ? shot : nil
            return seen != nil
        }
        handle.send(SIGTERM)
        let end = try outcome()
        #expect(end.code == 0, "\(end.errors)")
        return seen
    }

    private static func differs(_ first: RGBImage, _ second: RGBImage, in part: PixelRect) -> Bool {
        for y in part.y..<part.y + part.height { for x in part.x..<part.x + part.width where first[x, y] != second[x, y] { return true } }
        return false
    }

    @Test(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"))
    func `captions inside frames are shown where they are chosen, at their place`() throws {
        let weston = try PrivateWeston(.gl, isBare: true), whole = PixelRect(x: 0, y: 0, width: 640, height: 480)
        // The words ♪MUSIC♪ are on from 1.869 s to the end, 163 of 384 columns and 243 of 288 rows from the corner.
        let place = PixelRect(x: 265, y: 355, width: 160, height: 40), upper = PixelRect(x: 0, y: 0, width: 640, height: 355)
        let black = RGBImage.Color(red: 0, green: 0, blue: 0)
        let bare = try #require(try screen(weston, ["--no-sub"]) { $0.mean(of: upper).distance(to: black) > 10 })
        #expect(try screen(weston, []) { !Self.differs($0, bare, in: whole) } != nil, "not by itself")
        for sandbox in ["off", "full"] {
            let shot = try screen(weston, ["--sid", "1", "--sandbox", sandbox]) {
                Self.differs($0, bare, in: place) && !Self.differs($0, bare, in: upper)
            }
            #expect(shot.map { Self.hasText($0, place) } == true, "\(sandbox)")
        }
    }
}
