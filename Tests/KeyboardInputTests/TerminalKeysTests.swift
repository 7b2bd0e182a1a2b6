import DisplaySink
import KeyboardInput
import Testing

@Suite struct TerminalKeysTests {
    /// What a terminal sends, and the keys it means.
    @Test(
        arguments: [
            ("q", [.q]), (" ", [.space]), ("\u{1b}", [.escape]), ("\u{1b}[A", [.up]), ("\u{1b}[B", [.down]), ("\u{1b}[C", [.right]),
            ("\u{1b}[D", [.left]), ("\u{1b}OD", [.left]), ("\u{7f}", [.backspace]), ("\u{8}", [.backspace]), ("\u{1b}[", []), ("\u{1b}[1;", []),
            ("\u{1b}q", [.escape, .q]), ("\u{1b}\u{1b}[A", [.escape, .up]), ("\r\n", [.enter, .enter]), ("\u{1b}[5~\u{1b}[6~", [.pageUp, .pageDown]),
        ] as [(String, [PlayerKey])])
    func `terminals send keys in their own way`(text: String, keys: [PlayerKey]) { #expect(TerminalKeys.keys(Array(text.utf8)) == keys) }

    /// The same, with the keys by their names.
    @Test(arguments: [
        ("y\u{1b}[[Aq", "y F1 q"), ("[]90,.mfM#", "[ ] 9 0 , . m f M #"), ("\u{1b}[15~\u{1b}[C", "F5 RIGHT"), ("é€\u{1f3ac}", "é € \u{1f3ac}"),
        ("\t\u{1}\u{1a}", "TAB Ctrl+a Ctrl+z"), ("\u{1b}[2~\u{1b}[5;5~", "INS Ctrl+PGUP"), ("\u{1b}[1;5C\u{1b}[1;3C", "Ctrl+RIGHT Alt+RIGHT"),
        ("\u{1b}[1;2A\u{1b}[1;8B", "Shift+UP Ctrl+Alt+Shift+DOWN"), ("\u{1b}OP\u{1b}[24~\u{1b}[H\u{1b}[4~", "F1 F12 HOME END"),
        ("\u{1b}[99~\u{1c}", ""),
    ])
    func `keys have mpv's names`(text: String, names: String) {
        #expect(TerminalKeys.keys(Array(text.utf8)).map(\.rawValue).joined(separator: " ") == names)
    }
}
