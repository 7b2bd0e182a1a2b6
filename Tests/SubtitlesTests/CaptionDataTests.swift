import Testing

@testable import Subtitles

/// Captions of the second field, and the data service that shares it with them.
@Suite struct CaptionDataTests {
    private static func triplets(_ pairs: [(UInt8, UInt8)]) -> [UInt8] { pairs.flatMap { [0xfd, $0.0, $0.1] } }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let pairs: [(UInt8, UInt8)]
        let kept: [Int]

        init(_ name: String, _ pairs: [(UInt8, UInt8)], _ kept: [Int]) { (testDescription, self.pairs, self.kept) = (name, pairs, kept) }
    }

    @Test(
        arguments: [
            Case("captions", [(0x15, 0x20), (0xc8, 0xe5)], [0, 1]), Case("a packet", [(0x01, 0x03), (0xc8, 0xe5), (0x8f, 0x1d)], []),
            Case("behind a packet", [(0x01, 0x03), (0xc8, 0xe5), (0x8f, 0x1d), (0xc8, 0xe5)], [3]),
            Case("a packet that captions interrupt", [(0x01, 0x03), (0x15, 0x20), (0xc8, 0xe5), (0x02, 0x03), (0xc8, 0xe5)], [1, 2]),
            Case("a control code with parity", [(0x85, 0x80), (0xc8, 0xe5), (0x94, 0x2c)], [2]), Case("nothing", [], []),
        ])
    func `only captions are kept`(_ example: Case) {
        var data = CaptionData()
        #expect(data.captions(Self.triplets(example.pairs)) == Self.triplets(example.kept.map { example.pairs[$0] }))
        // Each pair by itself it is the same.
        var other = CaptionData()
        #expect(example.pairs.flatMap { other.captions(Self.triplets([$0])) } == Self.triplets(example.kept.map { example.pairs[$0] }))
    }

    @Test func `half a triplet is left out`() {
        var data = CaptionData()
        #expect(data.captions([0xfd, 0xc8, 0xe5, 0xfd, 0xc8]) == [0xfd, 0xc8, 0xe5] && data.captions([0xfd]).isEmpty)
    }
}
