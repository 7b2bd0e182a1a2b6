import TestSupport
import Testing

/// Playing where there is no display.
@Suite struct NoDisplayTests {
    private static func play(_ arguments: [String]) throws -> PlayProgram.Outcome {
        try PlayProgram.run(
            ["--audio-device", "null", "--duration", "0.3"] + arguments,
            environment: ["WAYLAND_DISPLAY": "/nowhere/wayland-0", "XDG_RUNTIME_DIR": "/nowhere"])
    }

    @Test(arguments: ["audio-only.flac", "audio-only.m4a", "cover.m4a"]) func `sound needs none`(_ name: String) throws {
        let outcome = try Self.play([TestAssets.path(name)])
        #expect(outcome.code == 0, "\(outcome.errors)")
    }

    @Test func `a film whose frames are not wanted needs none`() throws {
        for arguments in [["--no-video"], ["--vid", "no"]] {
            let outcome = try Self.play(arguments + [TestAssets.demo])
            #expect(outcome.code == 0, "\(outcome.errors)")
        }
    }

    @Test func `a film is refused with a way out, and so is sound that is to be shown in a window`() throws {
        for arguments in [["--sink", "auto", TestAssets.demo], ["--sink", "wayland", TestAssets.path("audio-only.flac")]] {
            let outcome = try Self.play(arguments)
            #expect(outcome.code == 69 && outcome.errors.contains("To play without showing, use --sink headless."), "\(outcome.errors)")
        }
    }
}
