import FilmReference
import Foundation
import Media
import TestSupport
import Testing

/// The crates in `bindings/rust`, built by the system's cargo against the library that is installed.
@Suite(.enabled(if: Installation.isPossible, "a sanitized library serves only sanitized programs")) struct RustTests {
    private static let manifest = TestAssets.root + "/bindings/rust/Cargo.toml"

    /// Runs the system's cargo, which fetches nothing. What it builds lies beside the library.
    private static func cargo(_ arguments: [String]) throws -> Tool.Outcome {
        let installation = try Installation.shared.get(), library = installation.prefix + "/lib"
        var environment = [
            "RUSTC": "/usr/bin/rustc", "RUSTDOC": "/usr/bin/rustdoc", "CARGO_TARGET_DIR": ProcessFolder.url.path + "/rust",
            "CARGO_HOME": ProcessFolder.url.path + "/cargo", "SCANOUT_LIB_DIR": library, "LD_LIBRARY_PATH": library,
            "SCANOUT_FILMS": TestAssets.root + "/assets", "RUSTFLAGS": "-D warnings",
        ]
        // Programs run with the C library that the tests run with, which a toolchain may bring along; then they are linked without a look at it.
        if installation.python.count > 1 {
            environment["CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"] = installation.python.dropLast().joined(separator: " ")
            environment["RUSTFLAGS"]? += " -C link-arg=-Wl,--allow-shlib-undefined"
        }
        let common = ["--quiet", "--offline", "--locked", "--manifest-path", manifest]
        return try Tool.run("/usr/bin/cargo", [arguments[0]] + common + arguments.dropFirst(), environment: environment)
    }

    @Test func `the crates keep what they promise`() throws {
        let outcome = try Self.cargo(["test"])
        #expect(outcome.code == 0, "\(outcome.output) \(outcome.errors)")
        let passed = outcome.output.matches(of: /test result: ok. (\d+) passed; 0 failed; 0 ignored/).compactMap { Int($0.1) }
        #expect(passed.reduce(0, +) == 37, "\(outcome.output)")
    }

    @Test(arguments: ["plain.mp4", "hevc-10bit.mp4", "odd-size.webm", "odd-size-444.mp4", "crop.mp4", "size-change.h264", "edit-list.mp4"])
    func `frames in Rust are those of the film`(_ name: String) throws {
        let output = FileManager.default.temporaryDirectory.appendingPathComponent("rust-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: output) }
        let outcome = try Self.cargo(["run", "--example", "raw_frames", TestAssets.path(name), output.path])
        #expect(outcome.code == 0, "\(outcome.errors)")
        let bytes = try [UInt8](Data(contentsOf: output)), reference = try FilmReference.lines(TestAssets.path(name))
        var start = 0, sums: [String] = []
        for line in reference where start + line.byteCount <= bytes.count {
            sums.append(Checksum.md5(Array(bytes[start..<start + line.byteCount])))
            start += line.byteCount
        }
        #expect(!sums.isEmpty && start == bytes.count && sums == reference.map(\.hash))
    }

    @Test func `the example prints the mean luma of each frame`() throws {
        let rust = try Self.cargo(["run", "--example", "mean_luma", TestAssets.path("plain.mp4")])
        let lines = rust.output.split(separator: "\n").map { $0.split(separator: " ").compactMap { Double($0) } }
        #expect(rust.code == 0 && lines.count == 30 && lines.allSatisfy { $0.count == 2 }, "\(rust.errors)")
        for (line, expected) in zip(lines, try PythonTests.luma(TestAssets.path("plain.mp4"))) {
            #expect(abs(line[1] - expected) < 0.001)
        }
        #expect(try Self.cargo(["run", "--example", "mean_luma", "/nonexistent"]).code == 66)
        #expect(try Self.cargo(["run", "--example", "mean_luma"]).code == 64)
    }
}
