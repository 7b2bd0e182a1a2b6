internal import Glibc
internal import Media

/// The index of an MP4 or MOV file (`moov`, ISO/IEC 14496-12, 8.2.1), in which a film's end is moved forward: libavformat has each track end with
/// its last sample, whatever its edit list says at the beginning.
struct MovieBox {
    var bytes: [UInt8]

    /// Takes the whole box with its header of 8 bytes.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the index of a file; nil where there is none at its top.
    init?(in descriptor: Int32) throws(SystemError) {
        guard let place = try Self.find("moov", in: descriptor), place.count <= Self.longest else { return nil }
        self = try Self.read(Int(place.count), at: place.offset, in: descriptor)
    }

    /// Shortens the edits that last longer, and the lengths of the tracks and of the film with them.
    mutating func endEdits(at end: MediaTime) {
        guard let movie = first("mvhd", in: 8..<bytes.count) else { return }
        let isLong = bytes[movie.lowerBound + 8] == 1
        let scale = number(at: movie.lowerBound + (isLong ? 28 : 20), 4)
        guard scale > 0, scale <= Int32.max else { return }
        let limit = max(end.converted(to: Int32(scale)).value, 0)
        var longest: Int64 = 0
        for track in boxes("trak", in: 8..<bytes.count) {
            let content = track.lowerBound + 8..<track.upperBound
            guard let header = first("tkhd", in: content) else { continue }
            let place = header.lowerBound + (bytes[header.lowerBound + 8] == 1 ? 36 : 28), size = bytes[header.lowerBound + 8] == 1 ? 8 : 4
            var length = number(at: place, size)
            if let edits = first("edts", in: content), let list = first("elst", in: edits.lowerBound + 8..<edits.upperBound) {
                length = shorten(list, to: limit)
                set(length, at: place, size)
            }
            longest = max(longest, length)
        }
        set(longest, at: movie.lowerBound + (isLong ? 32 : 24), isLong ? 8 : 4)
    }

    /// The length of the track.
    private mutating func shorten(_ list: Range<Int>, to limit: Int64) -> Int64 {
        let isLong = bytes[list.lowerBound + 8] == 1, size = isLong ? 8 : 4, step = isLong ? 20 : 12
        var sum: Int64 = 0, place = list.lowerBound + 16
        while place + step <= list.upperBound {
            // A length of 0 would mean the rest of the film.
            let length = min(number(at: place, size), max(limit - sum, 1))
            set(length, at: place, size)
            sum += length
            place += step
        }
        return sum
    }

    /// The first box of this name at the top of a file; nil where there is none.
    /// - Parameter start: Where a box begins; those in front of it do not count.
    static func find(_ wanted: String, in descriptor: Int32, from start: Int64 = 0) throws(SystemError) -> (offset: Int64, count: Int64)? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError(errno, "look at the file") }
        var offset = start
        while offset + 16 <= Int64(status.st_size) {
            let head = try read(16, at: offset, in: descriptor)
            let short = head.number(at: 0, 4)
            let size = short == 1 ? head.number(at: 8, 8) : short
            guard size >= 8 else { return nil }
            if head.name(at: 4) == wanted { return short == 1 ? nil : (offset, size) }
            offset += size
        }
        return nil
    }

    // MARK: Bytes

    /// A movie box above this, 512 MiB, is none.
    private static let longest: Int64 = 1 << 29

    /// Reads a box.
    static func read(_ count: Int, at offset: Int64, in descriptor: Int32) throws(SystemError) -> MovieBox {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = unsafe pread(descriptor, &bytes, count, off_t(offset))
        guard got == count else { throw SystemError(got < 0 ? errno : EIO, "read the index") }
        return MovieBox(bytes)
    }

    func first(_ name: String, in range: Range<Int>) -> Range<Int>? { boxes(name, in: range).first }

    /// - Parameter wanted: nil for boxes of any name.
    func boxes(_ wanted: String?, in range: Range<Int>) -> [Range<Int>] {
        var found: [Range<Int>] = [], place = range.lowerBound
        while place + 8 <= range.upperBound {
            let size = Int(number(at: place, 4))
            guard size >= 8, place + size <= range.upperBound else { break }
            if wanted == nil || name(at: place + 4) == wanted { found.append(place..<place + size) }
            place += size
        }
        return found
    }

    func name(at place: Int) -> String { String(decoding: bytes[place..<place + 4], as: UTF8.self) }

    func number(at place: Int, _ size: Int) -> Int64 {
        Int64(truncatingIfNeeded: bytes[place..<place + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    mutating func set(_ value: Int64, at place: Int, _ size: Int) {
        for index in 0..<size { bytes[place + index] = UInt8(truncatingIfNeeded: value >> Int64(8 * (size - 1 - index))) }
    }
}
