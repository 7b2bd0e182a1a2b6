import TestSupport
import Testing

@testable import Demuxing

/// Which bytes of a film a file has.
@Suite struct ByteRangesTests {
    struct Row: CustomTestStringConvertible {
        var before: [Range<Int64>]
        var added: Range<Int64>
        var after: [Range<Int64>]
        var testDescription: String { "\(before) and \(added)" }
    }

    private static let rows = [
        Row(before: [], added: 5..<5, after: []), Row(before: [], added: 5..<9, after: [5..<9]),
        Row(before: [5..<9], added: 9..<12, after: [5..<12]), Row(before: [5..<9], added: 1..<5, after: [1..<9]),
        Row(before: [5..<9], added: 10..<12, after: [5..<9, 10..<12]), Row(before: [5..<9], added: 1..<4, after: [1..<4, 5..<9]),
        Row(before: [5..<9], added: 6..<8, after: [5..<9]), Row(before: [5..<9], added: 1..<20, after: [1..<20]),
        Row(before: [1..<3, 5..<9, 11..<13], added: 3..<11, after: [1..<13]),
        Row(before: [1..<3, 5..<9, 11..<13], added: 7..<10, after: [1..<3, 5..<10, 11..<13]),
        Row(before: [1..<3, 5..<9, 11..<13], added: 0..<20, after: [0..<20]),
    ]

    @Test(arguments: rows) func `bytes that touch become one range`(_ row: Row) {
        var ranges = ByteRanges()
        for range in row.before { ranges.insert(range) }
        ranges.insert(row.added)
        #expect(ranges.ranges == row.after)
    }

    @Test func `bytes are here up to the next hole`() {
        var ranges = ByteRanges()
        for range in [Int64(2)..<4, 8..<9] { ranges.insert(range) }
        let ends = (Int64(0)..<10).map(ranges.end)
        #expect(ends == [nil, nil, 4, 4, nil, nil, nil, nil, 9, nil])
    }

    @Test func `whatever is added, each byte is here that was, and no other`() {
        var dice = Dice(seed: 3)
        for _ in 0..<TestExtent.rounds(50, full: 1000) {
            var ranges = ByteRanges(), known = Set<Int64>()
            for _ in 0..<40 {
                let start = Int64.random(in: 0..<200, using: &dice), added = start..<start + Int64.random(in: 0..<20, using: &dice)
                ranges.insert(added)
                known.formUnion(added)
            }
            for offset in Int64(0)..<230 { #expect((ranges.end(from: offset) != nil) == known.contains(offset)) }
            #expect(ranges.ranges.allSatisfy { !known.contains($0.upperBound) && !known.contains($0.lowerBound - 1) })
        }
    }
}
