internal import Media

/// The parts of a lane that a demuxer can read as one stream: of one variant, with one head, without a jump of the times between them.
///
/// Thread-safety: one thread at a time.
final class RunBytes: FilmBytes, @unchecked Sendable {
    private let fetcher: PartFetcher
    private let lane: Int
    private var head: ArraySlice<UInt8>
    private var isFirst = true
    /// Where parts with a date begin that no sample has been told of.
    private let dates = Monitor<[(offset: Int64, date: ProgramDate)]>([])

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
        let (count, date) = unsafe fetcher.read(lane, isFirst: isFirst, into: target)
        if count > 0 { isFirst = false }
        if let date { dates.withLock { $0.append((offset, date)) } }
        return count
    }

    /// The date of the part in which `offset` lies, once, if the list says one. Any thread.
    func takeDate(at offset: Int64) -> ProgramDate? {
        dates.withLock { dates in
            guard let last = dates.lastIndex(where: { $0.offset <= offset }) else { return nil }
            defer { dates.removeFirst(last + 1) }
            return dates[last].date
        }
    }
}
