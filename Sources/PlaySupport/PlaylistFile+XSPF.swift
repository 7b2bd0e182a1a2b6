internal import Media

// XSPF, "XML Shareable Playlist Format", version 1: xspf.org/spec.

extension PlaylistFile {
    /// Whether a text is XML, of which only XSPF is a list.
    static func isXML(_ text: ArraySlice<UInt8>) -> Bool {
        let text = text.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
        return ["<?xml", "<playlist", "<!--"].contains { text.starts(with: Array($0.utf8)) }
    }

    /// The tracks of a list: of each the first location, a URI, and its title. What is no XSPF gives none.
    static func tracks(xspf text: ArraySlice<UInt8>) throws(Fault) -> [Line] {
        var lines: [Line] = [], path: [String] = [], name: String?, title: String?, content: [UInt8] = []
        var scanner = XMLScanner(text)
        while let piece = scanner.next() {
            switch piece {
            case .text(let bytes):
                guard path.last == "location" || path.last == "title" else { continue }
                content += bytes
                if content.count > longestText { throw .longLine }
            case .begin(let element):
                content = []
                path.append(element)
                // No list is deeper than extensions of extensions are.
                if path.count > 64 { throw .binary }
            case .end(let element):
                guard path.popLast() == element else { return lines }
                let isTrack = path == ["playlist", "trackList", "track"], words = trimmed(content[...])
                if isTrack, element == "location", name == nil, !words.isEmpty { name = location(uri: words) }
                // `file:` names nothing.
                if name?.isEmpty == true { name = nil }
                if isTrack, element == "title", !words.isEmpty { title = readable(words.prefix(longest)) }
                if element == "track", path == ["playlist", "trackList"] {
                    if lines.count == limit { throw .tooMany }
                    if let name { lines.append(Line(name: name, title: title)) }
                    (name, title) = (nil, nil)
                }
            }
        }
        return lines
    }

    /// 64 KiB: an address may be longer than a path, and each of its bytes may be written as three.
    private static let longestText = 1 << 16

    /// The path that a `file:` URI or a relative one stands for; other addresses stay as they are.
    private static func location(uri: ArraySlice<UInt8>) -> String {
        let words = text(uri), start = words.prefix(8).lowercased()
        guard start.hasPrefix("file:") || !words.prefix(while: { $0 != "/" && $0 != "?" && $0 != "#" }).contains(":") else { return words }
        var bytes = uri[...]
        if start.hasPrefix("file:") {
            bytes = bytes.dropFirst(5)
            // An empty host, or this machine's.
            if bytes.starts(with: Array("//".utf8)) { bytes = bytes.dropFirst(2).drop { $0 != 0x2f } }
        }
        var plain: [UInt8] = []
        while let byte = bytes.popFirst() {
            // Swift's numbers may have a sign.
            if byte == 0x25, bytes.count >= 2, bytes.first != 0x2b, let code = UInt8(text(bytes.prefix(2)), radix: 16), code != 0 {
                plain.append(code)
                bytes = bytes.dropFirst(2)
            } else {
                plain.append(byte)
            }
        }
        return text(plain[...])
    }
}

/// Reads the elements of an XML text and what stands in them; attributes, comments, instructions and declarations are passed over. It expands nothing
/// but the five entities of XML itself and numbers.
///
/// A pure value. It ends where the text makes no sense.
struct XMLScanner: Sendable {
    enum Piece: Sendable, Hashable {
        /// Of an element, by its name without a prefix.
        case begin(String), end(String)
        /// A part of an element's text.
        case text([UInt8])
    }

    private var rest: ArraySlice<UInt8>
    /// The end of an element that has no content.
    private var closing: String?

    init(_ text: ArraySlice<UInt8>) { rest = text }

    mutating func next() -> Piece? {
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
            return .begin(element)
        }
        return nil
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
