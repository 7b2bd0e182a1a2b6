import KMSSink
import Testing

@Suite struct EDIDTests {
    static func edid(_ descriptors: [Int: [UInt8]]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 128)
        for (index, descriptor) in descriptors { bytes.replaceSubrange(54 + 18 * index..<54 + 18 * index + descriptor.count, with: descriptor) }
        return bytes
    }

    @Test func `monitors tell their names`() {
        let name: [UInt8] = [0, 0, 0, 0xfc, 0] + Array("DELL U2720Q\n ".utf8)
        #expect(EDID.monitorName(Self.edid([1: name])) == "DELL U2720Q")
        #expect(EDID.monitorName(Self.edid([0: [0, 0, 0, 0xff, 0] + Array("serial\n".utf8), 3: name])) == "DELL U2720Q")
        #expect(EDID.monitorName(Self.edid([0: [0, 0, 0, 0xfc, 0] + Array("full 13 chars".utf8)])) == "full 13 chars")
        #expect(EDID.monitorName(Self.edid([0: [0, 0, 0, 0xfc, 0] + Array("a\u{1}b\n".utf8)])) == "a?b")
        #expect(EDID.monitorName(Self.edid([0: [0, 0, 0, 0xfc, 0] + Array("   \n".utf8)])) == nil)
        #expect(EDID.monitorName(Self.edid([:])) == nil)
        #expect(EDID.monitorName(Array(Self.edid([1: name]).prefix(127))) == nil)
        #expect(EDID.monitorName([]) == nil)
    }
}
