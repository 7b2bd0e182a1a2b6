import Testing

@testable import Demuxing

/// The parts that are in memory, and the reading of them.
@Suite struct PartLaneTests {
    private static func part(_ index: Int64, discontinuity: Int64 = 0, head: String? = nil) -> MediaPlaylist.Part {
        MediaPlaylist.Part(
            resource: .init(address: "\(index)"), start: index * 1_000_000, duration: 1_000_000, sequence: index,
            head: head.map { .init(address: $0) }, discontinuity: discontinuity)
    }

    /// All that can be read, up to `limit` bytes at a time.
    private static func read(_ lane: inout PartLane, isFirst: Bool = true, limit: Int = 100) -> (bytes: [UInt8], end: PartLane.Next) {
        var bytes: [UInt8] = [], isFirst = isFirst
        while true {
            let next = lane.read(isFirst) { slice in
                bytes += slice.prefix(limit)
                return min(slice.count, limit)
            }
            guard case .bytes = next else { return (bytes, next) }
            isFirst = false
        }
    }

    private static func lane(_ parts: [(part: MediaPlaylist.Part, list: Int)]) -> PartLane {
        var lane = PartLane()
        for (part, list) in parts {
            let id = lane.add(part, list: list, head: [])
            _ = lane.append([UInt8](repeating: UInt8(part.sequence), count: 4), to: id)
            lane.finish(id, .whole)
        }
        return lane
    }

    @Test func `parts of one variant are one stream, and another variant is another`() {
        var lane = Self.lane([(Self.part(0), 0), (Self.part(1), 0), (Self.part(2), 1), (Self.part(3), 1)])
        #expect(lane.timeAhead == 4_000_000 && lane.bytesAhead == 16)
        var (bytes, end) = Self.read(&lane, limit: 3)
        #expect(bytes == [0, 0, 0, 0, 1, 1, 1, 1] && end == .end && lane.timeAhead == 2_000_000)
        (bytes, end) = Self.read(&lane)
        #expect(bytes == [2, 2, 2, 2, 3, 3, 3, 3] && end == .wait)
        lane.isEnded = true
        #expect(Self.read(&lane, isFirst: false).end == .end)
    }

    @Test func `a jump of the times, another head and a part that is lost end a stream`() {
        var lane = Self.lane([(Self.part(0), 0), (Self.part(1, discontinuity: 1), 0), (Self.part(2, discontinuity: 1, head: "h"), 0)])
        let lost = lane.add(Self.part(3, discontinuity: 1, head: "h"), list: 0, head: [])
        lane.finish(lost, .lost)
        let last = lane.add(Self.part(4, discontinuity: 1, head: "h"), list: 0, head: [])
        _ = lane.append([4], to: last)
        #expect((0..<4).map { _ in Self.read(&lane).bytes } == [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [4]])
    }

    @Test func `a part that is coming is read as it comes, and stays once it is begun`() {
        var lane = PartLane()
        let id = lane.add(Self.part(0), list: 0, head: [])
        #expect(lane.canTakeBack(id) && Self.read(&lane).end == .wait && lane.timeAhead == 0)
        _ = lane.append([1, 2], to: id)
        #expect(lane.canTakeBack(id) && Self.read(&lane).bytes == [1, 2] && !lane.canTakeBack(id))
        lane.takeBack(id)
        #expect(lane.parts.count == 1)
        lane.finish(id, .whole)
        #expect(Self.read(&lane, isFirst: false).end == .wait)
        let next = lane.add(Self.part(1), list: 0, head: [])
        _ = lane.append([3], to: next)
        #expect(lane.canTakeBack(next))
        lane.takeBack(next)
        #expect(lane.parts.count == 1 && lane.add(Self.part(1), list: 2, head: []) == next)
    }

    @Test func `a seek to what is here keeps it, and another one forgets it`() {
        var lane = Self.lane((0..<6).map { (Self.part($0), 0) })
        _ = Self.read(&lane)
        lane.seek(to: 2_500_000)
        #expect(lane.generation == 0 && Self.read(&lane).bytes.first == 2)
        lane.seek(to: 9_000_000)
        #expect(lane.generation == 1 && lane.parts.isEmpty && lane.start == 9_000_000 && Self.read(&lane).end == .wait)
        let id = lane.add(Self.part(9), list: 0, head: [])
        _ = lane.append([9], to: id)
        #expect(Self.read(&lane).bytes == [9])
    }

    @Test func `what was read is forgotten but for the limit`() {
        var lane = Self.lane((0..<6).map { (Self.part($0), 0) })
        _ = Self.read(&lane)
        lane.forget(behind: 8)
        #expect(lane.parts.map(\.part.sequence) == [4, 5])
        lane.forget(behind: 0)
        #expect(lane.parts.map(\.part.sequence) == [5])
    }

    @Test func `the tag before packed sound is taken off, and says its time`() {
        let owner = Array("com.apple.streaming.transportStreamTimestamp\0".utf8)
        let frame = Array("PRIV".utf8) + [0, 0, 0, UInt8(owner.count + 8), 0, 0] + owner + [0, 0, 0, 0, 0, 1, 0x5F, 0x90]
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
        for step in [1, 7, 1000] {
            var prefix = PartPrefix(), bytes: [UInt8] = []
            let all = tag + [0xFF, 0xF1, 1, 2, 3]
            for start in stride(from: 0, to: all.count, by: step) { bytes += prefix.update(Array(all[start..<min(start + step, all.count)])) }
            #expect(bytes + prefix.finish() == [0xFF, 0xF1, 1, 2, 3] && prefix.timestamp == 90_000, "\(step)")
        }
        var none = PartPrefix()
        #expect(none.update([0x47, 1, 2]) + none.finish() == [0x47, 1, 2] && none.timestamp == nil)
    }
}
