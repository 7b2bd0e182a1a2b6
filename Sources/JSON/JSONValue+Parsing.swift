extension JSONValue {
    /// What is wrong with a text that should be JSON, and at which of its bytes, from 0.
    public struct SyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The place, in bytes.
        public var offset: Int
        /// A sentence for people.
        public var description: String { "The text is not JSON: what stands at byte \(offset) is not expected there." }
    }

    /// What is read beyond RFC 8259, and how deep.
    public struct Dialect: Sendable, Hashable {
        /// `NaN`, `Infinity` and `-Infinity` are numbers, and so is `Inf`, as other libraries write it.
        public var hasNonFinite: Bool
        /// How deep values may stand in each other.
        public var depthLimit: Int

        /// Nothing beyond the standard; 64 deep.
        public static let standard = Dialect(hasNonFinite: false, depthLimit: 64)
        /// What Python's `json` writes; 128 deep.
        public static let python = Dialect(hasNonFinite: true, depthLimit: 128)
    }

    /// Reads one value (RFC 8259) that fills `bytes`, but for blanks around it.
    ///
    /// Bytes that are not UTF-8 become U+FFFD. Whole numbers within 64 bits are `integer`, all others `number`. Of several members with one name
    /// all are kept; `subscript(_:)` finds the last.
    ///
    /// - Throws: at the first byte that does not fit, and where values stand too deep in each other.
    public init(parsing bytes: some Sequence<UInt8>, dialect: Dialect = .standard) throws(SyntaxError) {
        var parser = JSONParser(bytes: Array(bytes), dialect: dialect)
        self = try parser.document()
    }

    /// The member with this name of an object; nil: there is none, or this is no object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }
}

/// Reads JSON from the front to the back.
private struct JSONParser {
    let bytes: [UInt8]
    let dialect: JSONValue.Dialect
    private var place = 0
    private var depth = 0

    init(bytes: [UInt8], dialect: JSONValue.Dialect) { (self.bytes, self.dialect) = (bytes, dialect) }

    mutating func document() throws(JSONValue.SyntaxError) -> JSONValue {
        let value = try value()
        skipBlanks()
        guard place == bytes.count else { throw unexpected }
        return value
    }

    private var unexpected: JSONValue.SyntaxError { JSONValue.SyntaxError(offset: place) }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place += 1 }
    }

    private mutating func take(_ byte: Character) -> Bool {
        skipBlanks()
        guard next == byte.asciiValue else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ byte: Character) throws(JSONValue.SyntaxError) {
        guard take(byte) else { throw unexpected }
    }

    private mutating func value() throws(JSONValue.SyntaxError) -> JSONValue {
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return try nested { (parser) throws(JSONValue.SyntaxError) in .object(try parser.members()) }
        case UInt8(ascii: "["): return try nested { (parser) throws(JSONValue.SyntaxError) in .array(try parser.elements()) }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "N") where dialect.hasNonFinite: return try word("NaN", .number(.nan))
        case UInt8(ascii: "I") where dialect.hasNonFinite: return .number(try infinity())
        case UInt8(ascii: "-") where dialect.hasNonFinite && bytes[place...].starts(with: "-I".utf8):
            place += 1
            return .number(-(try infinity()))
        default: return try number()
        }
    }

    private mutating func infinity() throws(JSONValue.SyntaxError) -> Double {
        let isLong = bytes[place...].starts(with: "Infinity".utf8)
        _ = try word(isLong ? "Infinity" : "Inf", .null)
        return .infinity
    }

    private mutating func nested(
        _ read: (inout JSONParser) throws(JSONValue.SyntaxError) -> JSONValue
    ) throws(JSONValue.SyntaxError) -> JSONValue {
        guard depth < dialect.depthLimit else { throw unexpected }
        depth += 1
        defer { depth -= 1 }
        place += 1
        return try read(&self)
    }

    private mutating func members() throws(JSONValue.SyntaxError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if take("}") { return members }
        repeat {
            skipBlanks()
            let name = try string()
            try expect(":")
            members.append(JSONValue.Member(name, try value()))
        } while take(",")
        try expect("}")
        return members
    }

    private mutating func elements() throws(JSONValue.SyntaxError) -> [JSONValue] {
        var values: [JSONValue] = []
        if take("]") { return values }
        repeat { values.append(try value()) } while take(",")
        try expect("]")
        return values
    }

    private mutating func word(_ text: String, _ value: JSONValue) throws(JSONValue.SyntaxError) -> JSONValue {
        guard bytes[place...].starts(with: text.utf8) else { throw unexpected }
        place += text.utf8.count
        return value
    }

    private mutating func number() throws(JSONValue.SyntaxError) -> JSONValue {
        let start = place
        var isWhole = true
        if next == UInt8(ascii: "-") { place += 1 }
        let first = place
        digits()
        // No digits, or one too many in front: 01.
        guard place > first, place == first + 1 || bytes[first] != UInt8(ascii: "0") else { throw JSONValue.SyntaxError(offset: start) }
        if next == UInt8(ascii: ".") {
            place += 1
            let fraction = place
            digits()
            guard place > fraction else { throw unexpected }
            isWhole = false
        }
        if let byte = next, byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            place += 1
            if let sign = next, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { place += 1 }
            let exponent = place
            digits()
            guard place > exponent else { throw unexpected }
            isWhole = false
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if isWhole, let whole = Int64(text) { return .integer(whole) }
        // Beyond the range of a Double it is an infinity.
        return .number(Double(text) ?? .nan)
    }

    private mutating func digits() { while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 } }

    private mutating func string() throws(JSONValue.SyntaxError) -> String {
        guard next == UInt8(ascii: "\"") else { throw unexpected }
        place += 1
        var text: [UInt8] = []
        while let byte = next, byte != UInt8(ascii: "\"") {
            // Control characters must be escaped.
            guard byte >= 0x20 else { throw unexpected }
            place += 1
            if byte == UInt8(ascii: "\\") { try escape(into: &text) } else { text.append(byte) }
        }
        guard next != nil else { throw unexpected }
        place += 1
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONValue.SyntaxError) {
        guard let byte = next else { throw unexpected }
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var units = [try unit()]
            // The second half of a character beyond U+FFFF.
            if (0xD800..<0xDC00).contains(units[0]), bytes[place...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
                place += 2
                units.append(try unit())
            }
            text += Array(String(decoding: units, as: UTF16.self).utf8)
        default:
            place -= 1
            throw unexpected
        }
    }

    private mutating func unit() throws(JSONValue.SyntaxError) -> UInt16 {
        guard place + 4 <= bytes.count else { throw unexpected }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Character(UnicodeScalar(bytes[place])).hexDigitValue else { throw unexpected }
            unit = unit << 4 | UInt16(digit)
            place += 1
        }
        return unit
    }
}
