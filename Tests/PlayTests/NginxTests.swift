import Foundation
import Media
import TestSupport
import Testing

/// Honest films on a web server as there are millions of.
@Suite(.serialized, .enabled(if: NginxServer.program != nil, "no nginx")) final class NginxTests: Sendable {
    private let server: NginxServer

    init() throws { server = try NginxServer() }

    deinit { server.stop() }

    private func play(_ words: [String]) throws -> PlayProgram.Outcome {
        try PlayProgram.run(["--sink", "md5=-", "--no-audio"] + words, environment: ["http_proxy": ""])
    }

    private func hashes(_ words: [String]) throws -> [String] {
        let outcome = try play(words)
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(words) \(outcome.code): \(outcome.errors)")
        return FrameMD5File(outcome.output)?.lines.map(\.hash) ?? []
    }

    @Test(arguments: ["off", "full"]) func `films are those of their files`(_ sandbox: String) throws {
        for name in ["demo.mp4", "av1.mkv", "vp9.webm"] {
            try FileManager.default.copyItem(atPath: TestAssets.path(name), toPath: "\(server.folder)/\(name)")
            let local = try hashes([TestAssets.path(name)])
            #expect(try !local.isEmpty && hashes(["--sandbox", sandbox, server.address(name)]) == local, "\(name)")
            let part = ["--start", "0.5", "--duration", "0.3"]
            #expect(try hashes(part + ["--sandbox", sandbox, server.address(name)]) == hashes(part + [TestAssets.path(name)]), "\(name)")
        }
        #expect(server.requests.allSatisfy { [200, 206].contains($0.status) } && server.requests.contains { $0.status == 206 })
        let missing = try play(["--sandbox", sandbox, server.address("nothing.mp4")])
        #expect(missing.code == 66 && missing.errors.hasSuffix(": the server has no such file (404).\n"), "\(missing.errors)")
    }

    /// Ten seconds in parts of two: a small variant and a large one, and the large one as DASH. Returns the names of their films.
    private func makeParts() throws -> (small: String, large: String) {
        let films = (small: "\(server.folder)/small.mkv", large: "\(server.folder)/large.mkv")
        for (film, size) in [(films.small, "64x64"), (films.large, "128x128")] {
            try FFmpeg.run(
                ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=25:d=10", "-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "25"]
                    + ["-sc_threshold", "0", film])
        }
        let list = ["-c", "copy", "-f", "hls", "-hls_time", "2", "-hls_list_size", "0", "-hls_playlist_type", "vod"]
        try FFmpeg.run(["-i", films.small] + list + ["\(server.folder)/small.m3u8"])
        try FFmpeg.run(["-i", films.large] + list + ["-hls_segment_type", "fmp4", "\(server.folder)/large.m3u8"])
        try FFmpeg.run(["-i", films.large, "-c", "copy", "-f", "dash", "-seg_duration", "2", "\(server.folder)/film.mpd"])
        let master = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=200000,RESOLUTION=64x64
            small.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=128x128
            large.m3u8

            """
        try master.write(toFile: "\(server.folder)/film.m3u8", atomically: true, encoding: .utf8)
        return films
    }

    @Test(arguments: ["off", "full"]) func `lists and manifests are those of their films`(_ sandbox: String) throws {
        let films = try makeParts(), small = try hashes([films.small]), large = try hashes([films.large])
        #expect(small.count == 250 && large.count == 250)
        let options = ["--sandbox", sandbox]
        #expect(try hashes(options + ["--hls-bitrate", "min", server.address("film.m3u8")]) == small)
        #expect(try hashes(options + ["--hls-bitrate", "max", server.address("film.m3u8")]) == large)
        #expect(try hashes(options + [server.address("film.mpd")]) == large)
        #expect(try hashes(options + [server.address("film.m3u8")]) == large)
        #expect(server.requests.allSatisfy { [200, 206].contains($0.status) })
    }

    @Test(arguments: ["off", "full"]) func `a connection serves one part after the other`(_ sandbox: String) throws {
        _ = try makeParts()
        for words in [["--hls-bitrate", "min", server.address("film.m3u8")], [server.address("film.m3u8")], [server.address("film.mpd")]] {
            let before = server.requests.count
            #expect(try hashes(["--sandbox", sandbox] + words).count == 250)
            let requests = server.requests.dropFirst(before), connections = Set(requests.map(\.connection))
            // What measures the network is broken off, and its connection with it.
            #expect(requests.count >= 6 && connections.count <= 3, "\(words): \(requests)")
        }
    }

    /// `scripts/test --full` plays it in a minute, with an outage of half of one.
    @Test func `an outage that is shorter than the cache is not seen`() throws {
        let film = "\(server.folder)/minute.mkv", speed = TestExtent.isFull ? 1.0 : 5
        try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=60", "-c:v", "mpeg4", "-b:v", "800k", "-minrate", "800k", "-maxrate", "800k"]
                + ["-bufsize", "200k", film])
        let size = try #require(try FileManager.default.attributesOfItem(atPath: film)[.size] as? Int)
        let path = ProcessFolder.path("remote.sock")
        let ended = PlayProgram.begin(
            // Forty seconds ahead.
            ["--sink", "headless", "--speed", "\(speed)", "--demuxer-max-bytes", "\(size * 2 / 3)", "--demuxer-max-back-bytes", "0", "--stats", "-"]
                + ["--input-ipc-server", path, server.address("minute.mkv")], environment: ["http_proxy": ""], limit: 300)
        let remote = try Remote(path)
        func time() -> Double { remote.get("time-pos") as? Double ?? 0 }
        #expect(Polling.until(every: .milliseconds(20)) { time() > 2 && remote.get("cache-buffering-state") as? Int == 100 })
        let begun = time()
        server.fallSilent()
        #expect(Polling.until(every: .milliseconds(20)) { time() >= begun + 30 }, "it stands at \(time())")
        server.goOn()
        let outcome = try ended()
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
        let films = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        let figures = try #require(films.first)
        // What is late is the machine's doing: playback never waited for a sample.
        let late = (figures["framesDropped"] as? [String: Int])?["late"] ?? 0
        #expect((figures["framesPresented"] as? Int ?? 0) + late == 1500, "\(figures)")
        #expect(figures["stalls"] as? Int == 0 && figures["stalledSeconds"] as? Double == 0, "\(figures)")
    }
}
