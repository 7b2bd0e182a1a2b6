internal import Media

/// The text of a playlist file: M3U, M3U8, PLS or XSPF, or names of films, one a line.
///
/// A pure value. Lines end in LF, CRLF or CR; a byte order mark is passed over. Names may be of any bytes, as paths are.
public struct PlaylistFile: Sendable, Hashable {
    /// A film that the list names.
    public struct Line: Sendable, Hashable {
        /// The name as it stands in the list: a path, relative or absolute, or an address.
        public var name: String
        /// The title that the list gives the film; nil: none.
        public var title: String?
    }

    /// What is wrong with a text that should be a list.
    public enum Fault: Error, Sendable, Hashable, CaseIterable {
        /// Bytes that no text holds.
        case binary
        /// A name of more than 4096 bytes, which no path has.
        case longLine
        /// More films than `limit`.
        case tooMany
    }

    /// 200,000: the names of a list and all lists in it stay below some ten megabytes.
    public static let limit = 200_000
    static let longest = 4096

    /// The films, in order.
    public private(set) var lines: [Line] = []
    /// Whether this is a film in pieces (HLS, RFC 8216) rather than a list of films: one of its tags says so.
    public private(set) var isFilm = false

    /// Reads a list. Comments and what it does not know are passed over.
    public init(_ text: [UInt8]) throws(Fault) {
        let text = text.starts(with: [0xef, 0xbb, 0xbf]) ? text[3...] : text[...]
        if Self.isXML(text) {
            if text.contains(0) { throw .binary }
            lines = try Self.tracks(xspf: text)
            return
        }
        var numbered: [Int: Line] = [:], title: String?, isPLS: Bool?
        for line in text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            if line.contains(where: { $0 < 0x20 && $0 != 0x09 && $0 != 0x1b }) { throw .binary }
            let words = Self.trimmed(line)
            if words.isEmpty { continue }
            if isPLS == nil { isPLS = Self.text(words).lowercased() == "[playlist]" }
            if words.count > Self.longest, words.first != 0x23 { throw .longLine }
            if isPLS == true {
                Self.read(pls: words, &numbered)
                if numbered.count > Self.limit { throw .tooMany }
            } else if words.first == 0x23 {
                if words.starts(with: Array("#EXT-X-".utf8)) { isFilm = true }
                if words.starts(with: Array("#EXTINF:".utf8)), let comma = words.firstIndex(of: 0x2c) {
                    let name = Self.trimmed(words[(comma + 1)...].prefix(Self.longest))
                    title = name.isEmpty ? nil : Self.readable(name)
                }
            } else {
                if lines.count == Self.limit { throw .tooMany }
                lines.append(Line(name: Self.text(words), title: title.take()))
            }
        }
        lines += numbered.sorted { $0.key < $1.key }.map(\.value).filter { !$0.name.isEmpty }
    }

    /// `File12=…` or `Title12=…`.
    private static func read(pls words: ArraySlice<UInt8>, _ lines: inout [Int: Line]) {
        guard let equals = words.firstIndex(of: 0x3d) else { return }
        let key = text(trimmed(words[..<equals])).lowercased(), value = trimmed(words[(equals + 1)...])
        for (word, isName) in [("file", true), ("title", false)] where key.hasPrefix(word) {
            guard let number = Int(key.dropFirst(word.count)), !value.isEmpty else { continue }
            if isName {
                lines[number, default: Line(name: "")].name = text(value)
            } else {
                lines[number, default: Line(name: "")].title = readable(value)
            }
        }
    }

    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }
        guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return [] }
        return bytes[...last].drop(while: isBlank)
    }

    /// A name as paths are written: bytes that are not UTF-8 stay what they are.
    static func text(_ bytes: ArraySlice<UInt8>) -> String { PathText.text(bytes) }

    /// A title: UTF-8, or else Latin-1.
    static func readable(_ bytes: ArraySlice<UInt8>) -> String { String(validating: bytes, as: UTF8.self) ?? latin1(bytes) }

    private static func latin1(_ bytes: some Sequence<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        return String(text)
    }

    /// The name in UTF-8 where its bytes are Latin-1; nil where they are UTF-8 already. Old lists name files in Latin-1 that have UTF-8 names now.
    public static func fromLatin1(_ name: String) -> String? {
        let bytes = PathText.bytes(name)
        return String(validating: bytes, as: UTF8.self) == nil ? latin1(bytes) : nil
    }
}
