import Demuxing
import Foundation
import Glibc
import Media
import TestSupport
import Testing

/// A film of ten hours, made of a short one by FFmpeg without encoding it anew; a shorter one in a usual run.
@Suite(.serialized, .enabled(if: unsafe access("/usr/bin/ffmpeg", X_OK) == 0, "no ffmpeg")) struct LongFilmTests {
    /// Seconds.
    private static let length = TestExtent.rounds(3600, full: 36_000, sanitized: 300)

    private static var residentBytes: Int {
        let line = (TextFile.contents(of: "/proc/self/status") ?? "").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1024
    }

    @Test(arguments: ["mp4", "mkv"])
    func `its table takes less than 200 bytes a sample, and finds each`(ending: String) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("long-\(UUID().uuidString).\(ending)").path
        defer { unsafe unlink(path) }
        let words = "-nostdin -v quiet -stream_loop -1 -i '\(TestAssets.path("plain.mp4"))' -t \(Self.length) -map 0:v -c copy '\(path)'"
        try #require(unsafe system("/usr/bin/ffmpeg \(words)") == 0)
        ExitTestWords.give(path)
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let before = LongFilmTests.residentBytes
            let table = try #require(try SampleTable.read(AssetReader(url: ExitTestWords.given[0])).first)
            let grown = LongFilmTests.residentBytes - before, count = table.count
            #expect(count >= LongFilmTests.length * 30 - 60, "\(count)")
            #expect(table.byteCount < 200 * count)
            // The reader's own index is gone with it, but not every page.
            #expect(TestExtent.isSanitized || count < 500_000 || grown < 300 * count, "\(grown) bytes for \(count) samples")
            var dice = Dice(seed: 3)
            let numbers = (0..<10_000).map { _ in Int.random(in: 0..<count, using: &dice) }, times = numbers.map { table[$0].presentationTime }
            let began = MonotonicClock.shared.now()
            let found = times.map { table.cursor(at: $0)?.number ?? -1 }
            let spent = MonotonicClock.shared.now().nanoseconds - began.nanoseconds
            #expect(zip(found, numbers).allSatisfy { $0 == $1 })
            print("\(count) samples: \(table.byteCount / count) bytes each, \(grown / count) resident; placing takes \(spent / 10_000) ns")
        }
        if TestExtent.isFull, let result { print(ending, String(decoding: result.standardOutputContent, as: UTF8.self)) }
    }
}
