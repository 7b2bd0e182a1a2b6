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
            case .begin(let element, _):
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
