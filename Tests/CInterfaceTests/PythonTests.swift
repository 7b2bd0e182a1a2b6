import FilmReference
import Foundation
import Media
import TestSupport
import Testing

/// The Python package, installed by pip as a reader of its README installs it, against the library that is installed.
@Suite(.enabled(if: Installation.isPossible, "a sanitized library serves only sanitized programs")) struct PythonTests {
    /// The folder that the package is installed in, made once.
    private static let package = Result {
        let folder = ProcessFolder.url.appendingPathComponent("python")
        // pip builds where the sources are.
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: TestAssets.root + "/bindings/python", toPath: folder.path + "/sources")
        let outcome = try Tool.run(
            "/usr/bin/python3",
            [
                "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target", folder.path + "/packages",
                folder.path + "/sources",
            ])
        guard outcome.code == 0 else { throw Installation.Failure(sentence: outcome.errors) }
        return folder.path
    }

    /// Runs Python with the package and the library.
    private static func python(_ arguments: [String]) throws -> Tool.Outcome {
        let installation = try Installation.shared.get(), folder = try package.get()
        let environment = [
            "SCANOUT_LIBRARY": installation.prefix + "/lib/libscanout.so.0", "PYTHONPATH": folder + "/packages",
            "SCANOUT_FILMS": TestAssets.root + "/assets",
            "SCANOUT_SCRATCH": folder, "SCANOUT_PYTHON": installation.python.joined(separator: "\n"),
        ]
        return try Tool.run(installation.python[0], installation.python.dropFirst() + arguments, environment: environment)
    }

    private static let program = TestAssets.root + "/bindings/python/tests/test_scanout.py"

    @Test func `the package keeps what it promises`() throws {
        let outcome = try Self.python([Self.program])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("\nRan 37 tests in ") && !outcome.errors.contains("skipped"))
        #expect(try FileManager.default.fileExists(atPath: Self.package.get() + "/packages/scanout/py.typed"))
    }

    @Test(arguments: ["plain.mp4", "hevc-10bit.mp4", "odd-size.webm", "odd-size-444.mp4", "crop.mp4", "size-change.h264", "edit-list.mp4"])
    func `frames in Python are those of the film`(_ name: String) throws {
        let outcome = try Self.python([Self.program, "sums", TestAssets.path(name)])
        #expect(try outcome.code == 0 && outcome.output.split(separator: "\n").map(String.init) == FilmReference.sums(TestAssets.path(name)))
    }

    @Test func `the example prints the mean luma of each frame`() throws {
        let example = TestAssets.root + "/Examples/Python/mean_luma.py", outcome = try Self.python([example, TestAssets.path("plain.mp4")])
        let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ").compactMap { Double($0) } }
        #expect(outcome.code == 0 && lines.count == 30 && lines.allSatisfy { $0.count == 2 }, "\(outcome.errors)")
        let brightness = try Self.luma(TestAssets.path("plain.mp4"))
        for (line, expected) in zip(lines, brightness) { #expect(abs(line[1] - expected) < 0.001) }
        #expect(try Self.python([example, "/nonexistent"]).code == 66 && Self.python([example]).code == 64)
    }

    /// What ffmpeg makes of the mean luma of each frame.
    static func luma(_ path: String) throws -> [Double] {
        let output = FileManager.default.temporaryDirectory.appendingPathComponent("luma-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: output) }
        _ = try Tool.run("ffmpeg", ["-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "gray", "-vf", "extractplanes=y", output.path])
        let bytes = try [UInt8](Data(contentsOf: output)), size = 320 * 180
        return stride(from: 0, to: bytes.count, by: size).map { start in
            Double(bytes[start..<start + size].reduce(0) { $0 + Int($1) }) / Double(size)
        }
    }
}
