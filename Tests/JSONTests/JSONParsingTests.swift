import JSON
import Testing

@Suite struct JSONParsingTests {
    @Test(
        arguments: [
            ("null", .null), (" true ", true), ("false", false), ("0", 0), ("-12", -12), ("1.5", .number(1.5)), ("-0.25e2", .number(-25)),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("\"\"", ""),
            (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz"), (#""\u00e9\ud83c\udfac""#, "é🎬"), (#""\ud83c!""#, "\u{FFFD}!"), ("\"é🎬\"", "é🎬"),
            ("[]", .array([])), ("[1, [2], \"3\"]", .array([1, .array([2]), "3"])), ("{}", .object([])),
            (
                #"{ "command": ["set", "pause"], "request_id":7 }"#,
                .object([JSONValue.Member("command", .array(["set", "pause"])), JSONValue.Member("request_id", 7)])
            ),
        ] as [(String, JSONValue)])
    func `a value is read`(_ text: String, _ expected: JSONValue) throws {
        #expect(try JSONValue(parsing: text.utf8) == expected)
    }

    @Test(arguments: [
        ("", 0), ("  ", 2), ("nul", 0), ("01", 0), ("1.", 2), ("1e", 2), ("-", 0), ("+1", 0), ("\"", 1), ("\"\n\"", 1), (#""\x""#, 2),
        (#""\u12g4""#, 5),
        ("[1,]", 3), ("[1 2]", 3), ("{\"a\" 1}", 5), ("{a: 1}", 1), ("{\"a\": 1,}", 8), ("1 2", 2), ("]", 0), ("NaN", 0),
    ])
    func `what is no JSON is refused at its place`(_ text: String, _ offset: Int) {
        do throws(JSONValue.SyntaxError) {
            let value = try JSONValue(parsing: text.utf8)
            Issue.record("\(value)")
        } catch { #expect(error.offset == offset) }
    }

    @Test func `values may stand 64 deep in each other, and no deeper`() throws {
        func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(64).utf8) }
        #expect(throws: JSONValue.SyntaxError.self) { try JSONValue(parsing: nested(65).utf8) }
        #expect(throws: JSONValue.SyntaxError.self) { try JSONValue(parsing: String(repeating: "[", count: 100_000).utf8) }
    }

    @Test func `what is written is read back`() throws {
        let value = JSONValue.object([
            JSONValue.Member("text", "\u{1b}[0m \"\\\n é🎬 \u{202e}"), JSONValue.Member("list", .array([1, .number(0.1), nil, true, .array([])])),
            JSONValue.Member("inner", .object([JSONValue.Member("", .integer(.min))])),
        ])
        #expect(try JSONValue(parsing: value.text.utf8) == value)
        #expect(try JSONValue(parsing: value.prettyText.utf8) == value)
        #expect(value["list"] == .array([1, .number(0.1), nil, true, .array([])]))
        #expect(value["none"] == nil && JSONValue.null["a"] == nil)
    }

    @Test func `any bytes are read or refused`() {
        var dice = SystemRandomNumberGenerator()
        let alphabet = Array("{}[]\",:\\u0019ea-+. \u{1}\u{e9}truefalsn".utf8) + [0xFF, 0xC3]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &dice)).map { _ in alphabet.randomElement(using: &dice)! }
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            #expect((try? JSONValue(parsing: value.text.utf8)) != nil, "\(bytes)")
        }
    }

    @Test func `what Python writes is read where that is asked for`() throws {
        let value = try JSONValue(parsing: "[NaN, Infinity, -Infinity, -1]".utf8, dialect: .python)
        guard case .array(let numbers) = value, numbers.count == 4, case .number(let first) = numbers[0] else {
            return #expect(Bool(false), "\(value)")
        }
        #expect(first.isNaN && numbers[1...] == [.number(.infinity), .number(-.infinity), -1])
        #expect(throws: JSONValue.SyntaxError.self) { try JSONValue(parsing: "[Infinity]".utf8) }
        #expect(try JSONValue(parsing: "[Inf, -Inf]".utf8, dialect: .python) == .array([.number(.infinity), .number(-.infinity)]))
        for text in ["-Infi", "Infin", "-", "-I"] {
            #expect(throws: JSONValue.SyntaxError.self) { try JSONValue(parsing: text.utf8, dialect: .python) }
        }
        let deep = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        #expect(throws: Never.self) { try JSONValue(parsing: deep.utf8, dialect: .python) }
        #expect(throws: JSONValue.SyntaxError.self) { try JSONValue(parsing: "[\(deep)]".utf8, dialect: .python) }
    }
}
