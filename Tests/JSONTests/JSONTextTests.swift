import Foundation
import JSON
import Testing

@Suite struct JSONTextTests {
    private static let value = JSONValue.object([
        .init("text", "quote \" backslash \\ newline \n bell \u{7} umlaut ü emoji 🎬"),
        .init("whole", 42), .init("negative", -7), .init("fraction", .number(0.125)), .init("wholeNumber", .number(3)),
        .init("nan", .number(.nan)), .init("infinite", .number(.infinity)), .init("nothing", nil), .init("truth", true),
        .init("list", .array([1, "two", .array([]), .object([])])),
    ])

    @Test(arguments: [value.text, value.prettyText]) func `another parser reads the same values`(_ text: String) throws {
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(parsed["text"] as? String == "quote \" backslash \\ newline \n bell \u{7} umlaut ü emoji 🎬")
        #expect(parsed["whole"] as? Int == 42)
        #expect(parsed["negative"] as? Int == -7)
        #expect(parsed["fraction"] as? Double == 0.125)
        #expect(parsed["nan"] is NSNull && parsed["infinite"] is NSNull && parsed["nothing"] is NSNull)
        #expect(parsed["truth"] as? Bool == true)
        #expect((parsed["list"] as? [Any])?.count == 4)
    }

    @Test func `nothing that a terminal obeys is in the text, and another parser reads it all`() throws {
        let hostile = "\u{1b}[31m \u{9b}2J \u{7f} \u{85} \u{202e} \u{e0041} \u{10fffe} 映"
        let text = JSONValue.object([.init(hostile, .string(hostile))]).text
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && $0.value < 0xE0000 })
        #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String] == [hostile: hostile])
    }

    @Test func `members keep their order`() {
        #expect(JSONValue.object([.init("b", 1), .init("a", 2)]).text == #"{"b": 1, "a": 2}"#)
        #expect(JSONValue.object([.init("b", 1), .init("a", .array([2]))]).prettyText == "{\n  \"b\": 1,\n  \"a\": [\n    2\n  ]\n}")
    }
}
