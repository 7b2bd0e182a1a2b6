import Testing

@testable import Bitstream

/// Packets of CEA-708, as the standard lays them out.
@Suite struct CaptionPacketsTests {
    /// The triplets of a packet: its head, then what it holds.
    private static func triplets(_ content: [UInt8], head: UInt8? = nil) -> [UInt8] {
        var packet = content
        packet.insert(head ?? UInt8((content.count + 2) / 2), at: 0)
        if !packet.count.isMultiple(of: 2) { packet.append(0) }
        var triplets: [UInt8] = []
        for place in stride(from: 0, to: packet.count, by: 2) { triplets += [place == 0 ? 0xff : 0xfe, packet[place], packet[place + 1]] }
        return triplets
    }

    private typealias Block = CaptionPackets.Block

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let triplets: [UInt8]
        let expected: [CaptionPackets.Block]

        init(_ name: String, _ triplets: [UInt8], _ expected: [(Int, [UInt8])]) {
            (testDescription, self.triplets) = (name, triplets)
            self.expected = expected.map { CaptionPackets.Block(service: $0.0, bytes: $0.1) }
        }
    }

    @Test(
        arguments: [
            Case("a block", triplets([0x22, 0x41, 0x42]), [(1, [0x41, 0x42])]),
            Case("two services", triplets([0x22, 0x41, 0x42, 0x41, 0x43]), [(1, [0x41, 0x42]), (2, [0x43])]),
            Case("the number in a byte of its own", triplets([0xe1, 0x1f, 0x41]), [(31, [0x41])]),
            Case("an empty block between", triplets([0x20, 0x41, 0x43]), [(2, [0x43])]),
            Case("behind a block of no service", triplets([0x00, 0x22, 0x41, 0x42]), []),
            Case("a block that says it is longer", triplets([0x3f, 0x41, 0x42]), [(1, [0x41, 0x42])]),
            Case("its sequence number", triplets([0x22, 0x41, 0x42], head: 0xc2), [(1, [0x41, 0x42])]),
            Case("another packet too early", Array(triplets([0x24, 1, 2, 3, 4]).dropLast(3)) + triplets([0x21, 0x41]), [(1, [0x41])]),
            Case("the end of one whose beginning is unknown", [0xfe, 0x21, 0x41] + triplets([0x21, 0x42]), [(1, [0x42])]),
            Case("behind the end", triplets([0x21, 0x41]) + [0xfe, 0x21, 0x42], [(1, [0x41])]),
            Case("triplets that are not valid", [0xfa, 0x21, 0x41] + triplets([0x21, 0x42]) + [0xfa, 0, 0], [(1, [0x42])]),
            Case("triplets of CEA-608 between", [0xff, 0x02, 0x22, 0xfc, 0xc8, 0xe5, 0xfd, 0x80, 0x80, 0xfe, 0x41, 0x42], [(1, [0x41, 0x42])]),
            Case("half a triplet", triplets([0x22, 0x41, 0x42]).dropLast(), []), Case("nothing", [], []),
        ])
    func `packets are taken apart`(_ example: Case) {
        var packets = CaptionPackets()
        #expect(packets.take(example.triplets) == example.expected)
    }

    @Test func `a packet that says nothing of its length has 128 bytes`() {
        var content: [UInt8] = []
        for _ in 0..<32 { content += [0x22, 0x41, 0x42] }
        content += [UInt8](repeating: 0, count: 31)
        var packets = CaptionPackets()
        let triplets = Self.triplets(content, head: 0)
        #expect(triplets.count == 64 * 3 && packets.take(triplets).count == 32)
    }

    @Test func `a packet may come in pieces, and is forgotten at a seek`() {
        let triplets = Self.triplets([0x24, 1, 2, 3, 4])
        var packets = CaptionPackets()
        #expect(packets.take(Array(triplets.prefix(3))).isEmpty && packets.take(Array(triplets.dropFirst(3).prefix(3))).isEmpty)
        #expect(packets.take(Array(triplets.dropFirst(6))) == [Block(service: 1, bytes: [1, 2, 3, 4])])
        #expect(packets.take(Array(triplets.prefix(3))).isEmpty)
        packets.reset()
        #expect(packets.take(Array(triplets.dropFirst(3))).isEmpty)
    }
}
