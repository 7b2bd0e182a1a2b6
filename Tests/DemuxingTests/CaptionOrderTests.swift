import Media
import Testing

@testable import Demuxing

/// Captions come in decode order and leave in the order of display.
@Suite struct CaptionOrderTests {
    private static func time(_ frame: Int64) -> MediaTime { MediaTime(value: frame, timescale: 25) }

    /// What each frame makes ready. Frames are numbered by their times; each carries its number.
    private static func outcomes(_ frames: [(shown: Int64, decoded: Int64?)]) -> [[Int64]] {
        var order = CaptionOrder(), outcomes: [[Int64]] = []
        func drain() -> [Int64] {
            var frames: [Int64] = []
            while let entry = order.next() { frames.append(Int64(entry.bytes[0])) }
            return frames
        }
        for frame in frames {
            order.add(.init(time: time(frame.shown), bytes: [UInt8(frame.shown)]), decodeTime: frame.decoded.map(time))
            outcomes.append(drain())
        }
        order.finish()
        outcomes.append(drain())
        return outcomes
    }

    @Test func `a frame's captions are ready as soon as no earlier frame can come`() {
        #expect(Self.outcomes([(0, 0), (1, 1), (2, 2)]) == [[0], [1], [2], []], "in order")
        // I P B B P B B, with two frames of delay.
        let frames: [(shown: Int64, decoded: Int64?)] = [(2, 0), (5, 1), (3, 2), (4, 3), (8, 4), (6, 5), (7, 6)]
        #expect(Self.outcomes(frames) == [[], [], [2], [3], [4], [5], [6], [7, 8]])
    }

    @Test func `without decode times as many frames are held back as a codec can hold`() {
        let count = Int64(CaptionOrder.mostHeld) + 2
        var frames = (0..<count).map { (shown: $0, decoded: Int64?.none) }
        frames.swapAt(3, 4)
        let outcomes = Self.outcomes(frames)
        #expect(outcomes.dropLast(3).allSatisfy(\.isEmpty) && outcomes.suffix(3).first == [0])
        #expect(outcomes.flatMap(\.self) == Array(0..<count))
    }

    @Test func `captions of one frame keep their order`() {
        var order = CaptionOrder()
        for byte in [1, 2, 3] as [UInt8] { order.add(.init(time: Self.time(5), bytes: [byte]), decodeTime: Self.time(1)) }
        order.finish()
        #expect([order.next()?.bytes, order.next()?.bytes, order.next()?.bytes, order.next()?.bytes] == [[1], [2], [3], nil])
    }

    @Test func `of frames without captions the first of each half second is told`() {
        var order = CaptionOrder(), told: [MediaTime] = []
        for frame in 0..<50 as Range<Int64> { order.add(.init(time: Self.time(frame), bytes: frame == 5 ? [1, 2, 3] : []), decodeTime: nil) }
        order.finish()
        while let entry = order.next() { told.append(entry.time) }
        // The first frames of the half seconds, and the one with captions.
        let expected: [Int64] = [0, 5, 13, 25, 38]
        #expect(Set(told) == Set(expected.map(Self.time)), "\(told)")
        #expect(told.count == 5)
    }
}
