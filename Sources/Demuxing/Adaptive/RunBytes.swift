/// The parts of a lane that a demuxer can read as one stream: of one variant, with one head, without a jump of the times between them.
///
/// Thread-safety: one thread at a time.
final class RunBytes: FilmBytes, @unchecked Sendable {
    private let fetcher: PartFetcher
    private let lane: Int
    private var head: ArraySlice<UInt8>
    private var isFirst = true

    /// - Parameter first: the part that is read first.
    init(_ fetcher: PartFetcher, lane: Int, first: PartLane.Part) {
        self.fetcher = fetcher
        self.lane = lane
        head = first.head[...]
    }

    var isSeekable: Bool { false }
    var byteCount: Int64? { nil }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        if !head.isEmpty {
            let count = min(head.count, target.count)
            unsafe target.copyBytes(from: head.prefix(count))
            head = head.dropFirst(count)
            return count
        }
        let count = unsafe fetcher.read(lane, isFirst: isFirst, into: target)
        if count > 0 { isFirst = false }
        return count
    }
}
