import SampleQueue
import TestSupport
import Testing

@testable import Demuxing

/// Buffers are read into again, but never while anyone holds them.
@Suite struct BlockBufferReuseTests {
    private func block(_ sample: SampleBuffer) throws -> BlockBuffer {
        guard case .compressed(let block, _) = sample.content else { throw AssetError(.damaged, "not a compressed sample") }
        return block
    }

    private func checksum(_ block: BlockBuffer) -> UInt64 {
        unsafe block.withUnsafeBytes { bytes in unsafe bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 } }
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `what is held stays as it was read`(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let reader = try AssetReader(url: TestAssets.demo)
        var held: [(block: BlockBuffer, checksum: UInt64)] = []
        while let sample = try reader.nextSample() {
            let block = try block(sample)
            held.append((block, checksum(block)))
            // Any number is held, let go in any order.
            while !held.isEmpty, Int.random(in: 0..<100, using: &dice) < 45 {
                let index = Int.random(in: 0..<held.count, using: &dice)
                #expect(checksum(held[index].block) == held[index].checksum)
                held.remove(at: index)
            }
        }
        for (block, sum) in held { #expect(checksum(block) == sum) }
    }

    @Test func `a reader whose samples are used up at once needs few buffers`() throws {
        let reader = try AssetReader(url: TestAssets.demo)
        var seen: Set<ObjectIdentifier> = [], count = 0
        while let sample = try reader.nextSample() {
            seen.insert(ObjectIdentifier(try block(sample)))
            count += 1
        }
        // Opening keeps a few of its own.
        #expect(count > 700 && seen.count < 40, "\(seen.count) buffers for \(count) samples")
    }
}
