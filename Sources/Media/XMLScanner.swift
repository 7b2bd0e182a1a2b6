/// Reads the elements of an XML text and what stands in them; comments, instructions and declarations are passed over. It expands nothing but the
/// five entities of XML itself and numbers.
///
/// A pure value. It ends where the text makes no sense.
package struct XMLScanner: Sendable {
    package enum Piece: Sendable, Hashable {
        /// Of an element, by its name without a prefix; so are its attributes named.
        case begin(String, attributes: [String: String])
        case end(String)
        /// A part of an element's text.
        case text([UInt8])
    }

    private var rest: ArraySlice<UInt8>
    /// The end of an element that has no content.
    private var closing: String?

    /// - Parameter text: UTF-8.
    package init(_ text: ArraySlice<UInt8>) { rest = text }

    /// The next piece; nil at the end of the text, or where it makes no sense.
    package mutating func next() -> Piece? {
        if let element = closing.take() { return .end(element) }
        while let first = rest.first {
            if first != 0x3c {
                let text = rest.prefix { $0 != 0x3c }
                rest = rest.dropFirst(text.count)
                return .text(Self.expanded(text))
            }
            if skip("<!--", to: "-->") || skip("<?", to: "?>") { continue }
            if let text = take("<![CDATA[", to: "]]>") { return .text(Array(text)) }
            // A declaration of entities would have brackets: there is none in a list.
            if skip("<!", to: ">") { continue }
            guard let tag = take("<", to: ">") else { return nil }
            let isEnd = tag.first == 0x2f, isEmpty = tag.last == 0x2f
            let name = tag.drop { $0 == 0x2f }.prefix { !Self.isBlank($0) && $0 != 0x2f }
            let element = String(decoding: name.split(separator: 0x3a).last ?? [], as: UTF8.self)
            if element.isEmpty { return nil }
            if isEnd { return .end(element) }
            if isEmpty { closing = element }
            let words = tag.dropFirst(name.endIndex - tag.startIndex)
            return .begin(element, attributes: Self.attributes(isEmpty ? words.dropLast() : words))
        }
        return nil
    }

    /// The attributes in a tag behind the element's name. What is none ends them; of two with one name the first counts.
    private static func attributes(_ text: ArraySlice<UInt8>) -> [String: String] {
        var rest = text.drop(while: isBlank), found: [String: String] = [:]
        while !rest.isEmpty {
            let name = rest.prefix { !isBlank($0) && $0 != 0x3d }
            rest = rest.dropFirst(name.count).drop(while: isBlank)
            guard !name.isEmpty, rest.popFirst() == 0x3d else { break }
            rest = rest.drop(while: isBlank)
            guard let quote = rest.popFirst(), quote == 0x22 || quote == 0x27, let end = rest.firstIndex(of: quote) else { break }
            let key = String(decoding: name.split(separator: 0x3a).last ?? [], as: UTF8.self)
            if found[key] == nil { found[key] = String(decoding: expanded(rest[..<end]), as: UTF8.self) }
            rest = rest[(end + 1)...].drop(while: isBlank)
        }
        return found
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }

    /// What stands between two marks, if the first is next; in a tag a `>` within quotation marks does not count.
    private mutating func take(_ begin: String, to end: String) -> ArraySlice<UInt8>? {
        guard rest.starts(with: begin.utf8) else { return nil }
        let inside = rest.dropFirst(begin.utf8.count), mark = Array(end.utf8)
        var quote: UInt8?, index = inside.startIndex
        while index < inside.endIndex {
            let byte = inside[index]
            if begin == "<", quote == byte { quote = nil } else if begin == "<", quote == nil, byte == 0x22 || byte == 0x27 { quote = byte }
            if quote == nil, byte == mark[0], inside[index...].starts(with: mark) {
                rest = inside[(index + mark.count)...]
                return inside[..<index]
            }
            index += 1
        }
        rest = []
        return nil
    }

    private mutating func skip(_ begin: String, to end: String) -> Bool {
        guard rest.starts(with: begin.utf8), !rest.starts(with: "<![CDATA[".utf8) else { return false }
        _ = take(begin, to: end)
        return true
    }

    private static let entities: [String: UInt8] = ["amp": 0x26, "lt": 0x3c, "gt": 0x3e, "quot": 0x22, "apos": 0x27]

    /// The text with its entities replaced; what is none stays.
    private static func expanded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(0x26) else { return Array(text) }
        var result: [UInt8] = [], rest = text
        while let byte = rest.popFirst() {
            guard byte == 0x26, let end = rest.prefix(12).firstIndex(of: 0x3b) else {
                result.append(byte)
                continue
            }
            let name = String(decoding: rest[..<end], as: UTF8.self)
            if let byte = entities[name] {
                result.append(byte)
            } else if name.hasPrefix("#"), let code = name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst()),
                let scalar = Unicode.Scalar(code)
            {
                result += Array(String(Character(scalar)).utf8)
            } else {
                result.append(byte)
                continue
            }
            rest = rest[(end + 1)...]
        }
        return result
    }
}
