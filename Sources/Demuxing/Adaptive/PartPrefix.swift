/// Takes the ID3 tag off the beginning of a part of packed sound, and the time of the first sample out of it (RFC 8216, 3.4). A pure value.
struct PartPrefix {
    private var held: [UInt8] = []
    private var isOver = false
    /// In ninety-thousandths of a second.
    private(set) var timestamp: Int64?

    private static let owner = Array("com.apple.streaming.transportStreamTimestamp\0".utf8)

    /// Takes bytes of the part; those that follow the tag.
    mutating func update(_ bytes: [UInt8]) -> [UInt8] {
        if isOver { return bytes }
        held += bytes
        guard held.count >= 10 else { return [] }
        guard held.starts(with: Array("ID3".utf8)) else { return finish() }
        let size = held[6..<10].reduce(0) { $0 << 7 | Int($1 & 0x7F) } + 10
        guard held.count >= size else { return [] }
        if let place = held[..<size].firstRange(of: Self.owner)?.upperBound, size - place >= 8 {
            timestamp = held[place..<place + 8].reduce(0) { $0 << 8 | Int64($1) } & 0x1_FFFF_FFFF
        }
        held.removeFirst(size)
        // A part may begin with several.
        return held.starts(with: Array("ID3".utf8)) ? update([]) : finish()
    }

    /// What is left of a part that ends.
    mutating func finish() -> [UInt8] {
        isOver = true
        defer { held = [] }
        return held
    }
}
