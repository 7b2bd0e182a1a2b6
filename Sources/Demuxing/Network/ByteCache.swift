internal import Media

/// The bytes of a film that came over the network, in blocks by their place, and the decision what is fetched next.
///
/// What lies ahead of the reader is filled up without a hole, up to a limit. What was read, and what was fetched elsewhere, stays until room is
/// needed; the bytes farthest from the reader go first, those behind it before those ahead. What a file keeps as well is never forgotten, and as
/// long as the file takes more, the film is fetched to its end. A pure value.
struct ByteCache {
    /// The limits in bytes, ahead of the reader and behind it.
    struct Limits: Hashable {
        var ahead: Int64
        var behind: Int64
    }

    enum Step: Equatable {
        case fetch(at: Int64)
        /// All that is wanted is here; the reader moves on first.
        case rest
    }

    /// Contiguous bytes within one block.
    private struct Block {
        var start: Int
        var bytes: [UInt8]
        var end: Int { start + bytes.count }
    }

    /// 64 KiB: what one read of the network brings at most, and what room is counted in.
    static let blockSize = 65_536

    let limits: Limits
    /// Where the reader is.
    private(set) var position: Int64 = 0
    private var blocks: [Int64: Block] = [:]
    /// Bytes that are here without a hole: from where the reader was when it was counted, to their end.
    private var counted = Int64(0)..<Int64(0)
    /// Enough has been fetched: nothing more is until a part of it was read.
    private var isFull = false
    /// What a file keeps.
    private var stored = ByteRanges()
    /// A file takes what comes.
    var isStoring = false

    init(_ limits: Limits) { self.limits = limits }

    /// Bytes that take room in memory.
    var byteCount: Int { blocks.count * Self.blockSize }

    /// Bytes from the reader on that are here without a hole.
    var ahead: Int64 { max(counted.upperBound - position, 0) }

    /// What is here, of what is to be fetched ahead.
    /// - Parameter end: the film's length; nil when it is unknown.
    func fetchedAhead(end: Int64?) -> FetchedAhead {
        let rest = end.map { max($0 - position, 0) }
        let wanted = isStoring ? rest ?? limits.ahead : min(limits.ahead, rest ?? .max)
        return FetchedAhead(bytes: ahead, percent: wanted > 0 ? Int(min(Double(ahead) / Double(wanted), 1) * 100) : 100)
    }

    /// The reader wants the bytes from `offset`.
    mutating func move(to offset: Int64) {
        position = offset
        if !(counted.lowerBound...counted.upperBound).contains(offset) {
            counted = offset..<offset
            isFull = false
        }
        count()
    }

    /// What the network does now.
    /// - Parameter end: The film's length; nil when it is unknown.
    mutating func step(end: Int64?) -> Step {
        if let end, counted.upperBound >= end { return .rest }
        if isStoring { return .fetch(at: counted.upperBound) }
        if isFull, ahead > limits.ahead - limits.ahead / 8 { return .rest }
        isFull = ahead >= limits.ahead
        return isFull ? .rest : .fetch(at: counted.upperBound)
    }

    /// Copies the bytes from `offset` on, as far as they are here in one block; how many.
    func copy(to target: UnsafeMutableRawBufferPointer, from offset: Int64) -> Int {
        guard let block = blocks[offset / Int64(Self.blockSize)] else { return 0 }
        let place = Int(offset % Int64(Self.blockSize))
        guard place >= block.start, place < block.end else { return 0 }
        let part = block.bytes[(place - block.start)...].prefix(target.count)
        unsafe target.copyBytes(from: part)
        return part.count
    }

    /// How many bytes from `offset` on are in the file without a hole.
    func storedCount(from offset: Int64) -> Int64 { stored.end(from: offset).map { $0 - offset } ?? 0 }

    /// There is no file any more: what only it kept is not here.
    mutating func forgetStored() {
        (stored, isStoring, isFull) = (ByteRanges(), false, false)
        counted = position..<position
        count()
    }

    /// Keeps bytes that came for `offset`, and forgets others where there is no room for all.
    /// - Parameter isStored: The file has them. Memory then takes only what is near the reader.
    mutating func insert(_ bytes: UnsafeRawBufferPointer, at offset: Int64, isStored: Bool = false) {
        if isStored { stored.insert(offset..<offset + Int64(bytes.count)) }
        var done = isStored && offset - position > limits.ahead ? bytes.count : 0
        while done < bytes.count {
            let at = offset + Int64(done), index = at / Int64(Self.blockSize), place = Int(at % Int64(Self.blockSize))
            let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[done..<min(bytes.count, done + Self.blockSize - place)])
            unsafe keep(part, at: place, in: index)
            done += part.count
        }
        count()
    }

    private mutating func keep(_ part: UnsafeRawBufferPointer, at place: Int, in index: Int64) {
        let old = blocks[index].map { $0.start...$0.end }
        if let old, old.lowerBound <= place, old.upperBound >= place + part.count { return }
        guard let old, old.contains(place) else {
            // A block keeps one piece. What came before lies elsewhere in it, and is fetched again if it is ever wanted.
            if old == nil { makeRoom(beside: index) }
            var block = Block(start: place, bytes: [])
            block.bytes.reserveCapacity(Self.blockSize - place)
            unsafe block.bytes.append(contentsOf: part)
            blocks[index] = block
            return
        }
        unsafe blocks[index]?.bytes.append(contentsOf: part[(old.upperBound - place)...])
    }

    /// Counts on what is here without a hole.
    private mutating func count() {
        while true {
            if let end = stored.end(from: counted.upperBound) { counted = counted.lowerBound..<end }
            let end = counted.upperBound, place = Int(end % Int64(Self.blockSize))
            guard let block = blocks[end / Int64(Self.blockSize)], block.start <= place, block.end > place else { return }
            counted = counted.lowerBound..<(end + Int64(block.end - place))
        }
    }

    /// Forgets blocks where the room is used up: some at once, since the choice looks at all of them.
    private mutating func makeRoom(beside index: Int64) {
        let room = max(Int((limits.ahead + limits.behind) / Int64(Self.blockSize)), 1) + 2
        guard blocks.count >= room else { return }
        let victims = blocks.keys.filter { $0 != index }.sorted { worth($0) < worth($1) }.prefix(max(room / 64, 1))
        for victim in victims { blocks[victim] = nil }
        counted = position..<position
    }

    /// Lower goes sooner: what lies outside the limits by its distance, then what lies farthest behind or ahead.
    private func worth(_ index: Int64) -> Int64 {
        let distance = (index - position / Int64(Self.blockSize)) * Int64(Self.blockSize)
        if distance >= 0 { return (distance <= limits.ahead ? 2 : 1) * limits.ahead - distance }
        return -distance <= limits.behind ? limits.ahead + limits.behind + distance : distance
    }
}
