import Foundation
import TestSupport
import Testing

/// What only displays, sound devices and conversions need is loaded when it is used, and may be missing until then.
@Suite(.enabled(if: Installation.isPossible, "a sanitized library serves only sanitized programs")) struct LateLibraryTests {
    /// As `scripts/install` names them. FFmpeg's own libraries need some of the others, such as libdrm.
    private static let late = ["asound", "pipewire-0.3", "seat", "drm", "udev", "xkbcommon", "zimg", "ass", "va", "va-drm", "wayland-client"]
    private static let ours = ["libpipewire-0.3.so", "libseat.so", "libxkbcommon.so", "libzimg.so", "libass.so", "libwayland-client.so"]

    #if arch(x86_64)
        @Test func `the library needs none of them to be loaded`() throws {
            let library = try Installation.shared.get().prefix + "/lib/libscanout.so.0"
            let dynamic = try Tool.run("readelf", ["--dynamic", "--wide", library]).output
            #expect(dynamic.contains("[libavcodec.so"))
            for name in Self.late { #expect(!dynamic.contains("[lib\(name).so"), "lib\(name)") }
        }

        @Test func `a program that takes frames loads none, one with a window what a window needs`() throws {
            let program = try Installation.shared.get().build(TestAssets.root + "/Tests/CInterface/late.c")
            let film = TestAssets.path("plain.mp4")
            let frames = try Tool.run(program, [film, "1"] + Self.ours)
            #expect(frames.code == 0 && frames.output == "ended\n", "\(frames.output) \(frames.errors)")
            let weston = try PrivateWeston()
            let window = try withExtendedLifetime(weston) {
                try Tool.run(program, [film, "2"] + Self.ours, environment: ["WAYLAND_DISPLAY": weston.display])
            }
            #expect(window.code == 0 && window.output.hasPrefix("ended\n"), "\(window.output) \(window.errors)")
            #expect(window.output.contains("libwayland-client.so") && window.output.contains("libxkbcommon.so"))
            #expect(
                !window.output.contains("libseat.so") && !window.output.contains("libass.so")
                    && !window.output.contains("libpipewire"))
        }

        @Test func `a window without its library is refused with a sentence, and frames come all the same`() throws {
            let program = try Installation.shared.get().build(TestAssets.root + "/Tests/CInterface/late.c")
            let folder = ProcessFolder.url.appendingPathComponent("missing")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // Found first, and not libraries.
            for name in ["libwayland-client.so.0", "libseat.so.1", "libzimg.so.2", "libass.so.9"] {
                try "nothing".write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
            }
            let film = TestAssets.path("plain.mp4"), environment = ["LD_LIBRARY_PATH": folder.path]
            let window = try Tool.run(program, [film, "2"], environment: environment)
            #expect(window.code == 66 && window.errors.contains("the library libwayland-client is not installed"), "\(window.errors)")
            let monitor = try Tool.run(program, [film, "3"], environment: environment)
            #expect(monitor.code == 66 && monitor.errors.contains("the library libseat is not installed"), "\(monitor.errors)")
            let frames = try Tool.run(program, [film, "1"], environment: environment)
            #expect(frames.code == 0 && frames.output == "ended\n", "\(frames.output) \(frames.errors)")
        }
    #endif
}
