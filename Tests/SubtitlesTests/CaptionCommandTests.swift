import Testing

@testable import Subtitles

/// The codes of CEA-708, as the standard lists them.
@Suite struct CaptionCommandTests {
    /// All commands of these bytes, with how many bytes are left.
    private static func read(_ bytes: [UInt8]) -> (commands: [CaptionCommand], left: Int) {
        var rest = bytes[...], command: CaptionCommand?, commands: [CaptionCommand] = []
        while CaptionCommand.read(&rest, &command) { if let command { commands.append(command) } }
        return (commands, rest.count)
    }

    struct Case: Sendable {
        let bytes: [UInt8]
        let expected: [CaptionCommand]

        init(_ bytes: [UInt8], _ expected: [CaptionCommand]) { (self.bytes, self.expected) = (bytes, expected) }
    }

    @Test(
        arguments: [
            Case([0x41, 0x7e, 0x7f], [.character("A"), .character("~"), .character("\u{266a}")]),
            Case([0xa1, 0xff], [.character("¡"), .character("ÿ")]),
            Case([0x10, 0x25, 0x10, 0x3a, 0x10, 0x7f], [.character("…"), .character("š"), .character("┌")]),
            Case([0x10, 0x26, 0x10, 0xa1], [.character("_"), .character("_")]),
            Case([0x18, 0xac, 0x00], [.character("\u{ac00}")]),
            // Half of a character of two is none; nor is a control character.
            Case([0x18, 0xd8, 0x00, 0x18, 0x00, 0x0d, 0x41], [.character("A")]),
            Case([0x00, 0x03, 0x08, 0x0c, 0x0d, 0x0e], [.backspace, .formFeed, .carriageReturn, .rowReturn]),
            Case([0x80, 0x87], [.choose(window: 0), .choose(window: 7)]),
            Case(
                [0x88, 1, 0x89, 2, 0x8a, 4, 0x8b, 8, 0x8c, 0xff],
                [.clear(1), .show(2), .hide(4), .toggle(8), .delete(255)]),
            Case([0x8d, 15, 0x8e, 0x8f], [.delay(1500), .endDelay, .reset]),
            Case([0x92, 0xf3, 0xc5], [.movePen(row: 3, column: 5)]),
            // Codes without a meaning are passed over with their parameters.
            Case([0x11, 0x41, 0x19, 0x41, 0x41, 0x93, 0x94, 0x42], [.character("B")]),
            Case([0x10, 0x07, 0x10, 0x0f, 1, 0x10, 0x17, 1, 2, 0x10, 0x1f, 1, 2, 3, 0x42], [.character("B")]),
            Case([0x10, 0x87, 1, 2, 3, 4, 0x10, 0x8f, 1, 2, 3, 4, 5, 0x10, 0x90, 2, 1, 2, 0x42], [.character("B")]),
        ])
    func `codes`(_ example: Case) {
        let (commands, left) = Self.read(example.bytes)
        #expect(commands == example.expected && left == 0)
    }

    @Test(
        arguments: [
            [0x18, 1], [0x88], [0x91, 1, 2], [0x97, 1, 2, 3], [0x98, 1, 2, 3, 4, 5], [0x10], [0x10, 0x1f, 1], [0x10, 0x90], [0x10, 0x90, 3, 1],
        ])
    func `a command whose end has not come stays`(_ bytes: [UInt8]) {
        let (commands, left) = Self.read([0x41] + bytes)
        #expect(commands == [.character("A")] && left == bytes.count)
    }

    @Test func `the look of characters`() {
        var face = CaptionPen.Face(font: 3, edge: .uniform)
        (face.size, face.isItalic) = (2, true)
        #expect(Self.read([0x90, 0x06, 0x9b]).commands == [.setPen(face)])
        var colors = CaptionPen.Colors(back: CaptionPen.Ink(color: 0x03, opacity: .translucent))
        (colors.text, colors.edge) = (CaptionPen.Ink(color: 0x30, opacity: .solid), 0x0c)
        #expect(Self.read([0x91, 0x30, 0x83, 0x0c]).commands == [.setColors(colors)])
    }

    @Test func `windows`() {
        var attributes = CaptionWindow.Attributes(style: 2)
        (attributes.fill, attributes.justification) = (CaptionPen.Ink(color: 0x2a, opacity: .translucent), .center)
        (attributes.wrapsWords, attributes.scrollsDown) = (true, true)
        #expect(Self.read([0x97, 0xaa, 0x00, 0x4a, 0x00]).commands == [.setAttributes(attributes)])
        let commands = Self.read([0x9a, 0x3d, 0xca, 0x32, 0x72, 0x1f, 0x13]).commands
        guard case .define(window: 2, let definition)? = commands.first else {
            Issue.record("\(commands)")
            return
        }
        #expect(definition.isVisible && definition.priority == 5 && definition.isRelative && (definition.row, definition.column) == (74, 50))
        #expect(definition.anchor == 7 && (definition.rows, definition.columns) == (3, 32))
        #expect((definition.windowStyle, definition.penStyle) == (2, 3))
        let most = CaptionWindow.Definition([0, 0, 0, 0xff, 0xff, 0])
        #expect(most.rows == 15 && most.columns == 42 && most.anchor == 8, "no more than a frame holds")
    }
}
