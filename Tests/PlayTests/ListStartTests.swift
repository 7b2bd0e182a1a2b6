import Foundation
import Media
import TestSupport
import Testing

/// HLS lists that ask players to begin elsewhere than at their beginning (`EXT-X-START`): those of FFmpeg, edited by hand.
@Suite(.serialized) final class ListStartTests {
    private static let folder = NSTemporaryDirectory() + "starts-\(UUID().uuidString.prefix(8))"
    private static var path: String { folder + "/list.m3u8" }

    init() throws { try FileManager.default.createDirectory(atPath: Self.folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: Self.folder) }

    /// Six seconds of 150 frames in six parts.
    /// - Parameter hasSound: with sound, and in another container: an encoder's priming begins before the first frame.
    private static func make(hasSound: Bool = false) throws -> String {
        let frames = ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=6"]
        let kind = hasSound ? ["-c:v", "libx264", "-c:a", "aac", "-hls_segment_type", "fmp4"] : ["-c:v", "mpeg2video"]
        let sound = hasSound ? ["-f", "lavfi", "-i", "sine=r=48000:d=6"] : []
        let list = ["-g", "25", "-bf", "0", "-f", "hls", "-hls_time", "1", "-hls_list_size", "0"]
        let parts = ["-hls_segment_filename", folder + (hasSound ? "/part%d.m4s" : "/part%d.ts"), path]
        let words: [[String]] = [frames, sound, kind, list, parts]
        try FFmpeg.run(Array(words.joined()))
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    /// The list with this tag.
    private static func asking(_ attributes: String, _ list: String) -> String {
        list.replacing("#EXTM3U\n", with: "#EXTM3U\n#EXT-X-START:\(attributes)\n")
    }

    /// A list of two variants, which are the same.
    private static func variants(_ attributes: String) -> String {
        asking(attributes, "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=200000\nlist.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=300000\nlist.m3u8\n")
    }

    private static func server(_ lists: @escaping @Sendable (LyingServer.Request) -> String?) -> LyingServer {
        LyingServer { request in
            let file = lists(request).map { Data($0.utf8) } ?? (try? Data(contentsOf: URL(fileURLWithPath: folder + "/" + request.path)))
            guard let file else { return LyingServer.Answer(status: "404 Not Found", headers: ["Content-Length: 0"]) }
            return .file([UInt8](file), request)
        }
    }

    private static func frames(_ arguments: [String]) throws -> [String] {
        let outcome = try PlayProgram.run(["--sink", "md5=-", "--no-audio"] + arguments, environment: ["http_proxy": ""])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        return FrameMD5File(outcome.output)?.lines.map(\.hash) ?? []
    }

    @Test(arguments: ["off", "full"]) func `a film begins where its list asks for it, and a viewer's wish comes before that`(sandbox: String) throws {
        let list = try Self.make(), usual = ["--sandbox", sandbox]
        let whole = try Self.frames(usual + [Self.path])
        try #require(whole.count == 150 && Set(whole).count == 150)
        for (attributes, options, shown) in [
            ("TIME-OFFSET=2.52,PRECISE=YES", [], 63..<150), ("TIME-OFFSET=2.52", [], 50..<150), ("TIME-OFFSET=-0.8,PRECISE=YES", [], 130..<150),
            ("TIME-OFFSET=-0.8,PRECISE=NO", [], 125..<150), ("TIME-OFFSET=nan,PRECISE=YES", [], 0..<150),
            ("TIME-OFFSET=2.52,PRECISE=YES", ["--duration", "1"], 63..<88), ("TIME-OFFSET=2.52,PRECISE=YES", ["--start", "0"], 0..<150),
            ("TIME-OFFSET=2.52,PRECISE=YES", ["--start", "4"], 100..<150),
        ] as [(String, [String], Range<Int>)] {
            try Self.asking(attributes, list).write(toFile: Self.path, atomically: true, encoding: .utf8)
            #expect(try Self.frames(usual + options + [Self.path]) == Array(whole[shown]), "\(attributes) \(options)")
        }
    }

    @Test(arguments: ["off", "full"]) func `what a list of variants asks for comes before what theirs do`(sandbox: String) throws {
        let list = try Self.make(), usual = ["--sandbox", sandbox], whole = try Self.frames(usual + [Self.path])
        let variants = Self.variants("TIME-OFFSET=-2,PRECISE=YES"), film = Self.folder + "/film.m3u8"
        try variants.write(toFile: film, atomically: true, encoding: .utf8)
        try Self.asking("TIME-OFFSET=1.2", list).write(toFile: Self.path, atomically: true, encoding: .utf8)
        let server = Self.server { _ in nil }
        defer { server.stop() }
        for place in [film, server.address("film.m3u8")] { #expect(try Self.frames(usual + [place]) == Array(whole[100...]), "\(place)") }
        try variants.replacing("#EXT-X-START:", with: "#EXT-X-NOTHING:").write(toFile: film, atomically: true, encoding: .utf8)
        for place in [film, server.address("film.m3u8")] { #expect(try Self.frames(usual + [place]) == Array(whole[25...]), "\(place)") }
    }

    @Test(arguments: ["off", "full"]) func `lists count from the first frame, though sound begins before it`(sandbox: String) throws {
        let list = try Self.make(hasSound: true), usual = ["--sandbox", sandbox], whole = try Self.frames(usual + [Self.path])
        try Self.asking("TIME-OFFSET=2.53,PRECISE=YES", list).write(toFile: Self.path, atomically: true, encoding: .utf8)
        try Self.variants("TIME-OFFSET=3.9").write(toFile: Self.folder + "/film.m3u8", atomically: true, encoding: .utf8)
        let server = Self.server { _ in nil }
        defer { server.stop() }
        #expect(try Self.frames(usual + [Self.path]) == Array(whole[63...]))
        #expect(try Self.frames(usual + [server.address("film.m3u8")]) == Array(whole[75...]))
    }

    @Test(arguments: [("list.m3u8", "full"), ("film.m3u8", "off")])
    func `a film that grows begins with the part that its list asks for`(name: String, sandbox: String) throws {
        let list = try Self.make(), whole = try Self.frames([Self.path])
        // The first time the last part is not there yet.
        let short = list.components(separatedBy: "#EXTINF").dropLast().joined(separator: "#EXTINF"), wish = "TIME-OFFSET=-4"
        let requests = Counter()
        let server = Self.server { request in
            if request.path == "film.m3u8" { return Self.variants(wish) }
            guard request.path == "list.m3u8" else { return nil }
            let text = requests.next() == 0 ? short : list
            return name == "list.m3u8" ? Self.asking(wish, text) : text
        }
        defer { server.stop() }
        #expect(try Self.frames(["--sandbox", sandbox, server.address(name)]) == Array(whole[25...]))
    }

    private final class Counter: Sendable {
        private let count = Monitor(0)
        func next() -> Int {
            count.withLock { count in
                defer { count += 1 }
                return count
            }
        }
    }
}
