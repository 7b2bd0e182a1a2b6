import Testing

@testable import Subtitles

/// What commands of CEA-708 write into windows, and what of it is seen.
@Suite struct CaptionServiceTests {
    /// Window 0: visible, two rows of eight columns; the styles of window and pen.
    private static func define(_ window: UInt8 = 0, head: UInt8 = 0x20, rows: UInt8 = 2, columns: UInt8 = 8, styles: UInt8 = 0x09) -> [UInt8] {
        [0x98 + window, head, 0, 0, rows - 1, columns - 1, styles]
    }

    private static func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// The rows of a window, blanks for what was not written; nil where the window is not there.
    private static func rows(_ service: CaptionService, _ window: Int = 0) -> [String]? {
        service.windows[window]?.cells.map { cells in
            String(String.UnicodeScalarView(cells.map { $0?.character ?? "." })).replacing(/\.+$/, with: "")
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let expected: [String]?

        init(_ name: String, _ parts: [[UInt8]], _ expected: [String]?) {
            (testDescription, bytes, self.expected) = (name, parts.flatMap(\.self), expected)
        }
    }

    private static let wrapping: [UInt8] = [0x97, 0, 0, 0x40, 0]

    @Test(
        arguments: [
            Case("characters", [define(), ascii("hello")], ["hello", ""]), Case("no window", [ascii("hello")], nil),
            Case("a backspace", [define(), ascii("hello"), [8, 8], ascii("y")], ["hely", ""]),
            Case("a backspace at the beginning", [define(), [8], ascii("a")], ["a", ""]),
            Case("the next row", [define(), ascii("a"), [0x0d], ascii("b")], ["a", "b"]),
            Case("rows go up", [define(), ascii("a"), [0x0d], ascii("b"), [0x0d], ascii("c")], ["b", "c"]),
            Case("rows go down", [define(), [0x97, 0, 0, 0x08, 0], ascii("a"), [0x0d], ascii("b")], ["b", "a"]),
            Case("an empty row", [define(), ascii("ab"), [0x0e], ascii("c")], ["c", ""]),
            Case("an empty window", [define(), ascii("a"), [0x0d], ascii("b"), [0x0c], ascii("c")], ["c", ""]),
            Case("a pen that moves", [define(), [0x92, 1, 3], ascii("x")], ["", "...x"]),
            Case("a pen that moves too far", [define(), [0x92, 9, 63], ascii("x")], ["", ""]),
            Case("longer than the window", [define(), ascii("123456789")], ["123456789", ""]),
            Case("words", [define(), wrapping, ascii("one two three")], ["one two ", "three"]),
            Case("a word that ends at the edge", [define(), wrapping, ascii("one more two")], ["one more", "two"]),
            Case("a word longer than the row", [define(), wrapping, ascii("123456789")], ["12345678", "9"]),
            Case("the word that moves", [define(), wrapping, ascii("ab cdefgh")], ["ab ", "cdefgh"]),
            Case("defined again", [define(), ascii("hello"), define(rows: 3), ascii("!")], ["hello!", "", ""]),
            Case("defined smaller", [define(), [0x0d], ascii("a"), define(rows: 1), ascii("b")], [".b"]),
            Case("deleted", [define(), ascii("a"), [0x8c, 1], ascii("b")], nil),
            Case("deleted and defined", [define(), ascii("a"), [0x8c, 1], define(), ascii("b")], ["b", ""]),
            Case("cleared", [define(), ascii("a"), [0x88, 1], ascii("b")], ["b", ""]), Case("reset", [define(), [0x8f], ascii("b")], nil),
            Case("another window", [define(), define(1), ascii("a"), [0x80], ascii("b")], ["b", ""]),
            Case("a window that is not there", [define(), [0x83], ascii("b")], ["b", ""]),
        ])
    func `what is written`(_ example: Case) {
        var service = CaptionService()
        service.take(example.bytes, at: 0)
        #expect(Self.rows(service) == example.expected)
        // One byte at a time it is the same.
        var other = CaptionService()
        for byte in example.bytes { other.take([byte], at: 0) }
        #expect(other.windows == service.windows)
    }

    @Test func `windows are shown and hidden by their bits`() {
        var service = CaptionService()
        service.take(Self.define(0) + Self.define(1, head: 0) + Self.define(2), at: 0)
        func visible() -> [Int] { service.windows.indices.filter { service.windows[$0]?.isVisible == true } }
        #expect(visible() == [0, 2])
        service.take([0x89, 0xff], at: 0)
        #expect(visible() == [0, 1, 2])
        service.take([0x8a, 0b101], at: 0)
        #expect(visible() == [1])
        service.take([0x8b, 0b11], at: 0)
        #expect(visible() == [0])
    }

    @Test func `nothing happens while a delay lasts`() {
        var service = CaptionService()
        service.take(Self.define() + Self.ascii("a") + [0x8d, 5] + Self.ascii("b"), at: 1000)
        #expect(Self.rows(service) == ["a", ""] && service.due == 1500)
        service.take(Self.ascii("c"), at: 1400)
        #expect(Self.rows(service) == ["a", ""])
        service.proceed(at: 1500)
        #expect(Self.rows(service) == ["abc", ""] && service.due == nil)
        service.take([0x8d, 5] + Self.ascii("d"), at: 2000)
        service.take(Self.ascii("e"), at: 2500)
        #expect(Self.rows(service) == ["abcde", ""], "it is over with what comes then")
    }

    @Test(arguments: [[0x8e], [0x8f], [UInt8](repeating: 0x41, count: 128)]) func `what ends a delay`(_ bytes: [UInt8]) {
        var service = CaptionService()
        service.take(Self.define() + [0x8d, 255] + Self.ascii("b"), at: 0)
        #expect(Self.rows(service) == ["", ""])
        // As a parameter the byte is none of these commands.
        service.take([0x92, 0, 0x8e], at: 1)
        #expect(service.due == 25_500)
        service.take(bytes, at: 2)
        #expect(service.due == nil)
    }

    @Test func `styles of windows and pens`() {
        var service = CaptionService()
        service.take(Self.define(styles: 0x1e) + Self.ascii("a"), at: 0)
        let window = service.windows[0], pen = window?.cells[0][0]?.pen
        #expect(window?.attributes.justification == .center && window?.attributes.fill == .black)
        #expect(pen?.face.edge == .uniform && pen?.colors.back == CaptionPen.Ink.none && pen?.face.font == 3)
        // 0 changes nothing of one that is there.
        service.take(Self.define(styles: 0), at: 0)
        #expect(service.windows[0]?.attributes == window?.attributes && service.windows[0]?.pen == pen)
        service.take(Self.define(styles: 0x29), at: 0)
        #expect(service.windows[0]?.attributes == CaptionWindow.Attributes(style: 5) && service.windows[0]?.pen == CaptionPen())
    }

    @Test func `bytes without an end are not kept`() {
        var service = CaptionService()
        service.take(Self.define() + [0x10, 0x90, 31] + [UInt8](repeating: 1, count: 20), at: 0)
        service.take([UInt8](repeating: 1, count: 11) + Self.ascii("a"), at: 0)
        #expect(Self.rows(service) == ["a", ""])
    }
}
