/// The index of a file's parts (`sidx`; ISO/IEC 14496-12, 8.16.3). A pure value.
struct SegmentIndex: Equatable {
    struct Entry: Equatable {
        /// In the file.
        var range: Range<Int64>
        /// In `timescale`.
        var start: Int64
        var duration: Int64
    }

    private(set) var timescale: Int64 = 1
    private(set) var entries: [Entry] = []

    /// nil where the bytes hold no index of parts, or one of further indices.
    ///
    /// - Parameter offset: where in the file the bytes begin.
    init?(_ bytes: [UInt8], at offset: Int64) {
        var place = 0
        func number(_ count: Int) -> Int64? {
            guard count <= bytes.count - place else { return nil }
            defer { place += count }
            return bytes[place..<place + count].reduce(0) { $0 << 8 | Int64($1) }
        }
        // Other boxes may stand before it.
        while true {
            let begin = place
            guard let size = number(4), let type = number(4), size >= 8, size <= Int64(bytes.count - begin) else { return nil }
            if type == Self.type {
                place = begin + 8
                // Places count from the end of the box.
                guard let first = parse(number, end: offset + Int64(begin) + size) else { return nil }
                timescale = first.timescale
                entries = first.entries
                return
            }
            place = begin + Int(size)
        }
    }

    private static let type: Int64 = 0x7369_6478

    private func parse(_ number: (Int) -> Int64?, end: Int64) -> (timescale: Int64, entries: [Entry])? {
        guard let version = number(1), number(3) != nil, number(4) != nil, let timescale = number(4), timescale > 0 else { return nil }
        let width = version == 0 ? 4 : 8
        guard var time = number(width), let gap = number(width), number(2) != nil, let count = number(2), time >= 0, gap >= 0 else { return nil }
        guard time <= ManifestElement.largest, gap <= ManifestElement.largest, end <= ManifestElement.largest - gap else { return nil }
        var entries: [Entry] = [], place = end + gap
        for _ in 0..<count {
            guard let size = number(4), let duration = number(4), number(4) != nil else { return nil }
            // The highest bit says that it is another index.
            guard size & 0x8000_0000 == 0, size > 0 else { return nil }
            entries.append(Entry(range: place..<place + size, start: time, duration: duration))
            place += size
            time += duration
        }
        return entries.isEmpty ? nil : (timescale, entries)
    }
}
