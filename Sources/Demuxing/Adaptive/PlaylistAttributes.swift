/// The attributes of a tag in an HLS list: `BANDWIDTH=1280000,CODECS="avc1.640028,mp4a.40.2"` (RFC 8216, 4.2).
struct PlaylistAttributes {
    private var values: [Substring: Substring] = [:]

    /// Reads the attributes behind `tag:`; nil when the line is another tag.
    init?(_ line: Substring, tag: String) {
        guard line.hasPrefix(tag), line.dropFirst(tag.count).first == ":" else { return nil }
        var rest = line.dropFirst(tag.count + 1)
        while !rest.isEmpty {
            let name = rest.prefix { $0 != "=" && $0 != "," }
            rest = rest.dropFirst(name.count)
            guard rest.first == "=" else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst()
            let value: Substring
            if rest.first == "\"" {
                value = rest.dropFirst().prefix { $0 != "\"" }
                rest = rest.dropFirst(value.count + 2)
                rest = rest.drop { $0 != "," }
            } else {
                value = rest.prefix { $0 != "," }
                rest = rest.dropFirst(value.count)
            }
            values[Self.trimmed(name)] = value
            rest = rest.dropFirst()
        }
    }

    /// The value, without its quotation marks.
    subscript(name: String) -> String? { values[name[...]].map(String.init) }

    private static func trimmed(_ name: Substring) -> Substring {
        let front = name.drop { $0 == " " }
        return front.dropLast(front.reversed().prefix { $0 == " " }.count)
    }
}
