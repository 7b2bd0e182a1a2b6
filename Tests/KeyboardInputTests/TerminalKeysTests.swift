import DisplaySink
import KeyboardInput
import Testing

@Suite struct TerminalKeysTests {
    /// What a terminal sends, and the keys it means.
    @Test(
        arguments: [
            ("q", [.q]), (" ", [.space]), ("\u{1b}", [.escape]), ("\u{1b}[A", [.up]), ("\u{1b}[B", [.down]), ("\u{1b}[C", [.right]),
            ("\u{1b}[D", [.left]), ("\u{1b}OD", [.left]), ("\u{1b}[1;5C", [.right]), ("\u{7f}", [.backspace]), ("\u{8}", [.backspace]),
            ("y\u{1b}[[Aq", [.up, .q]), ("[]", [.leftBracket, .rightBracket]), ("90,.mf", [.nine, .zero, .comma, .period, .m, .f]),
            ("\u{1b}[15~\u{1b}[C", [.right]), ("\u{1b}[", []), ("\u{1b}[1;", []), ("\u{1b}q", [.escape, .q]), ("\u{1b}\u{1b}[A", [.escape, .up]),
            ("é", []), ("jJvzx", [.j, .capitalJ, .v, .z, .x]), ("\r\n<>", [.enter, .enter, .less, .greater]),
            ("p{}/*", [.p, .leftBrace, .rightBrace, .slash, .asterisk]), ("\u{1b}[5~\u{1b}[6~", [.pageUp, .pageDown]), ("\u{1b}[2~\u{1b}[5;5~", []),
            ("\u{1b}[1;2A\u{1b}[1;2B", [.shiftUp, .shiftDown]), ("\u{1b}[1;2D\u{1b}[1;2C", [.shiftLeft, .shiftRight]),
        ] as [(String, [PlayerKey])])
    func `terminals send keys in their own way`(text: String, keys: [PlayerKey]) { #expect(TerminalKeys.keys(Array(text.utf8)) == keys) }
}
