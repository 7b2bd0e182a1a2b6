import TestSupport
import Testing

@testable import Demuxing

/// What the cache of a film from the network keeps, forgets and wants next.
@Suite struct ByteCacheTests {
    private static let block = Int64(ByteCache.blockSize)

    /// The film's byte at `offset`.
    private static func byte(_ offset: Int64) -> UInt8 { UInt8(truncatingIfNeeded: offset &* 31 ^ offset >> 13) }

    private static func insert(_ cache: inout ByteCache, _ range: Range<Int64>) {
        let bytes = range.map(byte)
        unsafe bytes.withUnsafeBytes { unsafe cache.insert($0, at: range.lowerBound) }
    }

    /// What a reader of `count` bytes gets at `offset`.
    private static func read(_ cache: ByteCache, _ offset: Int64, _ count: Int = 1) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: count)
        let got = unsafe target.withUnsafeMutableBytes { unsafe cache.copy(to: $0, from: offset) }
        return Array(target.prefix(got))
    }

    @Test func `what lies ahead is fetched in order up to the limit, and on when an eighth of it was read`() {
        var cache = ByteCache(ByteCache.Limits(ahead: 8 * Self.block, behind: 0))
        for number in 0..<8 {
            #expect(cache.step(end: nil) == .fetch(at: Int64(number) * Self.block))
            Self.insert(&cache, Int64(number) * Self.block..<Int64(number + 1) * Self.block)
        }
        #expect(cache.step(end: nil) == .rest && cache.ahead == 8 * Self.block)
        cache.move(to: Self.block - 1)
        #expect(cache.step(end: nil) == .rest)
        cache.move(to: Self.block)
        #expect(cache.step(end: nil) == .fetch(at: 8 * Self.block))
    }

    @Test func `at the end nothing is fetched, and before it everything`() {
        var cache = ByteCache(ByteCache.Limits(ahead: 8 * Self.block, behind: 0))
        #expect(cache.step(end: 0) == .rest && cache.step(end: 1) == .fetch(at: 0))
        Self.insert(&cache, 0..<1000)
        #expect(cache.step(end: 1000) == .rest && cache.step(end: 1001) == .fetch(at: 1000) && cache.step(end: nil) == .fetch(at: 1000))
        cache.move(to: 5000)
        #expect(cache.step(end: 1000) == .rest && cache.ahead == 0)
    }

    @Test func `a jump is fetched there, and what is known is not fetched again`() {
        var cache = ByteCache(ByteCache.Limits(ahead: 100 * Self.block, behind: 100 * Self.block))
        Self.insert(&cache, 0..<3 * Self.block)
        cache.move(to: 10 * Self.block + 7)
        #expect(cache.step(end: nil) == .fetch(at: 10 * Self.block + 7))
        Self.insert(&cache, 10 * Self.block + 7..<12 * Self.block)
        #expect(cache.ahead == 2 * Self.block - 7)
        cache.move(to: 5)
        #expect(cache.step(end: nil) == .fetch(at: 3 * Self.block) && cache.ahead == 3 * Self.block - 5)
        Self.insert(&cache, 3 * Self.block..<10 * Self.block)
        // The block of the jump lacks its first bytes.
        #expect(cache.step(end: nil) == .fetch(at: 10 * Self.block))
        Self.insert(&cache, 10 * Self.block..<10 * Self.block + 7)
        #expect(Self.read(cache, 10 * Self.block, 16) == (10 * Self.block..<10 * Self.block + 7).map(Self.byte))
    }

    @Test func `what lies behind is kept as long as there is room, and the farthest goes first`() {
        var cache = ByteCache(ByteCache.Limits(ahead: 2 * Self.block, behind: 4 * Self.block))
        for number in Int64(0)..<20 {
            cache.move(to: number * Self.block)
            Self.insert(&cache, number * Self.block..<(number + 1) * Self.block)
            #expect(cache.byteCount <= 8 * ByteCache.blockSize)
            for kept in max(0, number - 4)...number { #expect(Self.read(cache, kept * Self.block) == [Self.byte(kept * Self.block)], "\(kept)") }
        }
        #expect(Self.read(cache, 0).isEmpty && Self.read(cache, 11 * Self.block).isEmpty)
    }

    @Test func `with a file the film is fetched to its end, and memory takes what is near`() {
        var cache = ByteCache(ByteCache.Limits(ahead: 2 * Self.block, behind: 0))
        cache.isStoring = true
        for number in Int64(0)..<10 {
            #expect(cache.step(end: 10 * Self.block) == .fetch(at: number * Self.block))
            let bytes = (number * Self.block..<(number + 1) * Self.block).map(Self.byte)
            unsafe bytes.withUnsafeBytes { unsafe cache.insert($0, at: number * Self.block, isStored: true) }
        }
        #expect(cache.step(end: 10 * Self.block) == .rest && cache.ahead == 10 * Self.block && cache.byteCount == 3 * ByteCache.blockSize)
        #expect(Self.read(cache, 7 * Self.block).isEmpty && cache.storedCount(from: 7 * Self.block + 9) == 3 * Self.block - 9)
        // The disk is full: what the film has ahead is enough. Then it cannot be read: only memory counts.
        cache.isStoring = false
        #expect(cache.step(end: nil) == .rest && cache.ahead == 10 * Self.block)
        cache.move(to: 9 * Self.block)
        #expect(cache.step(end: nil) == .fetch(at: 10 * Self.block))
        cache.forgetStored()
        #expect(cache.ahead == 0 && cache.step(end: nil) == .fetch(at: 9 * Self.block) && cache.storedCount(from: 0) == 0)
        cache.move(to: 0)
        #expect(cache.ahead == 3 * Self.block)
    }

    @Test func `whatever is read and fetched, each byte is the film's, nothing known is fetched, and the room is bounded`() {
        var dice = Dice(seed: 41)
        for _ in 0..<TestExtent.rounds(20, full: 400, sanitized: 4) {
            let limits = ByteCache.Limits(
                ahead: Int64.random(in: 1...6, using: &dice) * Self.block, behind: Int64.random(in: 0...6, using: &dice) * Self.block)
            var cache = ByteCache(limits), end = Int64.random(in: 1...20 * Self.block, using: &dice)
            if Bool.random(using: &dice) { end = 20 * Self.block }
            for _ in 0..<60 {
                if Int.random(in: 0..<4, using: &dice) == 0 { cache.move(to: Int64.random(in: 0..<end, using: &dice)) }
                if case .fetch(let offset) = cache.step(end: end) {
                    #expect(offset >= cache.position && offset < end && Self.read(cache, offset).isEmpty)
                    #expect(offset == cache.position + cache.ahead)
                    Self.insert(&cache, offset..<min(end, offset + Int64.random(in: 1...2 * Self.block, using: &dice)))
                    #expect(!Self.read(cache, offset).isEmpty, "what was just fetched is there")
                }
                let place = Int64.random(in: 0..<end, using: &dice)
                for offset in [place, cache.position] {
                    let bytes = Self.read(cache, offset, 100)
                    #expect(bytes == bytes.indices.map { Self.byte(offset + Int64($0)) })
                }
                #expect(cache.ahead == 0 || Self.read(cache, cache.position + cache.ahead - 1).count == 1)
                #expect(Int64(cache.byteCount) <= limits.ahead + limits.behind + 2 * Self.block)
            }
        }
    }
}
