import DisplaySink
import KeyboardInput
import TestSupport
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
        ("\u{1b}[99~\u{1c}", ""), ("\u{1b}[1;-9223372036854775808A\u{1b}[1;99999999999999999999A", "UP UP"),
    ])
    func `keys have mpv's names`(text: String, names: String) {
        #expect(TerminalKeys.keys(Array(text.utf8)).map(\.rawValue).joined(separator: " ") == names)
    }

    /// What is pasted into a terminal may be anything.
    @Test func `no bytes do harm`() {
        var dice = Dice(seed: 27)
        let parts = ["\u{1b}", "[", "O", ";", "-", "~", "A", "9223372036854775807", "[[", "\u{80}", "é"].map { Array($0.utf8) }
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...12, using: &dice)).flatMap { _ in
                Bool.random(using: &dice) ? parts.randomElement(using: &dice)! : [UInt8.random(in: 0...255, using: &dice)]
            }
            #expect(TerminalKeys.keys(bytes).count <= bytes.count)
        }
    }
}
