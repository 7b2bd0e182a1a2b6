/// Changes messages: numbers of each width where numbers stand, lengths, order, descriptors. A pure value.
public struct Liar: Sendable {
    /// What was changed, in a message of which kind: the same change has much the same effect.
    public struct Trait: Hashable, Sendable, CustomStringConvertible {
        var change: String
        /// The message's first byte, which names its kind, and its length, as far as that tells messages with lists apart.
        var head, size: Int
        /// Of the byte that is changed; -1: of none.
        var place: Int

        init(_ change: String, _ bytes: [UInt8], _ place: Int = -1) {
            (self.change, self.place) = (change, place)
            (head, size) = (bytes.first.map(Int.init) ?? -1, bytes.count.leadingZeroBitCount)
        }

        /// One word.
        public var description: String { "\(change),\(head),\(size),\(place)" }

        /// What `description` says; nil for other words.
        public init?(_ word: some StringProtocol) {
            let parts = word.split(separator: ",")
            guard parts.count == 4, let head = Int(parts[1]), let size = Int(parts[2]), let place = Int(parts[3]) else { return nil }
            (change, self.head, self.size, self.place) = (String(parts[0]), head, size, place)
        }
    }

    /// What the last lie was.
    public private(set) var last = ""
    /// What the last lie has changed.
    public private(set) var traits: [Trait] = []
    /// Changes after which nobody has listened any more: others are tried in their place, where there are such.
    public var avoided: Set<Trait> = []
    private var state: UInt64
    private var old: [[UInt8]] = []

    public init(seed: UInt64) { state = seed }

    /// Whether to lie about the next message.
    public mutating func isInTheMood(oneIn rate: Int) -> Bool { below(rate) == 0 }

    /// Messages to say again later.
    public mutating func remember(_ bytes: [UInt8]) {
        if old.count < 32 { old.append(bytes) } else { old[below(32)] = bytes }
    }

    /// What to say instead, and whether the message's descriptors go with it.
    public mutating func lies(about bytes: [UInt8]) -> [([UInt8], Bool)] {
        for _ in 0..<(avoided.isEmpty ? 0 : 11) {
            let words = anyLies(about: bytes)
            if avoided.isDisjoint(with: traits) { return words }
        }
        return anyLies(about: bytes)
    }

    private mutating func anyLies(about bytes: [UInt8]) -> [([UInt8], Bool)] {
        var changed = bytes
        traits = []
        // A message that does not come is waited for as long as the process has time: rarely.
        if below(100) == 0 {
            note("dropped", bytes)
            return []
        }
        switch below(15) {
        case 0:
            note("cut", bytes)
            changed.removeLast(below(bytes.count))
            return [(changed, true)]
        case 1:
            note("prolonged", bytes)
            return [(bytes + [UInt8(below(256))], true)]
        case 2:
            note("twice", bytes)
            return [(bytes, true), (bytes, false)]
        case 3:
            note("old", bytes)
            return old.isEmpty ? [(bytes, true)] : [(old[below(old.count)], false), (bytes, true)]
        case 4:
            note("without descriptors", bytes)
            return [(bytes, false)]
        case 5, 6:
            for _ in 0...below(4) {
                let place = below(changed.count)
                note("bytes", bytes, place)
                changed[place] = UInt8(below(256))
            }
        case 7, 8:
            let place = below(changed.count)
            note("bit", bytes, place)
            changed[place] ^= 1 << UInt8(below(8))
        default: for _ in 0...below(2) { putNumber(&changed) }
        }
        return [(changed, true)]
    }

    private mutating func note(_ change: String, _ bytes: [UInt8], _ place: Int = -1) {
        last = change
        traits.append(Trait(change, bytes, place))
    }

    private static let edges: [UInt64] = [
        0, 1, 2, 63, 64, 127, 128, 255, 256, 4095, 4096, 65_535, 65_536, 1 << 20, 1 << 30, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, 1 << 63 - 1,
        1 << 63, .max,
    ]

    /// An edge, or a neighbour of what stands there, little-endian.
    private mutating func putNumber(_ bytes: inout [UInt8]) {
        let width = min([1, 2, 4, 8][below(4)], bytes.count), place = below(bytes.count - width + 1)
        var number: UInt64 = 0
        for index in 0..<width { number |= UInt64(bytes[place + index]) << (8 * index) }
        let isEdge = below(2) == 0
        note(isEdge ? "edge" : "neighbour", bytes, place)
        number = isEdge ? Self.edges[below(Self.edges.count)] : number &+ UInt64(below(65)) &- 32
        for index in 0..<width { bytes[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    }

    /// A number below `limit`; 0 where there is none (SplitMix64).
    public mutating func below(_ limit: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return limit > 0 ? Int((z ^ (z >> 31)) % UInt64(limit)) : 0
    }
}
