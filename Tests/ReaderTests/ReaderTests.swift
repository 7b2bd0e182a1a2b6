import TestSupport
import Testing

/// Every reader of what strangers write, over wrong bytes: it refuses them, or takes them and keeps its promises.
///
/// `scripts/fuzz` does the same for as long as wanted, guided by which code each input reaches.
@Suite struct ReaderTests {
    @Test(arguments: FuzzedReader.all.map(\.name)) func `what is well formed is read`(name: String) throws {
        let reader = try #require(FuzzedReader.named(name))
        for (index, seed) in reader.seeds().enumerated() { #expect(reader.read(seed), "seed \(index)") }
    }

    @Test(arguments: FuzzedReader.all.map(\.name)) func `wrong bytes are refused, or read as what they say`(name: String) throws {
        let reader = try #require(FuzzedReader.named(name)), seeds = reader.seeds()
        var dice = Dice(seed: 0xf0_22ed), refused = 0
        for _ in 0..<TestExtent.rounds(1500, full: 100_000, sanitized: 300) {
            var bytes = try #require(seeds.randomElement(using: &dice))
            if Int.random(in: 0..<4, using: &dice) == 0 { Self.join(&bytes, try #require(seeds.randomElement(using: &dice)), &dice) }
            Mutation.apply(to: &bytes, head: 16, places: 1...6, &dice)
            if !reader.read(bytes) { refused += 1 }
        }
        // These take every text.
        if !["subtitles"].contains(name) { #expect(refused > 0) }
    }

    /// The beginning of one input before the end of another.
    private static func join(_ bytes: inout [UInt8], _ other: [UInt8], _ dice: inout Dice) {
        bytes.removeLast(Int.random(in: 0...bytes.count, using: &dice))
        bytes += other.suffix(Int.random(in: 0...other.count, using: &dice))
    }
}
