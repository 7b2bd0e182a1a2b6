internal import JSON

/// What a time line's members are.
extension JSONValue {
    /// A member of an object; nil for `null` and other values, and where there is none.
    func member(_ name: String) -> JSONValue? {
        let value = self[name]
        return value == .null ? nil : value
    }

    /// A string's characters; nil for other values.
    var characters: String? { if case .string(let text) = self { text } else { nil } }

    /// A number, whole or not; nil for other values.
    var amount: Double? {
        switch self {
        case .integer(let whole): Double(whole)
        case .number(let number): number
        default: nil
        }
    }

    /// An array's elements; none for other values.
    var elements: [JSONValue] { if case .array(let list) = self { list } else { [] } }
}
