import DisplaySink
import Foundation
import Media
import Player
import Sandbox
import TestSupport
import Testing

/// Subtitles that an HLS film has in files of their own.
@Suite struct FetchedSubtitlesTests {
    /// A film of ten seconds with subtitles in two languages, which say something all the time.
    private static func make(_ folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=10", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-f", "hls", "-hls_time", "2",
            "-hls_list_size", "0", "-hls_playlist_type", "vod", folder + "/v.m3u8",
        ])
        var master = "#EXTM3U\n"
        for (language, words) in [("de", "Guten Tag"), ("en", "Hello, and welcome")] {
            try "WEBVTT\n\n00:00.000 --> 00:10.000\n\(words)\n".write(toFile: "\(folder)/\(language).vtt", atomically: true, encoding: .utf8)
            try "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n\(language).vtt\n#EXT-X-ENDLIST\n"
                .write(toFile: "\(folder)/\(language).m3u8", atomically: true, encoding: .utf8)
            master += #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="t",LANGUAGE="\#(language)",NAME="\#(language)",URI="\#(language).m3u8""# + "\n"
        }
        try (master + "#EXT-X-STREAM-INF:BANDWIDTH=1000000,SUBTITLES=\"t\"\nv.m3u8\n")
            .write(toFile: folder + "/film.m3u8", atomically: true, encoding: .utf8)
    }

    @Test(arguments: [false, true]) func `only those that are shown are fetched, and others from where the viewer is`(_ isSandboxed: Bool) throws {
        let folder = ProcessFolder.path("fetched-\(isSandboxed)")
        try Self.make(folder)
        let server = LyingServer { request in
            guard let bytes = try? [UInt8](Data(contentsOf: URL(fileURLWithPath: folder + "/" + request.path))) else {
                return LyingServer.Answer(status: "404 Not Found")
            }
            return .file(bytes, request)
        }
        defer { server.stop() }
        func isFetched(_ name: String) -> Bool { server.requests.contains { $0.path == name } }
        var configuration = PlayerConfiguration()
        (configuration.playsAudio, configuration.startsPaused) = (false, true)
        configuration.tracks.subtitleLanguages = ["en"]
        if isSandboxed { configuration.sandbox = SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder) }
        let player = Player(sink: ExactSink(drawsOverlays: true), configuration: configuration) { _ in }
        defer { player.close() }
        try player.open(server.address("film.m3u8"))
        let canvas = OverlayCanvas(size: PixelSize(width: 160, height: 90), film: PixelRect(x: 0, y: 0, width: 160, height: 90))
        func width(at seconds: Int64) -> Int? {
            let limit = MonotonicClock.shared.now() + .seconds(10)
            return player.subtitleImage(at: MediaTime(value: seconds, timescale: 1), on: canvas, until: limit)?.place.width
        }
        #expect(player.subtitleCount == 2 && player.subtitleNumber == 2)
        #expect(Polling.until(every: .milliseconds(20)) { width(at: 5) != nil })
        let long = try #require(width(at: 5))
        #expect(isFetched("en.vtt") && !isFetched("de.vtt") && !isFetched("de.m3u8"))
        player.subtitleNumber = 1
        #expect(Polling.until(every: .milliseconds(20)) { width(at: 5).map { $0 < long } ?? false }, "the shorter line")
        #expect(isFetched("de.vtt"))
        player.subtitleNumber = nil
        #expect(width(at: 5) == nil)
        player.subtitleNumber = 2
        #expect(Polling.until(every: .milliseconds(20)) { width(at: 5) == long })
    }
}
