import Media
import Testing

@testable import Demuxing

/// What is told of a film that is fetched: how fast it comes, and how much is there.
@Suite struct FetchProgressTests {
    private static func time(_ seconds: Double) -> HostTime { HostTime(nanoseconds: 1_000_000_000 + Int64(seconds * 1e9)) }

    @Test func `the rate is the mean of the last three seconds, and of less at the beginning`() {
        var rate = FetchRate()
        #expect(rate.bytesPerSecond(at: Self.time(0)) == 0)
        rate.add(1000, at: Self.time(0))
        #expect(rate.bytesPerSecond(at: Self.time(0)) == 4000, "a quarter of a second at least")
        for tick in 1..<10 { rate.add(1000, at: Self.time(Double(tick) * 0.1)) }
        #expect(rate.bytesPerSecond(at: Self.time(1)) == 10_000)
        for tick in 10..<100 { rate.add(1000, at: Self.time(Double(tick) * 0.1)) }
        #expect(abs(rate.bytesPerSecond(at: Self.time(9.9)) - 10_000) < 1000)
        for tick in 100..<140 { rate.add(500, at: Self.time(Double(tick) * 0.1)) }
        #expect(abs(rate.bytesPerSecond(at: Self.time(13.9)) - 5000) < 500)
        #expect(rate.bytesPerSecond(at: Self.time(15.5)) > 0 && rate.bytesPerSecond(at: Self.time(17.1)) == 0)
    }

    @Test(
        arguments: [
            // Where the reader is, what is there from there on, the film's length; percent.
            (0, 0, nil, 0), (0, 1 << 20, nil, 25), (0, 4 << 20, nil, 100), (1 << 20, 1 << 20, 16 << 20, 25), (1 << 20, 1 << 20, 3 << 20, 50),
            (1 << 20, 1 << 20, 2 << 20, 100), (2 << 20, 0, 2 << 20, 100),
        ] as [(Int64, Int, Int64?, Int)])
    func `what is there is a share of what is to be fetched, or of what is left`(_ position: Int64, _ count: Int, _ end: Int64?, _ percent: Int) {
        var cache = ByteCache(.init(ahead: 4 << 20, behind: 1 << 20))
        cache.move(to: position)
        let bytes = [UInt8](repeating: 1, count: ByteCache.blockSize)
        for block in 0..<count / ByteCache.blockSize {
            unsafe bytes.withUnsafeBytes { unsafe cache.insert($0, at: position + Int64(block * ByteCache.blockSize), isStored: false) }
        }
        #expect(cache.fetchedAhead(end: end) == FetchedAhead(bytes: Int64(count), percent: percent))
    }

    @Test func `each tenth is told once, and who asks late is told at once`() {
        let progress = FetchProgress(), calls = Monitor(0)
        progress.onTenth { calls.change { $0 += 1 } }
        #expect(calls.withLock { $0 } == 0)
        for percent in [0, 3, 9, 10, 19, 20, 20, 100, 99] { progress.setAhead(FetchedAhead(percent: percent)) }
        #expect(calls.withLock { $0 } == 5)
        progress.onTenth { calls.change { $0 = -1 } }
        #expect(calls.withLock { $0 } == -1 && progress.ahead.percent == 99)
    }
}
