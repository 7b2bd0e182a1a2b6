import Foundation
import Media
import TestSupport
import Testing

/// A film over connections that break again and again, of which the cache holds a fifth: usually ten seconds with ten breaks, with `--full` a minute
/// with a hundred, and ten seconds of it in the cache.
@Suite(.serialized) struct CutFilmTests {
    private static let cuts = TestExtent.rounds(10, full: 100)
    private static let frames = TestExtent.rounds(300, full: 1500)

    /// The project's own film; with `--full` a minute of about 15 MB.
    private static func withFilm(_ body: (String) throws -> Void) throws {
        guard TestExtent.isFull else { return try body(TestAssets.demo) }
        let path = FileManager.default.temporaryDirectory.path + "/minute-\(UUID().uuidString.prefix(8)).mkv"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let source = ["-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=60", "-f", "lavfi", "-i", "sine=r=48000:d=60"]
        try FFmpeg.run(source + ["-c:v", "libx264", "-preset", "ultrafast", "-g", "50", "-b:v", "2M", "-c:a", "aac", path])
        try body(path)
    }

    /// Random places, each at least 16 KiB from the next: a new connection begins up to 4 KiB before the break.
    private static func places(in count: Int, _ dice: inout Dice) -> [Int] {
        var places: [Int] = []
        while places.count < cuts {
            let place = Int.random(in: 16_384..<count, using: &dice)
            if places.allSatisfy({ abs($0 - place) >= 16_384 }) { places.append(place) }
        }
        return places.sorted()
    }

    @Test(arguments: ["off", "full"]) func `every frame is shown as it is in the file`(sandbox: String) throws {
        try Self.withFilm { path in
            let film = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
            var dice = Dice(seed: sandbox == "off" ? 13 : 14)
            let left = Monitor(Self.places(in: film.count, &dice)), made = Monitor(0)
            let server = LyingServer { request in
                let start = request.rangeStart ?? 0
                let place = left.withLock { left in left.firstIndex { $0 > start + 4096 }.map { left.remove(at: $0) } }
                guard let place else { return .file(film, request) }
                return .file(film, request).cut(
                    after: place - start,
                    made.withLock { made in
                        made += 1; return made % 2 == 0 ? .close : .reset
                    })
            }
            defer { server.stop() }
            let words = ["--sink", "md5=-", "--no-audio"]
            let cache = ["--demuxer-max-bytes", "\(max(film.count / 6, 65_536))", "--demuxer-max-back-bytes", "0"]
            let local = try PlayProgram.run(words + [path], limit: 300)
            let outcome = try PlayProgram.run(
                words + cache + ["--sandbox", sandbox, server.address("film")], environment: ["http_proxy": ""], limit: 300)
            #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.code): \(outcome.errors)")
            #expect(FrameMD5File(outcome.output)?.lines.count == Self.frames && outcome.output == local.output)
            #expect(left.withLock { $0.count } == 0 && server.requests.count > Self.cuts, "\(server.requests.count) requests")
        }
    }
}
