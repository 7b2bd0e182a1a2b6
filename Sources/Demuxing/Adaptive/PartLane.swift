/// The parts of one of a film's lists, or of the variants that take turns: what has come and is not read, where reading is, and what may be fetched.
/// Times are in microseconds. A pure value.
struct PartLane: Sendable {
    /// A part that is being fetched, or has been.
    struct Part: Sendable {
        enum Progress: Sendable { case coming, whole, lost }

        let id: Int
        /// The number of its list.
        let list: Int
        let part: MediaPlaylist.Part
        /// What stands before its bytes.
        let head: [UInt8]
        var bytes: [UInt8] = []
        var progress = Progress.coming
        /// The time of its first sample in ninety-thousandths of a second, where it stands before the sample (RFC 8216, 3.4).
        var timestamp: Int64?

        /// Whether a demuxer can go on with it behind `other`.
        func follows(_ other: Part) -> Bool {
            list == other.list && part.discontinuity == other.part.discontinuity && part.head == other.part.head && part.headKey == other.part.headKey
                && other.progress == .whole && (timestamp == nil) == (other.timestamp == nil)
        }
    }

    private(set) var parts: [Part] = []
    /// The part that is read next, or is being read; it may not be there yet.
    private(set) var reading = 0
    /// Bytes that have been read of it.
    private(set) var offset = 0
    private var nextID = 0
    /// Where fetching goes on while there is no part; nil: where the film begins.
    private(set) var start: Int64?
    /// Changes with every seek to what is not here.
    private(set) var generation = 0
    /// No part follows the last one.
    var isEnded = false
    /// Nobody reads it.
    var isIdle = false

    // MARK: Fetching

    /// Adds a part that is about to be fetched; its number.
    mutating func add(_ part: MediaPlaylist.Part, list: Int, head: [UInt8]) -> Int {
        parts.append(Part(id: nextID, list: list, part: part, head: head))
        nextID += 1
        return nextID - 1
    }

    /// False where the part is not wanted any more.
    mutating func append(_ bytes: some Collection<UInt8>, timestamp: Int64? = nil, to id: Int) -> Bool {
        guard let index = index(of: id) else { return false }
        parts[index].bytes += bytes
        if let timestamp { parts[index].timestamp = timestamp }
        return true
    }

    mutating func finish(_ id: Int, _ progress: Part.Progress) {
        if let index = index(of: id) { parts[index].progress = progress }
    }

    /// Whether nothing has been read of the last part, so that another one may take its place.
    func canTakeBack(_ id: Int) -> Bool { parts.last?.id == id && (reading < id || (reading == id && offset == 0)) }

    mutating func takeBack(_ id: Int) {
        guard canTakeBack(id) else { return }
        parts.removeLast()
        nextID = id
    }

    /// Microseconds that are here from where reading is, without a hole.
    var timeAhead: Int64 {
        parts.reduce(0) { sum, part in
            guard part.progress == .whole, part.id >= reading else { return sum }
            guard part.id == reading, !part.bytes.isEmpty else { return sum + part.part.duration }
            let left = Double(part.bytes.count - min(offset, part.bytes.count)) / Double(part.bytes.count)
            return sum + Int64(Double(part.part.duration) * left)
        }
    }

    var bytesAhead: Int64 {
        var sum = 0
        for part in parts where part.id >= reading { sum += part.bytes.count - (part.id == reading ? min(offset, part.bytes.count) : 0) }
        return Int64(sum)
    }

    /// Forgets what was read, but for `limit` bytes.
    mutating func forget(behind limit: Int64) {
        var behind: Int64 = 0, count = 0
        for part in parts where part.id < reading { behind += Int64(part.bytes.count) }
        // The part before is what tells whether the next one follows it.
        while count < parts.count, parts[count].id < reading - 1, behind > limit {
            behind -= Int64(parts[count].bytes.count)
            count += 1
        }
        parts.removeFirst(count)
    }

    // MARK: Reading

    private func index(of id: Int) -> Int? {
        guard let first = parts.first, id >= first.id, id < first.id + parts.count else { return nil }
        return id - first.id
    }

    /// The part that is being read, once it is there.
    var readPart: Part? { index(of: reading).map { parts[$0] } }

    /// Whether the part that is being read continues the one before it.
    var continues: Bool {
        guard let index = index(of: reading), index > 0 else { return false }
        return parts[index].follows(parts[index - 1])
    }

    enum Next: Equatable {
        /// So many bytes have been copied.
        case bytes(Int)
        /// Not here yet.
        case wait
        /// The part that comes next is of another kind, or there is none.
        case end
    }

    /// Copies what comes next of the parts that belong together.
    ///
    /// - Parameter isFirst: nothing has been read of these parts: the first of them need not continue another.
    mutating func read(_ isFirst: Bool, _ copy: (ArraySlice<UInt8>) -> Int) -> Next {
        var isFirst = isFirst
        while true {
            guard let index = index(of: reading) else { return isEnded ? .end : .wait }
            if offset == 0, !isFirst, !continues { return .end }
            let part = parts[index]
            if offset < part.bytes.count {
                let count = copy(part.bytes[offset...])
                offset += count
                return .bytes(count)
            }
            if part.progress == .coming { return .wait }
            // What never came is no part to begin with.
            if part.progress == .whole || !part.bytes.isEmpty { isFirst = false }
            (reading, offset) = (reading + 1, 0)
        }
    }

    /// The part that is being read is done with.
    mutating func pass() { if readPart != nil { (reading, offset) = (reading + 1, 0) } }

    /// The reader goes on at `time`, with what is here where that is here.
    mutating func seek(to time: Int64) {
        if let index = parts.firstIndex(where: { $0.part.start <= time && time < $0.part.end }) {
            (reading, offset) = (parts[index].id, 0)
        } else {
            (parts, reading, offset, start, isEnded) = ([], nextID, 0, time, false)
            generation += 1
        }
    }
}
