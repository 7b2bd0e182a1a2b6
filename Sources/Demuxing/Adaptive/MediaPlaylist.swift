internal import Media

/// A list of a film's parts: of HLS (RFC 8216, 4.3.3), or of what a DASH manifest says of one representation. Times are in microseconds. A pure
/// value.
struct MediaPlaylist: Sendable {
    /// Bytes at an address: all of them, or a range.
    struct Resource: Sendable, Hashable {
        var address: String
        var range: Range<Int64>?
    }

    /// What decrypts a part (AES-128 in CBC mode).
    struct Key: Sendable, Hashable {
        var address: String
        /// The initialisation vector; nil: the part's sequence number.
        var vector: [UInt8]?
    }

    struct Part: Sendable, Hashable {
        var resource: Resource
        /// From the beginning of the list.
        var start: Int64
        var duration: Int64
        var sequence: Int64
        /// What stands before its bytes (EXT-X-MAP).
        var head: Resource?
        var headKey: Key?
        var key: Key?
        /// Discontinuities before it, from the film's beginning.
        var discontinuity: Int64
        /// The server says that it is not there.
        var isGap = false
        /// When its first sample was made, where the list says so.
        var date: ProgramDate?

        var end: Int64 { start + duration }
    }

    private(set) var parts: [Part] = []
    /// Nothing will be added.
    private(set) var isEnded = false
    /// The longest part's duration.
    private(set) var targetDuration = PlaylistText.usualLength

    /// The whole film's length; nil while it grows.
    var duration: Int64? { isEnded ? parts.last?.end ?? 0 : nil }

    /// A list that was not written as one.
    init(parts: [Part], isEnded: Bool, targetDuration: Int64) {
        (self.parts, self.isEnded, self.targetDuration) = (parts, isEnded, targetDuration)
    }

    /// nil where it names what is on no web server, or is encrypted in a way that is not known.
    ///
    /// - Parameter base: the address that the list came from.
    init?(_ text: String, from base: String) {
        guard text.contains("#EXTM3U") else { return nil }
        var builder = Builder(base: base)
        for line in PlaylistText.lines(text) { guard builder.take(line) else { return nil } }
        (parts, isEnded, targetDuration) = (builder.parts, builder.isEnded, builder.targetDuration)
    }

    /// Whether it says when a part of it was made.
    var hasDates: Bool { parts.contains { $0.date != nil } }

    /// Which time of a film that is whole was made when; empty where the list says nothing.
    var dates: ProgramDateLine {
        var line = ProgramDateLine()
        for part in parts { if let date = part.date { line.note(date, at: MediaTime(value: part.start, timescale: 1_000_000)) } }
        return line
    }

    // MARK: Finding parts

    /// The part in which `time` lies, or the nearest; nil where there is none.
    func index(at time: Int64) -> Int? { parts.isEmpty ? nil : parts.lastIndex { $0.start <= time } ?? 0 }

    /// Where a film begins that is asked for without a time: one that grows, three parts before its end (RFC 8216, 6.3.3).
    /// - Parameter start: where the list asks players to begin, which counts only while it grows: one that is whole can be sought in.
    func beginning(_ start: PlaylistStart? = nil) -> Int? {
        if parts.isEmpty || isEnded { return parts.isEmpty ? nil : 0 }
        guard case .part(let number)? = start?.place(among: parts.map(\.end), isEnded: false) else {
            return max(parts.count - PlaylistStart.partsBehind, 0)
        }
        return max(number < 0 ? parts.count + number : number, 0)
    }

    /// The part that follows `last`; nil where it is not there yet.
    ///
    /// - Parameter isSame: `last` is of this list. In others it is found by its time, or by its number in lists that grow.
    func index(after last: Part, isSame: Bool) -> Int? {
        if isSame || !isEnded { return parts.firstIndex { $0.sequence > last.sequence } }
        // Variants may cut their parts elsewhere, and round their lengths.
        return parts.firstIndex { $0.start + $0.duration / 2 > last.end }
    }
}

extension MediaPlaylist {
    private struct Builder {
        let base: String
        var parts: [Part] = []
        var isEnded = false
        var targetDuration = PlaylistText.usualLength
        private var sequence: Int64 = 0
        private var discontinuity: Int64 = 0
        private var duration: Int64?
        private var key: Key?
        private var head: (resource: Resource, key: Key?)?
        private var range: (count: Int64, start: Int64?)?
        private var isGap = false
        private var date: ProgramDate?

        init(base: String) { self.base = base }

        /// False where the list cannot be followed.
        mutating func take(_ line: Substring) -> Bool {
            if line.isEmpty { return true }
            guard line.hasPrefix("#EXT") else { return line.hasPrefix("#") || add(line) }
            let value = line.firstIndex(of: ":").map { line[line.index(after: $0)...] } ?? ""
            switch line.prefix(while: { $0 != ":" }) {
            case "#EXTINF": duration = PlaylistText.microseconds(value.prefix { $0 != "," })
            case "#EXT-X-TARGETDURATION": targetDuration = max(PlaylistText.microseconds(value) ?? targetDuration, PlaylistText.shortestLength)
            case "#EXT-X-MEDIA-SEQUENCE": sequence = Int64(value) ?? 0
            case "#EXT-X-DISCONTINUITY-SEQUENCE": discontinuity = Int64(value) ?? 0
            case "#EXT-X-DISCONTINUITY": discontinuity &+= 1
            case "#EXT-X-ENDLIST": isEnded = true
            case "#EXT-X-GAP": isGap = true
            case "#EXT-X-PROGRAM-DATE-TIME": date = ProgramDate(iso8601: value)
            case "#EXT-X-BYTERANGE": range = Self.range(value)
            case "#EXT-X-KEY": return setKey(line)
            case "#EXT-X-MAP": return setHead(line)
            default: break
            }
            return true
        }

        private mutating func add(_ name: Substring) -> Bool {
            guard let address = address(name) else { return false }
            var resource = Resource(address: address)
            if let range {
                let before = parts.last?.resource
                let start = range.start ?? (before?.address == address ? before?.range?.upperBound : nil) ?? 0
                guard start >= 0, range.count > 0, start < .max - range.count else { return false }
                resource.range = start..<start + range.count
            }
            parts.append(
                Part(
                    resource: resource, start: parts.last?.end ?? 0, duration: duration ?? targetDuration, sequence: sequence,
                    head: head?.resource, headKey: head?.key, key: key, discontinuity: discontinuity, isGap: isGap, date: date))
            (range, duration, isGap, date) = (nil, nil, false, nil)
            sequence &+= 1
            return true
        }

        private mutating func setKey(_ line: Substring) -> Bool {
            guard let attributes = PlaylistAttributes(line, tag: "#EXT-X-KEY") else { return false }
            if attributes["METHOD"] == "NONE" {
                key = nil
                return true
            }
            // Other systems' keys stand beside the one that is used.
            if let format = attributes["KEYFORMAT"], format.lowercased() != "identity" { return true }
            guard attributes["METHOD"] == "AES-128", let name = attributes["URI"], let address = address(name[...]) else { return false }
            key = Key(address: address, vector: attributes["IV"].flatMap(Self.bytes))
            return true
        }

        private mutating func setHead(_ line: Substring) -> Bool {
            guard let attributes = PlaylistAttributes(line, tag: "#EXT-X-MAP"), let name = attributes["URI"], let address = address(name[...])
            else { return false }
            var resource = Resource(address: address)
            if let range = attributes["BYTERANGE"].flatMap({ Self.range($0[...]) }), range.count > 0,
                (0..<(.max - range.count)).contains(range.start ?? 0)
            {
                resource.range = (range.start ?? 0)..<(range.start ?? 0) + range.count
            }
            head = (resource, key)
            return true
        }

        private func address(_ name: Substring) -> String? { AssetBytes.webAddress(String(name), from: base) }

        /// `COUNT` or `COUNT@START`.
        private static func range(_ text: Substring) -> (count: Int64, start: Int64?)? {
            let numbers = text.split(separator: "@")
            guard let count = numbers.first.flatMap({ Int64($0) }) else { return nil }
            return (count, numbers.count > 1 ? Int64(numbers[1]) : nil)
        }

        /// Sixteen bytes, written `0x…`.
        private static func bytes(_ text: String) -> [UInt8]? {
            let digits = Array(text.dropFirst(2).utf8)
            guard text.lowercased().hasPrefix("0x"), !digits.isEmpty, digits.count <= 32 else { return nil }
            let all = [UInt8](repeating: UInt8(ascii: "0"), count: 32 - digits.count) + digits
            let bytes = stride(from: 0, to: 32, by: 2).compactMap { UInt8(String(decoding: all[$0..<$0 + 2], as: UTF8.self), radix: 16) }
            return bytes.count == 16 ? bytes : nil
        }
    }
}

extension MediaPlaylist.Part {
    /// The initialisation vector of `key`, in sixteen bytes (RFC 8216, 5.2).
    func vector(_ key: MediaPlaylist.Key) -> [UInt8] {
        key.vector ?? [UInt8](repeating: 0, count: 8) + (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (56 - 8 * Int64($0))) }
    }
}
