import FilmReference
import Foundation
import Media
import TestSupport
import Testing

/// The examples, built as a reader of the README builds them, against what is installed.
@Suite(.enabled(if: Installation.isPossible, "a sanitized library serves only sanitized programs")) struct ExamplesTests {
    private static func scratch(_ name: String) -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("examples-\(UUID().uuidString)-\(name)").path
    }

    /// The GPU's drivers are told to be software, so that the same happens everywhere.
    private static let software: [String: String] = {
        let folder = "/usr/share/vulkan/icd.d"
        let lavapipe =
            (try? FileManager.default.contentsOfDirectory(atPath: folder))?.first { $0.hasPrefix("lvp_icd") }.map { "\(folder)/\($0)" } ?? ""
        return ["LIBGL_ALWAYS_SOFTWARE": "1", "VK_ICD_FILENAMES": lavapipe, "VK_DRIVER_FILES": lavapipe]
    }()

    private static func bytes(_ path: String) throws -> [UInt8] {
        defer { try? FileManager.default.removeItem(atPath: path) }
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// An example in C: how it is built, and the program that writes what the GPU reads by the same means.
    struct Renderer: Sendable, CustomTestStringConvertible {
        var name: String
        var packages: [String]
        var arguments: [String] = []
        var testDescription: String { ([name] + arguments).joined(separator: " ") }

        static let all = [Renderer(name: "gles", packages: ["egl", "glesv2"]), Renderer(name: "vulkan", packages: ["vulkan"])]
        /// Through the library's own caches.
        static let cached = all.map { Renderer(name: $0.name, packages: $0.packages, arguments: ["cache"]) }
    }

    @Test(
        arguments: Renderer.all + Renderer.cached,
        ["plain.mp4", "hevc-10bit.mp4", "odd-size.webm", "odd-size-444.mp4", "crop.mp4", "size-change.h264"])
    func `the GPU reads every plane as the decoder wrote it`(_ renderer: Renderer, _ name: String) throws {
        let installation = try Installation.shared.get(), output = Self.scratch("planes")
        let program = try installation.build(
            TestAssets.root + "/Tests/CInterface/\(renderer.name)-planes.c", packages: renderer.packages, standard: "gnu99")
        let outcome = try Tool.run(program, [TestAssets.path(name), output] + renderer.arguments, environment: Self.software)
        #expect(outcome.code == 0, "\(outcome.errors)")
        let reference = try FilmReference.lines(TestAssets.path(name)), all = try Self.bytes(output)
        var start = 0, sums: [String] = []
        for line in reference where start + line.byteCount <= all.count {
            sums.append(Checksum.md5(Array(all[start..<start + line.byteCount])))
            start += line.byteCount
        }
        #expect(!sums.isEmpty && start == all.count && sums == reference.map(\.hash))
    }

    @Test(arguments: Renderer.all)
    func `the turning film has its colours`(_ renderer: Renderer) throws {
        let installation = try Installation.shared.get(), output = Self.scratch("quad.ppm")
        let program = try installation.build(
            TestAssets.root + "/Examples/\(renderer.name).c", packages: renderer.packages, standard: "gnu99", shader: renderer.name == "vulkan")
        let outcome = try Tool.run(program, [TestAssets.demo, "--frames", "1", "--save", output], environment: Self.software)
        #expect(outcome.code == 0 && outcome.output.hasPrefix("1 drawings of 1 frames"), "\(outcome.errors)")
        let file = try Self.bytes(output), header = Array("P6 640 360 255\n".utf8)
        try #require(file.starts(with: header) && file.count == header.count + 640 * 360 * 3)
        let drawing = RGBImage(bytes: Array(file[header.count...]), size: PixelSize(width: 640, height: 360), layout: .rgb24)
        // The first drawing is not turned yet: the film lies in the middle at 60 %.
        let film = PixelRect(x: 128, y: 72, width: 384, height: 216)
        #expect(ColorBars.worstError(in: drawing, part: film) <= 4)
        // The first frame where the machine is quick.
        #expect(FrameCode(drawing, in: film).map { $0.number < 300 } == true)
        #expect(drawing[20, 20] == RGBImage.Color(red: 0, green: 0, blue: 0))
    }

    @Test func `what subtitles say is printed, and a picture saved`() throws {
        let file = Self.scratch("text.srt"), film = Self.scratch("film.mkv"), picture = Self.scratch("picture.pam")
        defer { for path in [file, film] { try? FileManager.default.removeItem(atPath: path) } }
        try Data("1\n00:00:00,200 --> 00:00:00,600\n<i>One</i>\nmore\n\n2\n00:00:00,600 --> 00:00:00,800\nTwo\n".utf8)
            .write(to: URL(fileURLWithPath: file))
        try FFmpeg.run(["-i", TestAssets.path("plain.mp4"), "-i", file, "-map", "0:v", "-map", "1", "-c:v", "copy", "-c:s", "ass", film])
        let program = try Installation.shared.get().build(TestAssets.root + "/Examples/subtitles.c")
        let outcome = try Tool.run(program, [film, "1", picture])
        #expect(outcome.code == 0 && outcome.output == "0.200 to 0.600: One\nmore\n0.600 to 0.800: Two\n", "\(outcome.output) \(outcome.errors)")
        let saved = try Self.bytes(picture), head = try #require(saved.firstRange(of: Array("ENDHDR\n".utf8))?.upperBound)
        let size = String(decoding: saved[..<head], as: UTF8.self).split(separator: "\n").compactMap { Int($0.split(separator: " ").last ?? "") }
        #expect(size.count == 4 && saved.count == head + size[0] * size[1] * 4 && size[0] < 1280 && size[1] < 720, "\(size)")
        let white = stride(from: head, to: saved.count, by: 4).contains { saved[$0..<$0 + 4].allSatisfy { $0 > 250 } }
        #expect(white, "letters")
        #expect(try Tool.run(program, [TestAssets.path("plain.mp4")]).code == 65 && Tool.run(program, []).code == 64)
    }

    @Test(arguments: [0, 150]) func `SDL shows the frame`(_ number: Int) throws {
        let output = Self.scratch("sdl.ppm"), environment = ["SDL_VIDEODRIVER": "dummy"]
        let program = try Installation.shared.get().build(TestAssets.root + "/Examples/sdl.c", packages: ["sdl2"], standard: "gnu99")
        let outcome = try Tool.run(program, [TestAssets.demo, "--frame", "\(number)", "--save", output], environment: environment)
        try #require(outcome.code == 0, "\(outcome.errors)")
        let file = try Self.bytes(output), header = Array("P6 640 360 255\n".utf8)
        try #require(file.starts(with: header) && file.count == header.count + 640 * 360 * 3)
        let size = PixelSize(width: 640, height: 360)
        let drawing = RGBImage(bytes: Array(file[header.count...]), size: size, layout: .rgb24)
        #expect(ColorBars.worstError(in: drawing, part: PixelRect(size)) <= 6)
        #expect(FrameCode(drawing, in: PixelRect(size))?.number == number)
        #expect(try Tool.run(program, [TestAssets.path("hevc-10bit.mp4"), "--frame", "0", "--save", output], environment: environment).code == 65)
        #expect(try Tool.run(program, ["/nonexistent"], environment: environment).code == 66 && Tool.run(program, []).code == 64)
    }

    @Test func `GTK shows the film's frames`() throws {
        let program = try Installation.shared.get().build(TestAssets.root + "/Examples/gtk.c", packages: ["gtk4"], standard: "gnu11")
        let output = Self.scratch("gtk.png"), weston = try PrivateWeston(.pixman)
        defer { try? FileManager.default.removeItem(atPath: output) }
        let environment = [
            "WAYLAND_DISPLAY": weston.display, "GDK_BACKEND": "wayland", "GSK_RENDERER": "cairo", "XDG_RUNTIME_DIR": ProcessFolder.url.path,
            "GTK_A11Y": "none", "GSETTINGS_BACKEND": "memory",
        ]
        let outcome = try withExtendedLifetime(weston) {
            try Tool.run(program, [TestAssets.demo, "--frames", "20", "--save", output], environment: environment)
        }
        try #require(outcome.code == 0 && outcome.output == "20 frames, 0 of them imported\n", "\(outcome.errors)")
        let size = PixelSize(width: 640, height: 360)
        let drawing = RGBImage(bytes: try Self.pixels(["-i", output]), size: size, layout: .rgb24)
        #expect(ColorBars.worstError(in: drawing, part: PixelRect(size)) <= 4)
        #expect(FrameCode(drawing, in: PixelRect(size)).map { $0.number >= 19 && $0.number < 300 } == true)
        #expect(try Tool.run(program, [], environment: environment).code == 64)
    }

    @Test(arguments: [("demo.mp4", 30), ("hdr10.mp4", 24), ("odd-size-444.mp4", 30)])
    func `Python saves a frame of each second`(_ name: String, _ rate: Int) throws {
        let installation = try Installation.shared.get(), folder = Self.scratch("stills")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let outcome = try Tool.run(
            installation.python[0], installation.python.dropFirst() + [TestAssets.root + "/Examples/save_frames.py", TestAssets.path(name), folder],
            environment: ["SCANOUT_LIBRARY": installation.prefix + "/lib/libscanout.so.0"])
        #expect(outcome.code == 0, "\(outcome.errors)")
        let reference = try FilmReference.lines(TestAssets.path(name))
        let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.count == (reference.count + rate - 1) / rate)
        for (second, line) in lines.enumerated() {
            #expect(line[1] == "\(second).000" && line[2] == reference[second * rate].hash)
        }
        // What ffmpeg reads in the last file is what ffmpeg makes of that frame of the film.
        let last = lines.count - 1
        let saved = try Self.pixels(["-i", lines[last][0]]),
            expected = try Self.pixels(["-i", TestAssets.path(name), "-vf", "select=eq(n\\,\(last * rate))", "-frames:v", "1"])
        #expect(saved.count == expected.count)
        let error = zip(saved, expected).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(error <= 3 * saved.count, "a mean error of \(Double(error) / Double(saved.count))")
    }

    static func pixels(_ arguments: [String]) throws -> [UInt8] {
        let output = Self.scratch("pixels")
        let outcome = try Tool.run(
            "ffmpeg", ["-v", "error", "-sws_flags", "accurate_rnd+full_chroma_int"] + arguments + ["-f", "rawvideo", "-pix_fmt", "rgb24", output])
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try Self.bytes(output)
    }

    @Test func `the example in Swift reports each second of the film`() throws {
        let outcome = try Tool.run(BuiltPrograms.folder + "/brightness", [TestAssets.demo])
        let lines = outcome.output.split(separator: "\n")
        #expect(outcome.code == 0 && lines.count == 10)
        #expect(lines.allSatisfy { $0.hasSuffix("% over 30 frames") })
        #expect(try Tool.run(BuiltPrograms.folder + "/brightness", ["/nonexistent"]).code == 66)
    }

    @Test func `the program in the README does what it says`() throws {
        let readme = try String(contentsOfFile: TestAssets.root + "/README.md", encoding: .utf8)
        let block = try #require(readme.components(separatedBy: "```c\n").dropFirst().first?.components(separatedBy: "```").first)
        let installation = try Installation.shared.get(), source = Self.scratch("readme.c")
        try block.write(toFile: source, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: source) }
        let outcome = try Tool.run(try installation.build(source, name: "readme"), [TestAssets.path("plain.mp4")])
        let lines = outcome.output.split(separator: "\n")
        #expect(outcome.code == 0 && !lines.isEmpty && lines.allSatisfy { $0.hasPrefix("320x180 yuv420p in descriptor ") })
        // Everything else that it tells the reader to use is there.
        for word in readme.split(whereSeparator: { " `(\n".contains($0) }) where word.hasPrefix("Examples/") {
            #expect(FileManager.default.fileExists(atPath: TestAssets.root + "/" + word.prefix { $0 != ")" && $0 != "," }))
        }
    }
}
