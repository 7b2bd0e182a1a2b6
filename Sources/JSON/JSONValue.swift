internal import Media

/// A JSON value (RFC 8259) and its text, written without Foundation, which takes longer to load than the first frame to appear.
///
/// Members keep their order. Numbers that JSON cannot hold (NaN, infinities) become `null`.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number, written with all its digits.
    case integer(Int64)
    /// A number; `null` in the text when it is not finite.
    case number(Double)
    /// A string, escaped when it is written.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object, with its members in this order.
    case object([Member])

    /// A name and its value in an object.
    public struct Member: Sendable, Hashable {
        /// The name, not yet quoted or escaped.
        public var name: String
        /// The value.
        public var value: JSONValue
        /// Creates a member. Duplicate names are not detected.
        public init(_ name: String, _ value: JSONValue) { self.name = name; self.value = value }
    }

    /// One line of text, without a line break at the end.
    public var text: String {
        var text = ""
        write(to: &text, indent: nil)
        return text
    }

    /// Text with a member a line, two spaces a level.
    public var prettyText: String {
        var text = ""
        write(to: &text, indent: 0)
        return text
    }

    private func write(to text: inout String, indent: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += Self.number(value)
        case .string(let value): Self.quote(value, to: &text)
        case .array(let values):
            Self.list("[", "]", values.count, indent, &text) { index, inner, text in values[index].write(to: &text, indent: inner) }
        case .object(let members):
            Self.list("{", "}", members.count, indent, &text) { index, inner, text in
                Self.quote(members[index].name, to: &text)
                text += ": "
                members[index].value.write(to: &text, indent: inner)
            }
        }
    }

    private static func list(
        _ open: String, _ close: String, _ count: Int, _ indent: Int?, _ text: inout String, _ element: (Int, Int?, inout String) -> Void
    ) {
        text += open
        let inner = indent.map { $0 + 2 }
        for index in 0..<count {
            if index > 0 { text += inner == nil ? ", " : "," }
            if let inner { text += "\n" + String(repeating: " ", count: inner) }
            element(index, inner, &text)
        }
        if let indent, count > 0 { text += "\n" + String(repeating: " ", count: indent) }
        text += close
    }

    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        return "\(value)"
    }

    private static func quote(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.isPrintable: text.unicodeScalars.append(scalar)
            default: for unit in String(scalar).utf16 { escape(unit, to: &text) }
            }
        }
        text += "\""
    }

    /// What a terminal would obey or not show, as four hexadecimal digits; beyond U+FFFF as two surrogates.
    private static func escape(_ unit: UInt16, to text: inout String) {
        let digits = String(unit, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral {
    /// Creates a `string` from a literal.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an `integer` from a literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a `bool` from a literal.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates `null` from the literal `nil`.
    public init(nilLiteral: ()) { self = .null }
}

extension JSONValue.Member {
    /// A string, or `null` for nil.
    public init(_ name: String, text: String?) { self.init(name, text.map { .string($0) } ?? .null) }

    /// A whole number.
    public init(_ name: String, count: Int) { self.init(name, .integer(Int64(count))) }

    /// A number rounded to three decimals, or `null` for nil.
    public init(_ name: String, thousandths: Double?) { self.init(name, thousandths.map { .number(($0 * 1000).rounded() / 1000) } ?? .null) }
}
