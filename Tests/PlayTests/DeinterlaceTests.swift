import Foundation
import TestSupport
import Testing

/// Interlaced films, frame by frame against what FFmpeg's own program makes of them with the same filter.
@Suite(.serialized, .unsanitized) struct DeinterlaceTests {
    private static let filter = "bwdif=mode=send_field:deint="

    private static func checksums(_ text: String) -> [String] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0.split(separator: ",").last!.filter { $0 != " " }) }
    }

    private static func ffmpeg(_ arguments: [String]) throws -> String { String(decoding: try FFmpeg.run(arguments), as: UTF8.self) }

    /// A film of 25 interlaced frames, the upper or the lower fields first.
    private static func film(topFirst: Bool) throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/fields-\(UUID().uuidString.prefix(8)).ts"
        _ = try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=s=160x96:r=50:d=1", "-vf", topFirst ? "tinterlace=interleave_top" : "tinterlace=interleave_bottom"]
                + ["-c:v", "mpeg2video", "-b:v", "4M", "-flags", "+ilme+ildct", "-top", topFirst ? "1" : "0", path])
        return path
    }

    private static func reference(_ film: String, _ choice: String) throws -> [String] {
        try checksums(
            ffmpeg(["-threads", "1", "-i", film, "-map", "0:v:0", "-vf", filter + choice, "-fps_mode", "passthrough", "-f", "framemd5", "-"]))
    }

    @Test(arguments: [true, false], ["auto", "yes"]) func `each field becomes the frame that FFmpeg makes`(_ topFirst: Bool, _ mode: String) throws {
        let film = try Self.film(topFirst: topFirst)
        defer { try? FileManager.default.removeItem(atPath: film) }
        let outcome = try PlayProgram.run(["--sink", "md5=-", "--deinterlace", mode, film])
        let made = Self.checksums(outcome.output)
        #expect(outcome.code == 0 && made.count == 50, "\(outcome.errors)")
        #expect(made == (try Self.reference(film, mode == "yes" ? "all" : "interlaced")))
    }

    @Test func `checksums are those of the frames as they were decoded, unless told otherwise`() throws {
        let film = try Self.film(topFirst: true)
        defer { try? FileManager.default.removeItem(atPath: film) }
        let plain = Self.checksums(try PlayProgram.run(["--sink", "md5=-", film]).output)
        #expect(plain.count == 25)
        #expect(plain == Self.checksums(try PlayProgram.run(["--sink", "md5=-", "--deinterlace", "no", film]).output))
        let progressive = TestAssets.path("short.mp4")
        let all = Self.checksums(try PlayProgram.run(["--sink", "md5=-", progressive]).output)
        #expect(all == Self.checksums(try PlayProgram.run(["--sink", "md5=-", "--deinterlace", "auto", progressive]).output))
    }

    static let thirdParty = ["h264-misc/cros-codecs/test-25fps-interlaced.h264", "mpeg2/tsduck/test-025.ts", "mpeg2/hachoir/sample.ts"]

    @Test(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"), arguments: thirdParty)
    func `films of others`(_ name: String) throws {
        let film = try #require(MediaCatalog.shared).folder + "/" + name
        let outcome = try PlayProgram.run(["--sink", "md5=-", "--deinterlace", "auto", film])
        let made = Self.checksums(outcome.output), wanted = try Self.reference(film, "interlaced")
        #expect(made.count == wanted.count)
        #expect(zip(made, wanted).allSatisfy { $0 == $1 }, "\(name)")
    }
}
