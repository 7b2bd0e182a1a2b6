internal import Media

/// Where a list asks players to begin (`EXT-X-START`; RFC 8216, 4.3.5.2). A pure value.
struct PlaylistStart: Sendable, Hashable {
    /// Microseconds from the beginning of the list; below zero: from its end.
    var offset: Int64
    /// Nothing before it is shown. Otherwise the part in which it lies is shown whole.
    var isPrecise = false

    /// A century: no film is longer.
    private static let longest = 3.2e9

    init(offset: Int64, isPrecise: Bool = false) { (self.offset, self.isPrecise) = (offset, isPrecise) }

    /// nil where a list asks for nothing, or for what is no time.
    init?(_ text: String) {
        guard let attributes = PlaylistText.lines(text).lazy.compactMap({ PlaylistAttributes($0, tag: "#EXT-X-START") }).first,
            let seconds = attributes["TIME-OFFSET"], let offset = Self.microseconds(seconds)
        else { return nil }
        self.init(offset: offset, isPrecise: attributes["PRECISE"] == "YES")
    }

    /// A decimal number with or without a sign, and nothing else that Swift takes for a number.
    private static func microseconds(_ text: String) -> Int64? {
        guard text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let seconds = Double(text), abs(seconds) < longest
        else { return nil }
        return Int64((seconds * 1e6).rounded())
    }
}

// MARK: Where that is

extension PlaylistStart {
    /// Where a film begins.
    enum Place: Sendable, Hashable {
        /// At this time of a film that is whole.
        case time(MediaTime)
        /// With a part of a list that grows: so many behind its first one, or, below zero, so many before its end.
        case part(Int)
    }

    /// 1 ms: lists round the lengths of their parts, and no frame is shorter.
    private static let rounding: Int64 = 1000
    /// A film that grows begins no later than so many parts before its end (RFC 8216, 6.3.3).
    static let partsBehind = 3

    /// - Parameters:
    ///   - ends: when each part ends, in microseconds from the beginning of the list.
    ///   - isEnded: nothing will be added.
    /// - Returns: nil where the film begins as if nothing had been asked for: there is nothing at that time.
    func place(among ends: [Int64], isEnded: Bool) -> Place? {
        guard let length = ends.last, offset < length else { return nil }
        let time = offset < 0 ? max(length + offset, 0) : offset
        // What begins where the film ends would show nothing.
        guard let part = ends.firstIndex(where: { $0 > time }) else { return nil }
        guard isEnded else {
            let latest = max(ends.count - Self.partsBehind, 0)
            return .part(offset < 0 ? min(part - ends.count, -Self.partsBehind) : min(part, latest))
        }
        if isPrecise { return time > 0 ? .time(MediaTime(value: time, timescale: 1_000_000)) : nil }
        guard part > 0 else { return nil }
        return .time(MediaTime(value: ends[part - 1] + Self.rounding, timescale: 1_000_000))
    }

    /// Where the film in this list of parts begins.
    func place(in text: String) -> Place? {
        let (ends, isEnded) = PlaylistText.ends(text)
        return place(among: ends, isEnded: isEnded)
    }
}

extension AssetBytes {
    /// Of a list that is whole; nil: at its beginning.
    var preferredStart: MediaTime? { if case .time(let time)? = start?.place { time } else { nil } }

    /// Notes where players are asked to begin. What a list of variants says counts before what their own lists say.
    /// - Parameter own: the list of parts.
    func findStart(_ text: String, of own: String?) {
        guard let own, let asked = PlaylistStart(text) ?? PlaylistStart(own), let place = asked.place(in: own) else { return }
        start = (asked, place)
    }

    /// Has libavformat begin with the part that a list which grows asks for, unless the options say where.
    func beginAsAsked(_ libraryOptions: inout [String: String]) {
        guard case .part(let number)? = start?.place, libraryOptions["live_start_index"] == nil else { return }
        libraryOptions["live_start_index"] = "\(number)"
    }
}
