import Foundation
import TestSupport
import Testing

/// `play frames`.
@Suite struct FramesTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("frames-\(UUID().uuidString)").path

    private func list() -> [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

    private func remove() { try? FileManager.default.removeItem(atPath: folder) }

    @Test func `it writes the frames at the times given, and prints their paths`() throws {
        defer { remove() }
        let outcome = try PlayProgram.run(["frames", TestAssets.demo, "--at", "3,0:01.5", "--size", "64x", "-o", folder])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(list() == ["demo-0.00.01.500.png", "demo-0.00.03.000.png"])
        #expect(outcome.output == list().map { "\(folder)/\($0)\n" }.joined())
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/demo-0.00.03.000.png"))
        #expect(bytes.prefix(8) == Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
        // The width in the header (PNG, 11.2.2).
        #expect(bytes[16..<20] == Data([0, 0, 0, 64]))
    }

    @Test func `it writes one every so often, as JPEG, and a sheet`() throws {
        defer { remove() }
        let sheet = "\(folder)/sheet.png"
        let arguments = ["frames", TestAssets.demo, "--every", "4", "--format", "jpeg", "--size", "x36", "-o", folder, "--sheet", sheet]
        let outcome = try PlayProgram.run(arguments)
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(list() == ["demo-0.00.00.000.jpg", "demo-0.00.04.000.jpg", "demo-0.00.08.000.jpg", "sheet.png"])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: sheet))
        // Three frames of 64x36 in a row, with margins and the times of 66x7.
        #expect(bytes[16..<24] == Data([0, 0, 0, 230, 0, 0, 0, 67]))
    }

    /// The bytes that ffmpeg makes of its arguments.
    private static func ffmpeg(_ arguments: [String]) throws -> Data {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-v", "error"] + arguments + ["-frames:v", "1", "-pix_fmt", "rgba", "-f", "rawvideo", "-"]
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return data
    }

    @Test(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"))
    func `PNG files have the film's alpha, and what has none shows the film over black`() throws {
        defer { remove() }
        let film = try #require(MediaCatalog.shared).path("vp9/moviepy/transparent.webm"), sheet = "\(folder)/sheet.png"
        #expect(try PlayProgram.run(["frames", film, "--at", "1", "-o", folder, "--sheet", sheet]).code == 0)
        #expect(try PlayProgram.run(["frames", film, "--at", "1", "-o", folder, "--format", "jpeg"]).code == 0)
        let theirs = [UInt8](try Self.ffmpeg(["-c:v", "libvpx-vp9", "-i", film, "-vf", "select=eq(n\\,30)"]))
        let ours = [UInt8](try Self.ffmpeg(["-i", "\(folder)/transparent-0.00.01.000.png"]))
        let alphas = stride(from: 3, to: theirs.count, by: 4)
        #expect(ours.count == 200 * 200 * 4 && alphas.map { ours[$0] } == alphas.map { theirs[$0] } && Set(alphas.map { ours[$0] }).count > 4)
        let jpeg = [UInt8](try Self.ffmpeg(["-i", "\(folder)/transparent-0.00.01.000.jpg"]))
        let drawn = [UInt8](try Self.ffmpeg(["-i", sheet, "-vf", "crop=200:200:8:8"]))
        for pixel in alphas.map({ $0 - 3 }) {
            let alpha = Double(ours[pixel + 3]) / 255
            for index in 0..<3 { #expect(abs(Double(drawn[pixel + index]) - Double(ours[pixel + index]) * alpha) <= 0.5) }
            if ours[pixel + 3] == 0, pixel < 4 * 200 * 50 { #expect(jpeg[pixel..<pixel + 3].allSatisfy { $0 < 12 }) }
        }
    }

    @Test func `a time behind the end is an error after the others are written`() throws {
        defer { remove() }
        let outcome = try PlayProgram.run(["frames", TestAssets.demo, "--at", "1,100", "-o", folder])
        #expect(outcome.code == 65 && outcome.errors == "play: \(TestAssets.demo): there is no frame at 00:01:40.000.\n")
        #expect(list() == ["demo-0.00.01.000.png"])
    }

    @Test(
        arguments: [
            ([], 64, "Which frames? Say --at, --every or --sheet."), (["--at", "x"], 64, "--at"),
            (["--every", "0"], 64, "--every must be above zero."),
            (["--at", "1", "--size", "axb"], 64, "--size"), (["--at", "1", "-o", "/nowhere/x"], 73, "/nowhere/x: cannot be written"),
        ] as [([String], Int32, String)])
    func refusals(_ arguments: [String], _ code: Int32, _ sentence: String) throws {
        let outcome = try PlayProgram.run(["frames", TestAssets.demo] + arguments)
        #expect(outcome.code == code && outcome.errors.contains(sentence), "\(outcome.code) \(outcome.errors)")
    }

    @Test func `what is no film has the exit code of playback`() throws {
        #expect(try PlayProgram.run(["frames", "/nowhere/film.mp4", "--at", "1"]).code == 66)
        let sound = try PlayProgram.run(["frames", TestAssets.path("audio-only.flac"), "--at", "1"])
        #expect(sound.code == 65 && sound.errors.hasSuffix("it has no video track.\n"))
    }
}
