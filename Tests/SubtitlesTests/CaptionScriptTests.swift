import Foundation
import Testing

@testable import Subtitles

/// Windows of CEA-708 as lines for libass.
@Suite struct CaptionScriptTests {
    private static func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// The lines that are shown behind these commands.
    private static func lines(_ bytes: [UInt8], width: Int = 1920, height: Int = 1080) -> [String] {
        var service = CaptionService()
        service.take(bytes, at: 0)
        let text = CaptionScript(width: width, height: height).text(service.windows)
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Without tags, hard blanks as points.
    private static func words(_ line: String?) -> [String] {
        let text = line?.split(separator: ",", maxSplits: 8, omittingEmptySubsequences: false).last.map(String.init) ?? ""
        return text.replacing(/{[^}]*}/, with: "").replacing("\\h", with: ".").components(separatedBy: "\\N")
    }

    /// A visible window without a fill, 2 rows of 6, at this place.
    private static func window(_ place: [UInt8], styles: UInt8 = 0x11, priority: UInt8 = 0) -> [UInt8] {
        [0x98, 0x20 | priority, place[0], place[1], place[2] << 4 | 1, 5, styles]
    }

    struct Place: Sendable {
        let bytes: [UInt8]
        let width: Int
        let expected: String

        init(_ bytes: [UInt8], width: Int = 1920, _ expected: String) { (self.bytes, self.width, self.expected) = (bytes, width, expected) }
    }

    @Test(
        arguments: [
            Place([0, 0, 0], "\\an7\\pos(192,108)"), Place([74, 209, 8], "\\an3\\pos(1728,972)"), Place([37, 104, 4], "\\an5\\pos(956,540)"),
            Place([0x80 | 99, 50, 7], "\\an2\\pos(968,972)"), Place([0x80, 0, 2], "\\an9\\pos(192,108)"),
            Place([0, 159, 3], width: 1440, "\\an4\\pos(1728,108)"), Place([127, 255, 6], "\\an1\\pos(1728,972)"),
        ])
    func `a window lies where its anchor is`(_ place: Place) throws {
        let line = try #require(Self.lines(Self.window(place.bytes) + Self.ascii("hi"), width: place.width).first)
        #expect(line.contains("{\(place.expected)}"), "\(line)")
    }

    struct Row: Sendable {
        let styles: UInt8
        let attributes: [UInt8]
        let expected: [String]
    }

    @Test(
        arguments: [
            Row(styles: 0x11, attributes: [], expected: ["abc...", "d....."]),
            Row(styles: 0x19, attributes: [], expected: [".abc..", "..d..."]),
            Row(styles: 0x11, attributes: [0x97, 0xc0, 0, 1, 0], expected: ["...abc", ".....d"]),
            Row(styles: 0x11, attributes: [0x97, 0xc0, 0, 0x10, 0], expected: ["...abc", ".....d"]),
        ])
    func `rows are as long as the window`(_ row: Row) {
        let lines = Self.lines(Self.window([0, 0, 0], styles: row.styles) + row.attributes + Self.ascii("abc") + [0x0d] + Self.ascii("d"))
        #expect(lines.count == 1 && Self.words(lines.first) == row.expected)
    }

    @Test func `windows that show nothing have no line, filled ones have`() {
        let open = Self.window([0, 0, 0])
        #expect(Self.lines(open).isEmpty && Self.lines([]).isEmpty && Self.lines(open + Self.ascii("a") + [0x8a, 1]).isEmpty)
        #expect(Self.words(Self.lines(Self.window([0, 0, 0], styles: 0x09)).first) == ["......", "......"])
    }

    @Test func `a window of priority 0 lies above the others`() {
        let other: [UInt8] = [0x99, 0x23, 0, 0, 1, 5, 0x11]
        let lines = Self.lines(Self.window([0, 0, 0]) + Self.ascii("a") + other + Self.ascii("b"))
        #expect(lines.map { $0.prefix(8) } == ["0,7,Box,", "1,4,Box,"])
    }

    @Test func `looks`() throws {
        let pen: [UInt8] = [0x90, 0x06, 0xc3], colors: [UInt8] = [0x91, 0x30, 0x83, 0]
        let line = try #require(Self.lines(Self.window([0, 0, 0]) + pen + colors + Self.ascii("a")).first)
        #expect(line.contains("{\\rBox\\3c&HFF0000&\\3a&H80&\\1c&H0000FF&\\1a&H00&\\fnmonospace\\fs72.0\\i1\\u1}a"), "\(line)")
        #expect(line.contains("{\\rBox\\3c&H000000&\\3a&HFF&\\1a&HFF&\\fs72.0}\\h"), "nothing is seen of what was not written: \(line)")
        let edged = Self.lines(Self.window([0, 0, 0], styles: 0x16) + Self.ascii("ab")).first
        #expect(edged?.contains("{\\rEdge\\3c&H000000&\\1c&HFFFFFF&\\1a&H00&\\fnmonospace}ab") == true, "once for both: \(edged ?? "")")
    }

    @Test func `characters that mean something to libass are shown`() {
        let lines = Self.lines(Self.window([0, 0, 0]) + Self.ascii("{\\N}"))
        #expect(lines.first?.contains("}\\{\\\u{2060}N\\}{") == true, "\(lines)")
        let turned = Self.lines(Self.window([0, 0, 0]) + [0x18, 0x20, 0x2e] + Self.ascii("a"))
        #expect(turned.first?.contains("}\\ha{") == true, "a mark that turns the row: \(turned)")
    }
}
