/// A JSON text (RFC 8259) as values, read without Foundation. For files that are not trusted: what is nested too deeply is refused.
indirect enum JSONTree: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONTree])
    /// Of members with the same name the last counts.
    case object([String: JSONTree])

    /// A text that is no JSON: the byte at which it ends to be.
    struct Malformed: Error, Equatable {
        let offset: Int
        let sentence: String
    }

    init(_ bytes: [UInt8]) throws(Malformed) {
        var parser = Parser(bytes)
        self = try parser.document()
    }

    /// A member of an object; nil for other values and where there is none.
    subscript(_ name: String) -> JSONTree? {
        if case .object(let members) = self, let value = members[name], value != .null { value } else { nil }
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    var list: [JSONTree] { if case .array(let list) = self { list } else { [] } }

    // MARK: Parser

    private struct Parser {
        private let bytes: [UInt8]
        private var place = 0

        /// Levels of nesting.
        private static let deepest = 128

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        private func fault(_ sentence: String) -> Malformed { Malformed(offset: place, sentence: sentence) }

        private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

        private mutating func skipSpace() {
            while let byte = next, byte == 0x20 || (0x09...0x0a).contains(byte) || byte == 0x0d { place += 1 }
        }

        private mutating func take(_ character: Character) -> Bool {
            guard next == character.asciiValue else { return false }
            place += 1
            return true
        }

        mutating func document() throws(Malformed) -> JSONTree {
            let value = try value(0)
            skipSpace()
            guard place == bytes.count else { throw fault("there is text behind its end") }
            return value
        }

        private mutating func value(_ depth: Int) throws(Malformed) -> JSONTree {
            guard depth < Self.deepest else { throw fault("it is nested too deeply") }
            skipSpace()
            defer { skipSpace() }
            switch next {
            case UInt8(ascii: "{"): return try object(depth)
            case UInt8(ascii: "["): return try array(depth)
            case UInt8(ascii: "\""): return .string(try string())
            case UInt8(ascii: "t"): return try word("true", .bool(true))
            case UInt8(ascii: "f"): return try word("false", .bool(false))
            case UInt8(ascii: "n"): return try word("null", .null)
            // Python writes the last three, which JSON has not.
            case UInt8(ascii: "N"): return try word("NaN", .number(.nan))
            case UInt8(ascii: "I"): return try word("Infinity", .number(.infinity))
            default: return try number()
            }
        }

        private mutating func word(_ word: StaticString, _ value: JSONTree) throws(Malformed) -> JSONTree {
            for byte in word.description.utf8 {
                guard next == byte else { throw fault("there is no value") }
                place += 1
            }
            return value
        }

        private mutating func number() throws(Malformed) -> JSONTree {
            let start = place
            while let byte = next, (0x30...0x39).contains(byte) || [0x2b, 0x2d, 0x2e, 0x45, 0x65].contains(byte) { place += 1 }
            if place == start + 1, next == UInt8(ascii: "I"), bytes[start] == UInt8(ascii: "-") { return try word("Infinity", .number(-.infinity)) }
            guard place > start, place - start < 400, let number = Double(String(decoding: bytes[start..<place], as: UTF8.self)) else {
                throw fault("there is no value")
            }
            return .number(number)
        }

        private mutating func array(_ depth: Int) throws(Malformed) -> JSONTree {
            place += 1
            var list: [JSONTree] = []
            skipSpace()
            if take("]") { return .array([]) }
            repeat { list.append(try value(depth + 1)) } while take(",")
            guard take("]") else { throw fault("an array is not closed") }
            return .array(list)
        }

        private mutating func object(_ depth: Int) throws(Malformed) -> JSONTree {
            place += 1
            var members: [String: JSONTree] = [:]
            skipSpace()
            if take("}") { return .object([:]) }
            repeat {
                skipSpace()
                guard next == UInt8(ascii: "\"") else { throw fault("a member has no name") }
                let name = try string()
                skipSpace()
                guard take(":") else { throw fault("a member has no value") }
                members[name] = try value(depth + 1)
            } while take(",")
            guard take("}") else { throw fault("an object is not closed") }
            return .object(members)
        }

        private mutating func string() throws(Malformed) -> String {
            place += 1
            var text: [UInt8] = []
            while let byte = next {
                place += 1
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
                case UInt8(ascii: "\\"): text += try escape()
                case 0..<0x20: throw fault("a string has a control character")
                default: text.append(byte)
                }
            }
            throw fault("a string is not closed")
        }

        private mutating func escape() throws(Malformed) -> [UInt8] {
            guard let byte = next else { throw fault("a string is not closed") }
            place += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
            case UInt8(ascii: "b"): return [8]
            case UInt8(ascii: "f"): return [12]
            case UInt8(ascii: "n"): return [10]
            case UInt8(ascii: "r"): return [13]
            case UInt8(ascii: "t"): return [9]
            case UInt8(ascii: "u"): break
            default: throw fault("a string has an unknown escape")
            }
            var units = [try hexadecimal()]
            if UTF16.isLeadSurrogate(units[0]), take("\\") {
                guard take("u") else { throw fault("a string has half a character") }
                units.append(try hexadecimal())
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        }

        private mutating func hexadecimal() throws(Malformed) -> UInt16 {
            guard place + 4 <= bytes.count, bytes[place..<place + 4].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let unit = UInt16(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
            else { throw fault("a string has an unknown escape") }
            place += 4
            return unit
        }
    }
}
