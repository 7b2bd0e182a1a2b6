import DisplaySink
import Testing

@Suite struct ConsoleTests {
    /// What a terminal sends, and the keys it means.
    @Test(
        arguments: [
            ("q", [.q]), (" ", [.space]), ("\u{1b}", [.escape]), ("\u{1b}[A", [.up]), ("\u{1b}[B", [.down]), ("\u{1b}[C", [.right]),
            ("\u{1b}[D", [.left]), ("\u{1b}OD", [.left]), ("\u{1b}[1;5C", [.right]), ("\u{7f}", [.backspace]), ("\u{8}", [.backspace]),
            ("x\u{1b}[[Aq", [.up, .q]), ("[]", [.leftBracket, .rightBracket]), ("90,.mf", [.nine, .zero, .comma, .period, .m, .f]),
            ("\u{1b}[15~\u{1b}[C", [.right]), ("\u{1b}[", []), ("\u{1b}[1;", []), ("\u{1b}q", [.escape, .q]), ("\u{1b}\u{1b}[A", [.escape, .up]),
            ("é", []),
        ] as [(String, [PlayerKey])])
    func `terminals send keys in their own way`(text: String, keys: [PlayerKey]) { #expect(TerminalKeys.keys(Array(text.utf8)) == keys) }

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
