/// How long a file is by what its own outermost structure says, to tell a film that was cut from one that ends.
///
/// A pure function over the file's bytes. ISO base media (ISO/IEC 14496-12, 4.2), Matroska (RFC 8794, RFC 9559) and RIFF say it; other containers,
/// and live recordings that leave their lengths open, say nothing.
enum PromisedBytes {
    /// The number of bytes that the file promises to have; nil where it does not say.
    ///
    /// - Parameters:
    ///   - count: How many it has.
    ///   - read: The bytes at an offset, fewer than asked for at the end.
    static func count(has count: Int64, _ read: (_ offset: Int64, _ count: Int) -> [UInt8]) -> Int64? {
        guard count > 0 else { return nil }
        let head = read(0, 64)
        if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return matroska(head) }
        if head.starts(with: Array("RIFF".utf8)) { return riff(head) }
        return boxes(has: count, read)
    }

    /// More parts than this has only a film in fragments, whose last part a walk from the beginning takes too long to find.
    private static let mostBoxes = 256
    private static let boxNames: Set<String> = [
        "ftyp", "styp", "moov", "mdat", "moof", "mfra", "free", "skip", "wide", "uuid", "meta", "pdin", "sidx", "udta",
    ]

    private static func boxes(has count: Int64, _ read: (Int64, Int) -> [UInt8]) -> Int64? {
        var offset: Int64 = 0
        for _ in 0..<mostBoxes where offset < count {
            let head = read(offset, 16)
            guard head.count >= 8, boxNames.contains(String(decoding: head[4..<8], as: UTF8.self)) else { return nil }
            var size = number(head[0..<4])
            if size == 1 {
                guard head.count == 16 else { return nil }
                size = number(head[8..<16])
            }
            // 0: to the end of the file.
            guard size >= 8 else { return nil }
            let (end, overflow) = offset.addingReportingOverflow(size)
            guard !overflow else { return nil }
            offset = end
        }
        return offset >= count ? offset : nil
    }

    private static func matroska(_ head: [UInt8]) -> Int64? {
        guard let (size, length) = variable(head.dropFirst(4)), size < 48 else { return nil }
        let segment = head.dropFirst(4 + length + Int(size))
        guard segment.starts(with: [0x18, 0x53, 0x80, 0x67]), let (bytes, width) = variable(segment.dropFirst(4)) else { return nil }
        return Int64(segment.startIndex + 4 + width) + bytes
    }

    /// A number of EBML and how many bytes it takes; nil for the one that means "unknown".
    private static func variable(_ bytes: ArraySlice<UInt8>) -> (value: Int64, length: Int)? {
        guard let first = bytes.first, first != 0 else { return nil }
        let length = first.leadingZeroBitCount + 1
        guard bytes.count >= length else { return nil }
        let unknown = (Int64(1) << (7 * length)) - 1
        let value = number(bytes.prefix(length)) & unknown
        return value == unknown || value > 1 << 50 ? nil : (value, length)
    }

    private static func riff(_ head: [UInt8]) -> Int64? {
        guard head.count >= 8 else { return nil }
        let size = number(ArraySlice(head[4..<8].reversed()))
        // What writers put there who cannot go back.
        return size == 0 || size >= 0x7FFF_0000 ? nil : 8 + size
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }
}
