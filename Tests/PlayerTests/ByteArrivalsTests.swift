import Media
import Player
import Testing

@Suite struct ByteArrivalsTests {
    private static func host(_ seconds: Int64) -> HostTime { HostTime(nanoseconds: seconds * 1_000_000_000) }

    @Test(arguments: [
        // The offset of a sample, and the second at which it had come.
        (Int64(0), Int64(1)), (99, 1), (100, 2), (250, 3), (299, 3), (300, nil),
    ]) func `a sample came when its first byte had`(offset: Int64, second: Int64?) {
        var arrivals = ByteArrivals()
        for (count, at) in [(100, 1), (200, 2), (200, 3), (300, 3), (250, 4)] as [(Int64, Int64)] { arrivals.note(count, at: Self.host(at)) }
        #expect(arrivals.arrival(of: offset) == second.map(Self.host))
    }

    @Test func `what came long ago is forgotten, and not guessed`() {
        var arrivals = ByteArrivals()
        for number in 1...1000 as ClosedRange<Int64> { arrivals.note(number * 10, at: Self.host(number)) }
        #expect(arrivals.arrival(of: 5) == nil)
        #expect(arrivals.arrival(of: 9990) == Self.host(1000))
    }
}
