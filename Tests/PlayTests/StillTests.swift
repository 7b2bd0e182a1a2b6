import Foundation
import Media
import TestSupport
import Testing

/// Still images as films.
@Suite(.serialized) final class StillTests {
    private let image = NSTemporaryDirectory() + "still-\(UUID().uuidString.prefix(8)).png"

    init() throws {
        let command = "ffmpeg -nostdin -v error -f lavfi -i testsrc=size=64x48 -frames:v 1 \(image)"
        try #require(unsafe system(command) == 0)
    }

    deinit { try? FileManager.default.removeItem(atPath: image) }

    @Test func `an image alone stays until a key, also after a seek`() throws {
        let terminal = try PseudoTerminal(), handle = PlayProgram.Handle()
        let outcome = PlayProgram.begin(["--sink", "headless", image], limit: 40, handle: handle, terminal: terminal.path)
        #expect(Polling.until { !terminal.isAsFound })
        terminal.type("\u{1b}[C")
        #expect(Polling.holds(for: .milliseconds(700)) { handle.isRunning })
        terminal.type("q")
        let end = try outcome()
        #expect(end.code == 0 && !end.crashed && end.errors.isEmpty, "\(end.errors)")
    }

    /// Two frames, the second an hour later.
    @Test(arguments: ["mp4", "mkv"]) func `a frame that lasts for an hour is shown until the part ends that is played`(_ ending: String) throws {
        let film = ProcessFolder.path("hour-\(UUID().uuidString.prefix(8)).\(ending)")
        defer { try? FileManager.default.removeItem(atPath: film) }
        try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=1:duration=2", "-vf", "setpts=N*3600/TB", "-fps_mode", "passthrough"]
                + ["-c:v", "libx264", "-preset", "ultrafast", film])
        let outcome = try PlayProgram.run(["--sink", "headless", "--duration", "0.5", "--stats", "-", film])
        #expect(outcome.code == 0 && !outcome.crashed, "\(outcome.errors)")
        #expect(outcome.output.contains("\"framesPresented\": 1,"), "\(outcome.output)")
    }

    @Test func `images in a list stay for as long as is wanted`() throws {
        let outcome = try PlayProgram.run(
            ["--sink", "headless", "--no-audio", "--image-duration", "0.5", "--stats", "-", image, TestAssets.path("short.mp4"), image])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let films = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        // A busy machine may draw some of the film's frames too late.
        let frames = films.map { film in
            (film["framesPresented"] as? Int ?? 0) + ((film["framesDropped"] as? [String: Int])?["late"] ?? 0)
        }
        #expect(frames == [1, 10, 1], "\(outcome.output)")
        #expect(films.map { (($0["wallSeconds"] as? Double) ?? 0) >= 0.5 }.first == true, "\(outcome.output)")
    }

    @Test(arguments: [["--untimed"], ["--image-duration", "0.1"], ["--duration", "0.1"], ["--image-duration", "inf", "--untimed"]])
    func `an image that is not to stay ends`(_ options: [String]) throws {
        let outcome = try PlayProgram.run(["--sink", "headless", "--stats", "-"] + options + [image])
        #expect(
            outcome.code == 0 && outcome.errors.isEmpty && outcome.output.contains("\"framesPresented\": 1,"), "\(outcome.errors) \(outcome.output)")
    }

    @Test(arguments: ["0", "-1", "long"]) func `a time that is none is refused`(_ time: String) throws {
        let outcome = try PlayProgram.run(["--sink", "headless", "--image-duration=" + time, image])
        #expect(outcome.code == 64 && outcome.errors.contains("--image-duration"), "\(outcome.errors)")
    }
}
