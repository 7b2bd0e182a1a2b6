import Foundation
import TestSupport
import Testing

/// The software VA-API driver is only worth something if it does what hardware does: FFmpeg's own program, which knows nothing of it, must
/// get from it what its software decoders give.
@Suite("software VA-API driver", .enabled(if: !TestExtent.isSanitized, "ffmpeg cannot load a driver that was built with a sanitizer"))
struct DriverHonestyTests {
    @Test(
        "ffmpeg -hwaccel vaapi gives the software decoder's frames",
        arguments: ["plain.mp4", "annexb.h264", "size-change.h264", "vp9.webm", "demo.mp4"])
    func sameFrames(name: String) throws {
        let software = try Self.hashes(
            ["-i", TestAssets.path(name), "-map", "0:v:0", "-fps_mode", "passthrough", "-pix_fmt", "nv12"], environment: [:])
        let hardware = try Self.hashes(
            ["-hwaccel", "vaapi", "-hwaccel_device", SoftwareVADriver.device, "-hwaccel_output_format", "vaapi", "-i", TestAssets.path(name)]
                + ["-map", "0:v:0", "-fps_mode", "passthrough", "-vf", "hwdownload,format=nv12"],
            environment: SoftwareVADriver.environment(preloads: true).merging(["PLAYER_VA_CHECK": "1"]) { $1 })
        #expect(software.count > 5 && hardware == software)
    }

    @Test("a frame that is to fail fails in ffmpeg")
    func failure() throws {
        let arguments =
            ["-hwaccel", "vaapi", "-hwaccel_device", SoftwareVADriver.device, "-hwaccel_output_format", "vaapi", "-i"]
            + [TestAssets.path("plain.mp4"), "-map", "0:v:0", "-fps_mode", "passthrough", "-vf", "hwdownload,format=nv12"]
        let environment = SoftwareVADriver.environment(preloads: true)
        let whole = try Self.hashes(arguments, environment: environment)
        let damaged = try Self.hashes(arguments, environment: environment.merging(["PLAYER_VA_FAIL": "3-5"]) { $1 })
        #expect(whole.count > 5 && damaged != whole)
    }

    @Test("what ffmpeg encodes is the source: from a surface that it fills, and from the decoder's own, also with B-frames")
    func encoding() throws {
        let film = TestAssets.path("plain.mp4"), made = "\(SoftwareVADriver.folder)-made.mkv"
        defer { try? FileManager.default.removeItem(atPath: made) }
        let inputs = [
            ["-vaapi_device", SoftwareVADriver.device, "-i", film, "-vf", "format=nv12,hwupload"],
            ["-hwaccel", "vaapi", "-hwaccel_device", SoftwareVADriver.device, "-hwaccel_output_format", "vaapi", "-i", film],
        ]
        let source = try FFmpeg.frameSums(of: film)
        for input in inputs {
            for profile in [["constrained_baseline"], ["main", "-coder", "cavlc", "-bf", "2"]] {
                let environment = SoftwareVADriver.environment(preloads: true).merging(["PLAYER_VA_CHECK": "1", "PLAYER_VA_MAIN": "1"]) { $1 }
                let output = ["-an", "-c:v", "h264_vaapi", "-profile:v"] + profile + ["-y", made]
                _ = try Self.run(input + output, environment: environment)
                #expect(try source.count == 30 && FFmpeg.frameSums(of: made) == source)
            }
        }
    }

    /// The hash of every frame that ffmpeg puts out.
    private static func hashes(_ arguments: [String], environment: [String: String]) throws -> [String] {
        let text = try run(arguments + ["-f", "framemd5", "-"], environment: environment)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").last.map(String.init) }
    }

    /// What ffmpeg writes to standard output.
    private static func run(_ arguments: [String], environment: [String: String]) throws -> String {
        let process = ChildProcess(), output = Pipe()
        // No env(1) or shell between: the driver is preloaded into ffmpeg alone.
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":").map(String.init)
        let folder = try #require(folders.first { FileManager.default.isExecutableFile(atPath: "\($0)/ffmpeg") })
        process.executableURL = URL(fileURLWithPath: "\(folder)/ffmpeg")
        process.arguments = ["-nostdin", "-v", "quiet"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return text
    }
}
