/// Which bytes of a film are somewhere, as ranges in ascending order with gaps between them. A pure value.
struct ByteRanges: Equatable {
    private(set) var ranges: [Range<Int64>] = []

    /// Where the bytes from `offset` on end that are here without a hole; nil when the byte at `offset` is not here.
    func end(from offset: Int64) -> Int64? {
        let next = index(after: offset)
        guard next > 0, ranges[next - 1].upperBound > offset else { return nil }
        return ranges[next - 1].upperBound
    }

    /// Adds bytes; those that are here already stay.
    mutating func insert(_ added: Range<Int64>) {
        guard !added.isEmpty else { return }
        // Neighbours that touch it become one with it.
        var first = index(after: added.lowerBound), whole = added
        if first > 0, ranges[first - 1].upperBound >= added.lowerBound { first -= 1 }
        var last = first
        while last < ranges.count, ranges[last].lowerBound <= added.upperBound {
            whole = min(whole.lowerBound, ranges[last].lowerBound)..<max(whole.upperBound, ranges[last].upperBound)
            last += 1
        }
        ranges.replaceSubrange(first..<last, with: CollectionOfOne(whole))
    }

    /// The first range that begins after `offset`, by binary search: a film that is seeked in has thousands.
    private func index(after offset: Int64) -> Int {
        var low = 0, high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].lowerBound <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
