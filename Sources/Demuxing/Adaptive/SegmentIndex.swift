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
        let boxes = MovieBoxes(bytes)
        // Other boxes may stand before it.
        guard let body = boxes.first("sidx", in: boxes.all) else { return nil }
        var reader = MovieBoxes.Reader(boxes, body)
        guard let version = reader.next(1), reader.next(3) != nil, reader.next(4) != nil, let scale = reader.next(4), scale > 0 else { return nil }
        let width = version == 0 ? 4 : 8
        guard var time = reader.next(width), let gap = reader.next(width), reader.next(2) != nil, let count = reader.next(2) else { return nil }
        // Places count from the end of the box.
        let end = offset + Int64(body.upperBound)
        guard time <= ManifestElement.largest, gap <= ManifestElement.largest, end <= ManifestElement.largest - gap else { return nil }
        var place = end + gap
        timescale = scale
        for _ in 0..<count {
            guard let size = reader.next(4), let duration = reader.next(4), reader.next(4) != nil else { return nil }
            // The highest bit says that it is another index.
            guard size & 0x8000_0000 == 0, size > 0 else { return nil }
            entries.append(Entry(range: place..<place + size, start: time, duration: duration))
            place += size
            time += duration
        }
        if entries.isEmpty { return nil }
    }
}
