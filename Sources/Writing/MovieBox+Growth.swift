internal import Demuxing
internal import Glibc
internal import Media

// Boxes that libavformat does not write, put into an index that is whole; and what follows it in the file is moved.

extension MovieBox {
    /// Reads the index of a file, changes it and writes it back. Where it has become longer, everything behind it moves. Nothing happens in a file
    /// without an index at its top.
    static func change(in descriptor: Int32, _ change: (inout MovieBox) -> Void) throws(SystemError) {
        guard let place = try find("moov", in: descriptor), var box = try MovieBox(in: descriptor) else { return }
        change(&box)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError(errno, "look at the file") }
        let growth = Int64(box.bytes.count) - place.count, rest = Int64(status.st_size) - place.offset - place.count
        if growth > 0, rest > 0 {
            let moved = box.moveChunks(behind: place.offset, by: growth)
            try move(rest, from: place.offset + place.count, by: moved, in: descriptor)
        }
        try write(box.bytes[...], at: place.offset, in: descriptor)
    }

    /// Writes a box in the place of another one, which is not longer. What follows it in the file moves.
    static func replace(_ place: (offset: Int64, count: Int64), by bytes: [UInt8], in descriptor: Int32) throws(SystemError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError(errno, "look at the file") }
        let growth = Int64(bytes.count) - place.count, end = place.offset + place.count
        if growth > 0 { try move(Int64(status.st_size) - end, from: end, by: growth, in: descriptor) }
        try write(bytes[...], at: place.offset, in: descriptor)
    }

    /// Moves the end of a file backwards, its last part first.
    private static func move(_ count: Int64, from offset: Int64, by distance: Int64, in descriptor: Int32) throws(SystemError) {
        var left = count
        while left > 0 {
            let part = min(left, 1 << 20)
            left -= part
            try write(try read(Int(part), at: offset + left, in: descriptor).bytes[...], at: offset + left + distance, in: descriptor)
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, at offset: Int64, in descriptor: Int32) throws(SystemError) {
        var left = bytes, offset = offset
        while !left.isEmpty {
            let count = unsafe left.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
            guard count > 0 else { throw SystemError(count < 0 ? errno : ENOSPC, "write the index") }
            left = left.dropFirst(count)
            offset += Int64(count)
        }
    }

    // MARK: Chunks

    private typealias Table = (range: Range<Int>, parents: [Int])

    /// The tables of the chunks' places (`stco`, `co64`).
    private var chunkTables: [Table] {
        boxes("trak", in: 8..<bytes.count).compactMap { track in
            var parents = [0, track.lowerBound], range = track.lowerBound + 8..<track.upperBound
            for name in ["mdia", "minf", "stbl"] {
                guard let next = first(name, in: range) else { return nil }
                parents.append(next.lowerBound)
                range = next.lowerBound + 8..<next.upperBound
            }
            return (first("stco", in: range) ?? first("co64", in: range)).map { ($0, parents) }
        }
    }

    private func places(_ table: Range<Int>) -> [Int64] {
        let size = name(at: table.lowerBound + 4) == "co64" ? 8 : 4
        return stride(from: table.lowerBound + 16, to: table.upperBound, by: size).map { number(at: $0, size) }
    }

    /// Adds to the places of the chunks behind the index. Where they no longer fit into four bytes they take eight, and the index grows once more.
    ///
    /// - Returns: By how much they have moved.
    mutating func moveChunks(behind offset: Int64, by growth: Int64) -> Int64 {
        var distance = growth
        let isNarrow = chunkTables.filter { name(at: $0.range.lowerBound + 4) == "stco" }
        let longer = isNarrow.reduce(0) { $0 + Int64($1.range.count - 16) }
        let last = isNarrow.flatMap { places($0.range) }.max() ?? 0
        if last + growth > Int64(UInt32.max) {
            distance += longer
            // From behind, so that those in front stay where they are.
            for table in isNarrow.reversed() {
                let wide = places(table.range).flatMap { Self.bigEndian($0, 8) }, start = table.range.lowerBound
                replace(table.range, by: Self.box("co64", Array(bytes[start + 8..<start + 16]) + wide), table.parents)
            }
        }
        for table in chunkTables {
            let size = name(at: table.range.lowerBound + 4) == "co64" ? 8 : 4
            for place in stride(from: table.range.lowerBound + 16, to: table.range.upperBound, by: size) where number(at: place, size) > offset {
                set(number(at: place, size) + distance, at: place, size)
            }
        }
        return distance
    }

    // MARK: Boxes

    /// Bytes of a box.
    static func box(_ name: String, _ content: [UInt8]) -> [UInt8] { bigEndian(Int64(content.count + 8), 4) + Array(name.utf8) + content }

    static func bigEndian(_ value: Int64, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: value >> Int64(8 * (size - 1 - $0))) }
    }

    /// - Parameter parents: The beginnings of the boxes around the range, all in front of it.
    mutating func replace(_ range: Range<Int>, by new: [UInt8], _ parents: [Int]) {
        bytes.replaceSubrange(range, with: new)
        for parent in parents { set(number(at: parent, 4) + Int64(new.count - range.count), at: parent, 4) }
    }

    // MARK: What is added

    /// The numbers of the tracks (`tkhd`), with their boxes.
    private var tracks: [(number: Int64, box: Range<Int>, header: Range<Int>)] {
        boxes("trak", in: 8..<bytes.count).compactMap { track in
            guard let header = first("tkhd", in: track.lowerBound + 8..<track.upperBound) else { return nil }
            return (number(at: header.lowerBound + (bytes[header.lowerBound + 8] == 1 ? 28 : 20), 4), track, header)
        }
    }

    /// Has a track name another one (`tref`; 8.3.3). Does nothing where one of them is not in the file, because it got no sample.
    mutating func addReference(_ kind: TrackReference.Kind, from number: Int64, to other: Int64) {
        let tracks = tracks
        guard let track = tracks.first(where: { $0.number == number }), tracks.contains(where: { $0.number == other }) else { return }
        let added = Self.bigEndian(other, 4), parents = [0, track.box.lowerBound]
        guard let list = first("tref", in: track.box.lowerBound + 8..<track.box.upperBound) else {
            let place = track.header.upperBound
            return replace(place..<place, by: Self.box("tref", kind.box(added)), parents)
        }
        for entry in boxes(nil, in: list.lowerBound + 8..<list.upperBound) where self.number(at: entry.lowerBound + 4, 4) == Int64(kind.code) {
            return replace(entry.upperBound..<entry.upperBound, by: added, parents + [list.lowerBound, entry.lowerBound])
        }
        replace(list.upperBound..<list.upperBound, by: kind.box(added), parents + [list.lowerBound])
    }

    /// Adds a cover as QuickTime has it: an item of metadata with the key `com.apple.quicktime.artwork`.
    mutating func addArtwork(_ cover: CoverImage) {
        let zero = [UInt8](repeating: 0, count: 4), key = "com.apple.quicktime.artwork"
        let kind: [[UInt8]] = [zero, zero, Array("mdta".utf8), zero, zero, zero, [0]]
        let handler = Self.box("hdlr", Array(kind.joined()))
        let keys = Self.box("keys", zero + Self.bigEndian(1, 4) + Self.box("mdta", Array(key.utf8)))
        let data = Self.box("data", Self.bigEndian(cover.kind == .jpeg ? 13 : 14, 4) + zero + cover.bytes)
        let item = Self.bigEndian(Int64(data.count + 8), 4) + Self.bigEndian(1, 4) + data
        replace(bytes.count..<bytes.count, by: Self.box("meta", handler + keys + Self.box("ilst", item)), [0])
    }

    /// Gives edits without a length one that reaches to the film's end, or one that no film reaches. A length of 0 means the rest of the film, but
    /// FFmpeg takes it for nothing where the index has samples.
    /// - Parameter end: nil: it is not known.
    mutating func openEdits(until end: MediaTime?) {
        for track in boxes("trak", in: 8..<bytes.count) {
            let content = track.lowerBound + 8..<track.upperBound
            if let media = first("mdia", in: content), let header = first("mdhd", in: media.lowerBound + 8..<media.upperBound) {
                let isLong = bytes[header.lowerBound + 8] == 1
                set(0, at: header.lowerBound + (isLong ? 32 : 24), isLong ? 8 : 4)
            }
            guard let edits = first("edts", in: content), let list = first("elst", in: edits.lowerBound + 8..<edits.upperBound) else { continue }
            let isLong = bytes[list.lowerBound + 8] == 1, size = isLong ? 8 : 4
            for place in stride(from: list.lowerBound + 16, to: list.upperBound, by: isLong ? 20 : 12) where number(at: place, size) == 0 {
                set(Int64(Int32.max), at: place, size)
            }
        }
        if let end { endEdits(at: end) }
        clearLengths()
    }

    /// The lengths of tracks and film are then those of the fragments.
    private mutating func clearLengths() {
        for track in tracks {
            let isLong = bytes[track.header.lowerBound + 8] == 1
            set(0, at: track.header.lowerBound + (isLong ? 36 : 28), isLong ? 8 : 4)
        }
        guard let movie = first("mvhd", in: 8..<bytes.count) else { return }
        let isLong = bytes[movie.lowerBound + 8] == 1
        set(0, at: movie.lowerBound + (isLong ? 32 : 24), isLong ? 8 : 4)
    }
}

extension TrackReference.Kind {
    /// The box of this kind.
    fileprivate func box(_ tracks: [UInt8]) -> [UInt8] {
        MovieBox.bigEndian(Int64(tracks.count + 8), 4) + MovieBox.bigEndian(Int64(code), 4) + tracks
    }
}
