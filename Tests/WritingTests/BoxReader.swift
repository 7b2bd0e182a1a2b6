/// Reads the boxes of MP4 and MOV (ISO/IEC 14496-12) without any of the code that writes them: whether their sizes add up, and where they say that
/// the samples lie.
struct BoxReader {
    /// A track, by its number in the file, and where its samples lie, in decode order.
    struct Track {
        var number: Int
        var samples: [Range<Int>] = []
        /// The tracks that it names, by kind (`tref`).
        var references: [String: [Int]] = [:]
        /// Sync samples by their places from 0 (`stss`); nil: all are, or fragments say it.
        var syncs: Set<Int>?
    }

    let bytes: [UInt8]
    /// Sentences.
    private(set) var faults: [String] = []
    private(set) var tracks: [Track] = []
    /// A track has an edit list.
    private(set) var hasEdits = false
    /// Sync samples are not known of all tracks.
    private(set) var hasFragments = false
    private var content: [Range<Int>] = []

    private static let folders: Set<String> = [
        "moov", "trak", "edts", "mdia", "minf", "dinf", "stbl", "mvex", "moof", "traf", "mfra", "tref", "ilst",
    ]

    init(_ given: some Sequence<UInt8>) {
        let bytes = Array(given)
        self.bytes = bytes
        let top = boxes(in: 0..<bytes.count, "the file")
        content = top.filter { $0.name == "mdat" }.map(\.range)
        if content.isEmpty { faults.append("there is no mdat") }
        for box in top {
            if box.name == "moov" { readIndex(box.range) }
            if box.name == "moof" { hasFragments = true }
            if box.name == "moof" { readFragment(box.range, start: box.start) }
        }
        for track in tracks {
            for sample in track.samples where !content.contains(where: { $0.lowerBound <= sample.lowerBound && sample.upperBound <= $0.upperBound }) {
                faults.append("track \(track.number): a sample lies at \(sample), in no mdat")
            }
        }
    }

    // MARK: Boxes

    private struct Box {
        var name: String
        var start: Int
        /// Behind the header.
        var range: Range<Int>
    }

    private mutating func boxes(in range: Range<Int>, _ place: String) -> [Box] {
        var found: [Box] = [], at = range.lowerBound
        while at < range.upperBound {
            guard at + 8 <= range.upperBound else {
                faults.append("\(place): \(range.upperBound - at) bytes at \(at) are no box")
                break
            }
            var size = number(at, 4), header = 8
            let name = String(decoding: bytes[at + 4..<at + 8], as: UTF8.self)
            if size == 1, at + 16 <= range.upperBound { (size, header) = (number(at + 8, 8), 16) }
            guard size >= header, at + size <= range.upperBound else {
                faults.append("\(place): the box \(name) at \(at) has \(size) bytes, but \(range.upperBound - at) are left")
                break
            }
            let box = Box(name: name, start: at, range: at + header..<at + size)
            found.append(box)
            if Self.folders.contains(name) { _ = boxes(in: box.range, name) }
            at += size
        }
        return found
    }

    private func box(_ path: [String], in range: Range<Int>) -> Range<Int>? {
        var range = range
        for name in path {
            guard let next = children(range).first(where: { $0.name == name }) else { return nil }
            range = next.range
        }
        return range
    }

    /// Without looking for faults, which has been done.
    private func children(_ range: Range<Int>) -> [Box] {
        var copy = self
        return copy.boxes(in: range, "")
    }

    private func number(_ at: Int, _ size: Int) -> Int { bytes[at..<at + size].reduce(0) { $0 << 8 | Int($1) } }

    // MARK: Samples

    private mutating func readIndex(_ movie: Range<Int>) {
        for track in children(movie) where track.name == "trak" {
            guard let header = box(["tkhd"], in: track.range), let table = box(["mdia", "minf", "stbl"], in: track.range) else { continue }
            let isLong = bytes[header.lowerBound] == 1
            var found = Track(number: number(header.lowerBound + (isLong ? 20 : 12), 4))
            found.samples = samples(table)
            if box(["edts", "elst"], in: track.range) != nil { hasEdits = true }
            if let list = box(["stss"], in: table) {
                found.syncs = Set((0..<number(list.lowerBound + 4, 4)).map { number(list.lowerBound + 8 + 4 * $0, 4) - 1 })
            }
            for kind in box(["tref"], in: track.range).map({ children($0) }) ?? [] {
                found.references[kind.name] = stride(from: kind.range.lowerBound, to: kind.range.upperBound, by: 4).map { number($0, 4) }
            }
            tracks.append(found)
        }
    }

    private mutating func samples(_ table: Range<Int>) -> [Range<Int>] {
        guard let sizes = box(["stsz"], in: table), let runs = box(["stsc"], in: table) else { return [] }
        let wide = box(["co64"], in: table)
        guard let places = wide ?? box(["stco"], in: table) else { return [] }
        let same = number(sizes.lowerBound + 4, 4), count = number(sizes.lowerBound + 8, 4), step = wide == nil ? 4 : 8
        let chunks = number(places.lowerBound + 4, 4), runCount = number(runs.lowerBound + 4, 4)
        var found: [Range<Int>] = [], run = 0
        for chunk in 0..<chunks {
            while run + 1 < runCount, number(runs.lowerBound + 8 + 12 * (run + 1), 4) <= chunk + 1 { run += 1 }
            var at = number(places.lowerBound + 8 + step * chunk, step)
            for _ in 0..<number(runs.lowerBound + 8 + 12 * run + 4, 4) where found.count < count {
                let size = same > 0 ? same : number(sizes.lowerBound + 12 + 4 * found.count, 4)
                found.append(at..<at + size)
                at += size
            }
        }
        if found.count != count { faults.append("the chunks hold \(found.count) samples, the index \(count)") }
        return found
    }

    /// A fragment whose places are counted from the beginning of its `moof`.
    private mutating func readFragment(_ fragment: Range<Int>, start: Int) {
        for piece in children(fragment) where piece.name == "traf" {
            guard let header = box(["tfhd"], in: piece.range) else { continue }
            let flags = number(header.lowerBound + 1, 3), own = number(header.lowerBound + 4, 4)
            if flags & 0x020000 == 0 { faults.append("the fragment at \(start) counts from elsewhere") }
            var at = header.lowerBound + 8
            for (flag, size) in [(0x1, 8), (0x2, 4), (0x8, 4)] where flags & flag != 0 { at += size }
            let usual = flags & 0x10 != 0 ? number(at, 4) : 0
            guard let index = tracks.firstIndex(where: { $0.number == own }) else {
                faults.append("the fragment at \(start) is of the unknown track \(own)")
                continue
            }
            for run in children(piece.range) where run.name == "trun" { readRun(run.range, start, usual, index) }
        }
    }

    private mutating func readRun(_ run: Range<Int>, _ start: Int, _ usual: Int, _ track: Int) {
        let flags = number(run.lowerBound + 1, 3), count = number(run.lowerBound + 4, 4)
        var at = run.lowerBound + 8, place = start
        if flags & 0x1 != 0 {
            place += number(at, 4)
            at += 4
        }
        if flags & 0x4 != 0 { at += 4 }
        for _ in 0..<count {
            if flags & 0x100 != 0 { at += 4 }
            let size = flags & 0x200 != 0 ? number(at, 4) : usual
            if flags & 0x200 != 0 { at += 4 }
            if flags & 0x400 != 0 { at += 4 }
            if flags & 0x800 != 0 { at += 4 }
            tracks[track].samples.append(place..<place + size)
            place += size
        }
        if at != run.upperBound { faults.append("a run of the fragment at \(start) has \(run.upperBound - at) bytes too many") }
    }
}
