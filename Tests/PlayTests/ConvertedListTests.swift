import Foundation
import TestSupport
import Testing

/// `play convert` with HLS lists that have subtitles and sound beside the frames: ten seconds in parts of two.
@Suite(.serialized) final class ConvertedListTests: Sendable {
    private let folder = NSTemporaryDirectory() + "list-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func write(_ name: String, _ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }

    private static func cues(_ language: String) -> [(time: String, text: String)] {
        let places = [(0, "500", 1, "500", "one"), (3, "000", 4, "800", "two"), (9, "000", 9, "900", "three\nand more")]
        return places.map { ("00:0\($0.0).\($0.1) --> 00:0\($0.2).\($0.3)", "\(language) \($0.4)") }
    }

    /// - Parameter isMapped: The subtitles have a clock of their own, by which the first frame is at 0. Otherwise they count from the beginning of
    ///   the film, and there is sound with a list of its own.
    private func makeList(isMapped: Bool) throws {
        let list = ["-f", "hls", "-hls_time", "2", "-hls_list_size", "0", "-hls_playlist_type", "vod"]
        try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=10", "-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "25"]
                + ["-sc_threshold", "0"] + list + ["\(folder)/v.m3u8"])
        var master = "#EXTM3U\n", head = "", own = "SUBTITLES=\"t\""
        if isMapped {
            let words = ["-v", "error", "-show_entries", "packet=pts", "-of", "csv=p=0", "-read_intervals", "%+#5", "\(folder)/v0.ts"]
            let times = try Tool.run("ffprobe", words).output.split(whereSeparator: { !$0.isNumber }).compactMap { Int64($0) }
            head = "X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:\(try #require(times.min()))\n"
        } else {
            try FFmpeg.run(["-f", "lavfi", "-i", "sine=d=10", "-c:a", "aac"] + list + ["\(folder)/a.m3u8"])
            master += "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"s\",NAME=\"de\",LANGUAGE=\"de\",DEFAULT=YES,URI=\"a.m3u8\"\n"
            own += ",AUDIO=\"s\""
        }
        for language in ["de", "en"] {
            master += "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"t\",NAME=\"\(language)\",LANGUAGE=\"\(language)\",URI=\"\(language).m3u8\"\n"
            try write("\(language).vtt", "WEBVTT\n\(head)\n" + Self.cues(language).map { "\($0.time)\n\($0.text)\n\n" }.joined())
            try write("\(language).m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n\(language).vtt\n#EXT-X-ENDLIST\n")
        }
        try write("film.m3u8", master + "#EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=64x64,\(own)\nv.m3u8\n")
    }

    private func convert(_ words: [String], sandbox: String = "off", to name: String) throws -> PlayProgram.Outcome {
        let server = LyingServer { [folder] in .file(in: folder, $0) }
        defer { server.stop() }
        let all = ["convert", server.address("film.m3u8"), "\(folder)/\(name)", "--sandbox", sandbox] + words
        return try PlayProgram.run(all, environment: ["http_proxy": ""])
    }

    @Test(arguments: [(true, "off"), (true, "full"), (false, "off"), (false, "full")], [["--copy"], ["--video", "ffv1"]])
    func `the file has the frames, the sound and the subtitles`(_ film: (isMapped: Bool, sandbox: String), _ words: [String]) throws {
        try makeList(isMapped: film.isMapped)
        let outcome = try convert(words, sandbox: film.sandbox, to: "film.mkv"), file = "\(folder)/film.mkv"
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        let sums = try FFmpeg.frameSums(of: file)
        #expect(try sums.count == 250 && sums == FFmpeg.frameSums(of: "\(folder)/v.m3u8"))
        for (index, language) in ["de", "en"].enumerated() {
            let text = String(decoding: try FFmpeg.run(["-i", file, "-map", "0:s:\(index)", "-c", "copy", "-f", "webvtt", "-"]), as: UTF8.self)
            #expect(text == "WEBVTT\n" + Self.cues(language).map { "\n\($0.time)\n\($0.text)\n" }.joined(), "\(text)")
        }
        let kinds = try Tool.run("ffprobe", ["-v", "error", "-show_entries", "stream=codec_type", "-of", "csv=p=0", file])
            .output.split(separator: "\n")
        #expect(kinds.sorted() == (film.isMapped ? [] : ["audio"]) + ["subtitle", "subtitle", "video"], "\(kinds)")
    }

    @Test func `what the file cannot hold is said`() throws {
        try makeList(isMapped: true)
        let outcome = try convert(["--copy"], to: "film.mp4")
        #expect(outcome.code == 0)
        #expect(outcome.errors.hasSuffix("/film.mp4: left out, as mp4 cannot hold it: track 1 (webvtt), 2 (webvtt).\n"), "\(outcome.errors)")
        #expect(try FFmpeg.frameSums(of: "\(folder)/film.mp4").count == 250)
    }
}
