import Foundation
import TestSupport
import Testing

/// A program that takes frames for a day: 1,000,000 with --full, each way that frames and sound leave the library by.
@Suite(.enabled(if: Installation.isPossible, "a sanitized library serves only sanitized programs")) struct EnduranceTests {
    /// Small, with a sync frame each second and silence, so that decoding costs little.
    private static let film = Result {
        let path = ProcessFolder.path("small.mkv")
        let outcome = try Tool.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=30:duration=100", "-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono",
                "-shortest", "-c:v", "libx264", "-preset", "ultrafast", "-g", "30", "-pix_fmt", "yuv420p", "-c:a", "pcm_s16le", path,
            ])
        guard outcome.code == 0 else { throw Installation.Failure(sentence: outcome.errors) }
        return path
    }

    @Test(arguments: ["pull", "push", "socket", "sound", "functions"])
    func `frames and sound of a day leave descriptors and memory as they were`(_ way: String) throws {
        let program = try Installation.shared.get().build(TestAssets.root + "/Tests/CInterface/endurance.c")
        let count = TestExtent.rounds(20_000, full: 1_000_000)
        // A million frames take minutes even where nothing else runs.
        let outcome = try Tool.run(program, [way, Self.film.get(), "\(count)"], limit: TestExtent.rounds(900, full: 3600))
        #expect(outcome.code == 0, "\(outcome.errors)")
        let readings = outcome.output.matches(of: /(\d+) descriptors, (\d+) KiB/).map { (Int($0.1) ?? 0, Int($0.2) ?? 0) }
        try #require(readings.count == 2 && readings[0].0 > 3 && readings[0].1 > 1000)
        // Threads and the allocator's arenas come and go.
        #expect(readings[1].0 <= readings[0].0 + 4, "\(outcome.output)")
        #expect(readings[1].1 <= readings[0].1 + 4096, "\(outcome.output)")
    }
}
