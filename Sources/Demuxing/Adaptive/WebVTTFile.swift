/// The cues of a WebVTT file (W3C, WebVTT 1, 4), as parts of HLS lists and DASH manifests have them. Times are in milliseconds. A pure value.
///
/// What makes no sense is passed over, as the standard's parser does.
struct WebVTTFile: Sendable {
    /// Which time of the film's containers is which of the cues (RFC 8216, 3.5).
    struct Map: Sendable, Hashable {
        /// Of the cues.
        var local: Int64 = 0
        /// Of the containers, in ninety-thousandths of a second.
        var timestamp: Int64 = 0
    }

    private(set) var cues: [TextCue] = []
    /// nil: the file does not say.
    private(set) var map: Map?

    /// 100,000 cues of 16 KiB at most: more than any film has.
    private static let mostCues = 100_000, longestText = 16 << 10

    /// nil where the bytes are no such file.
    init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...], as: UTF8.self)
        // Swift counts a carriage return with its line feed as one character.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var blocks = lines.split { $0.isEmpty }[...]
        guard let head = blocks.popFirst(), head.first?.hasPrefix("WEBVTT") == true else { return nil }
        map = head.lazy.compactMap(Self.map).first
        for block in blocks where cues.count < Self.mostCues { if let cue = Self.cue(block) { cues.append(cue) } }
    }

    /// `X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000`, in either order.
    private static func map(_ line: Substring) -> Map? {
        let name = "X-TIMESTAMP-MAP="
        guard line.hasPrefix(name) else { return nil }
        var map = Map()
        for part in line.dropFirst(name.count).split(separator: ",") {
            guard let colon = part.firstIndex(of: ":") else { return nil }
            let value = part[part.index(after: colon)...].filter { $0 != " " }
            switch part[..<colon].filter({ $0 != " " }) {
            case "LOCAL":
                guard let time = time(value[...]) else { return nil }
                map.local = time
            case "MPEGTS":
                guard let number = Int64(value), (0..<1 << 33).contains(number) else { return nil }
                map.timestamp = number
            default: break
            }
        }
        return map
    }

    /// A block whose first or second line has times; nil for comments, styles and what makes no sense.
    private static func cue(_ lines: ArraySlice<Substring>) -> TextCue? {
        guard let place = lines.prefix(2).firstIndex(where: { $0.contains("-->") }) else { return nil }
        let line = lines[place], arrow = line.firstRange(of: "-->")
        guard let arrow, let start = time(line[..<arrow.lowerBound]),
            let last = line[arrow.upperBound...].split(whereSeparator: { $0 == " " || $0 == "\t" }).first, let end = time(last), end > start
        else { return nil }
        let text = lines[(place + 1)...].joined(separator: "\n")
        guard !text.isEmpty, text.utf8.count <= longestText else { return nil }
        return TextCue(start: start, end: end, text: text)
    }

    /// `01:02:03.456`, or without the hours.
    private static func time(_ text: Substring) -> Int64? {
        let parts = text.filter { $0 != " " && $0 != "\t" }.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let dot = parts.last?.firstIndex(of: ".") else { return nil }
        let seconds = parts[parts.count - 1][..<dot], fraction = parts[parts.count - 1][dot...].dropFirst()
        let words = parts.dropLast().map { $0[...] } + [seconds, fraction]
        guard fraction.count == 3, words.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 9 && $0.utf8.allSatisfy { (48...57).contains($0) } }) else {
            return nil
        }
        let numbers = words.map { Int64($0) ?? 0 }, count = numbers.count
        let minutes = numbers[count - 3], hours = count > 3 ? numbers[0] : 0
        guard minutes < 60, numbers[count - 2] < 60 else { return nil }
        return ((hours * 60 + minutes) * 60 + numbers[count - 2]) * 1000 + numbers[count - 1]
    }
}
