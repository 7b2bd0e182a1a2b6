/// Puts the packets of CEA-708 together from their triplets, and takes them apart into what they hold for each service (CEA-708, 5 and 6.2).
///
/// Any bytes may be given: a packet that is cut short, or that says it holds more than it does, yields what there is of it up to there. A pure value.
package struct CaptionPackets: Sendable {
    /// What a packet holds for one service.
    package struct Block: Sendable, Hashable {
        /// 1 to 63: 1 is the primary language, 2 the secondary one.
        package var service: Int
        /// Characters and commands.
        package var bytes: [UInt8]
    }

    /// The head and what follows, as far as it has come; empty between packets.
    private var packet: [UInt8] = []

    package init() {}

    /// The film goes on elsewhere.
    package mutating func reset() { packet = [] }

    /// Takes triplets, and hands out the blocks of the packets that they complete.
    package mutating func take(_ triplets: [UInt8]) -> [Block] {
        var blocks: [Block] = []
        for place in stride(from: 0, to: triplets.count - 2, by: 3) where triplets[place] & 4 != 0 {
            switch triplets[place] & 3 {
            case 3: packet = Array(triplets[place + 1...place + 2])
            // The rest of a packet whose beginning is not known says nothing.
            case 2: if !packet.isEmpty { packet += triplets[place + 1...place + 2] }
            default: continue
            }
            guard let head = packet.first, packet.count >= Self.length(head) else { continue }
            blocks += Self.blocks(packet[1..<Self.length(head)])
            packet = []
        }
        return blocks
    }

    /// Bytes of a packet with its head, whose lower six bits say it.
    private static func length(_ head: UInt8) -> Int { head & 63 == 0 ? 128 : Int(head & 63) * 2 }

    private static func blocks(_ bytes: ArraySlice<UInt8>) -> [Block] {
        var blocks: [Block] = [], rest = bytes
        while let head = rest.popFirst() {
            let count = Int(head & 31)
            var service = Int(head >> 5)
            // A block of no service ends the packet.
            guard service > 0 else { break }
            if service == 7, count > 0 {
                guard let more = rest.popFirst() else { break }
                service = Int(more & 63)
            }
            let content = rest.prefix(count)
            rest = rest.dropFirst(count)
            if service > 0, !content.isEmpty { blocks.append(Block(service: service, bytes: Array(content))) }
        }
        return blocks
    }
}
