public import Demuxing
public import Media
internal import SampleQueue

/// A described piece of information about a moment: a marker, a place, what a detector has found.
public struct MetadataItem: Sendable, Hashable {
    /// What the value means: a word of the program's, such as `marker` or `com.example.face`. No line break, and no `=`.
    public var identifier: String
    /// The value as text.
    public var value: String

    /// Describes a value.
    public init(_ identifier: String, _ value: String) {
        precondition(!identifier.isEmpty && !identifier.contains { $0 == "=" || $0.isNewline }, "an identifier is a word")
        (self.identifier, self.value) = (identifier, value)
    }
}

/// Items that describe the same moment. The counterpart of `AVTimedMetadataGroup`.
public struct TimedMetadata: Sendable, Hashable {
    /// In the order in which they were given.
    public var items: [MetadataItem]
    /// When, in the time of the film.
    public var time: MediaTime

    /// Makes a group.
    public init(_ items: [MetadataItem], at time: MediaTime) { (self.items, self.time) = (items, time) }

    /// For people who look at the tracks; MP4 as libavformat reads it has no titles.
    static let trackTitle = "Timed metadata"

    /// Reads the timed metadata of a film that a `MovieFileOutput` has recorded, in the order of their times; none where it has no track of them.
    /// - Throws: `AssetError` when the film cannot be read.
    public static func all(in location: String) throws(AssetError) -> [TimedMetadata] {
        let reader = try AssetReader(url: location)
        let texts = reader.tracks.filter { $0.kind == .subtitle }
        if texts.isEmpty { return [] }
        var groups: [TimedMetadata] = []
        while let sample = try reader.nextSample() {
            guard let track = texts.first(where: { $0.id == sample.trackID }), case .compressed(let block, _) = sample.content else { continue }
            let bytes = unsafe block.withUnsafeBytes { unsafe Array($0) }
            let items = MetadataText.items(track.format == .other("mov_text") ? MetadataText.uncounted(bytes) : bytes)
            if !items.isEmpty { groups.append(TimedMetadata(items, at: sample.presentationTime)) }
        }
        return groups.sorted { $0.time < $1.time }
    }
}

/// How items lie in the samples of a track of text: a line that tells them from subtitles, then one for each item, `IDENTIFIER=VALUE`, in which `\n`,
/// `\r` and `\\` stand for line breaks and a backslash.
enum MetadataText {
    private static let head = "#timed-metadata"

    static func bytes(_ items: [MetadataItem]) -> [UInt8] {
        let lines = items.map { item in
            var value = ""
            for character in item.value.unicodeScalars {
                switch character {
                case "\\": value += "\\\\"
                case "\n": value += "\\n"
                case "\r": value += "\\r"
                default: value.unicodeScalars.append(character)
                }
            }
            return "\(item.identifier)=\(value)"
        }
        return Array(([head] + lines).joined(separator: "\n").utf8)
    }

    static func items(_ bytes: [UInt8]) -> [MetadataItem] {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.first == head[...] else { return [] }
        return lines.dropFirst().compactMap { line in
            guard let sign = line.firstIndex(of: "="), sign > line.startIndex, !line[..<sign].contains(where: \.isNewline) else { return nil }
            var value = String.UnicodeScalarView(), isEscaped = false
            for character in line[line.index(after: sign)...].unicodeScalars {
                if isEscaped {
                    value.append(character == "n" ? "\n" : character == "r" ? "\r" : character)
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else {
                    value.append(character)
                }
            }
            return MetadataItem(String(line[..<sign]), String(value))
        }
    }

    /// A sample of `mov_text` begins with the text's length in two bytes (3GPP TS 26.245, 5.17).
    static func counted(_ bytes: [UInt8]) -> [UInt8] {
        let kept = bytes.prefix(65_535)
        return [UInt8(kept.count >> 8), UInt8(kept.count & 255)] + kept
    }

    static func uncounted(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 2 else { return [] }
        return Array(bytes.dropFirst(2).prefix(Int(bytes[0]) << 8 | Int(bytes[1])))
    }
}
