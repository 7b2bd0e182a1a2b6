/// The bytes of a film that came last, so that small steps back need no connection, and a new connection can be compared with the one before.
struct RecentBytes {
    /// 64 KiB: as much as libavformat's buffer holds.
    private static let limit = 65_536

    private var bytes: [UInt8] = []
    /// The offset behind the last byte.
    private(set) var end: Int64 = 0

    var count: Int { bytes.count }

    /// Adds bytes that were read from `offset`. Those of another place are forgotten.
    mutating func append(_ added: UnsafeRawBufferPointer, at offset: Int64) {
        if offset != end { bytes.removeAll(keepingCapacity: true) }
        unsafe bytes.append(contentsOf: added)
        end = offset + Int64(added.count)
        if bytes.count > 2 * Self.limit { bytes.removeFirst(bytes.count - Self.limit) }
    }

    /// The last `count` bytes, fewer where there are fewer.
    func last(_ count: Int) -> [UInt8] { Array(bytes.suffix(count)) }

    /// Copies the bytes from `offset` on, as far as they are here; how many.
    func copy(to target: UnsafeMutableRawBufferPointer, from offset: Int64) -> Int {
        let start = end - Int64(bytes.count)
        guard offset >= start, offset < end else { return 0 }
        let part = bytes[Int(offset - start)...].prefix(target.count)
        unsafe target.copyBytes(from: part)
        return part.count
    }
}
