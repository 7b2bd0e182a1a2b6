internal import JSON
internal import Media
internal import Reading

/// Reads the items of a time line into the tracks of a composition.
///
/// A track of the time line becomes one or several of the composition: two take turns where frames dissolve, and the tracks of a nested stack lie
/// over each other.
struct TimelineReader {
    var composition = Composition()
    var notices: [String] = []
    /// Films with frames, in the order of the file.
    var sources: [CompositionSource] = []
    let path: String
    var frameDuration: MediaTime?
    /// How opaque each track of frames is, where that changes.
    var opacities: [Int: Ramped<Double>] = [:]
    private var itemCount = 0

    /// More than any film has.
    private static let mostItems = 4000
    private static let mostTracks = 64
    /// Items that one sentence names.
    private static let mostReasons = 8
    /// A day, in seconds.
    static let longest = MediaTime(value: 86_400, timescale: 1)

    init(_ path: String) { self.path = path }

    mutating func notice(_ item: JSONValue, _ what: String, at time: MediaTime) {
        let name = item.member("name")?.characters.map { $0.isEmpty ? "" : " “\($0)”" } ?? ""
        let sentence = "\(path): at \(time), \(Self.schema(item))\(name): \(what)."
        if !notices.contains(sentence) { notices.append(sentence) }
    }

    // MARK: Structure

    mutating func read(_ tree: JSONValue) throws(ReadingError) {
        guard Self.schema(tree) == "Timeline", let stack = tree.member("tracks"), Self.schema(stack) == "Stack" else {
            throw broken("it is no OpenTimelineIO time line")
        }
        if let rate = tree.member("global_start_time")?.member("rate")?.amount {
            let exact = try rate == 0 ? (25, 1) : self.rate(rate)
            frameDuration = MediaTime(value: Int64(exact.1), timescale: exact.0)
        }
        let length = try duration(stack, 0)
        guard length > .zero else { throw broken("it has nothing to show: its tracks are empty") }
        try readStack(stack, MediaTimeRange(start: .zero, duration: length), Lanes(), 0)
        for track in composition.tracks where !track.segments.contains(where: { !$0.isEmpty }) { try? composition.removeTrack(track.id) }
        guard !composition.tracks.isEmpty else {
            let reasons = notices.prefix(Self.mostReasons).map { String($0.dropFirst(path.count + 2).dropLast()) }
            let rest = notices.count > reasons.count ? ["and \(notices.count - reasons.count) more"] : []
            throw broken("it has nothing to show: " + (reasons + rest).joined(separator: "; "))
        }
    }

    /// How long an item is in its parent.
    func duration(_ item: JSONValue, _ depth: Int) throws(ReadingError) -> MediaTime {
        if let own = try range(item.member("source_range")) { return own.duration }
        switch Self.schema(item) {
        case "Stack":
            var longest = MediaTime.zero
            for child in item.member("children")?.elements ?? [] { longest = max(longest, try duration(child, depth + 1)) }
            return longest
        case "Track":
            var sum = MediaTime.zero
            for child in item.member("children")?.elements ?? [] { sum += try duration(child, depth + 1) }
            guard sum <= Self.longest else { throw broken("a track lasts longer than a day") }
            return sum
        case "Clip": return try range(reference(item)?.member("available_range"))?.duration ?? .zero
        default: return .zero
        }
    }

    func reference(_ clip: JSONValue) -> JSONValue? {
        clip.member("media_reference")
            ?? clip.member("media_references")?.member(clip.member("active_media_reference_key")?.characters ?? "DEFAULT_MEDIA")
    }

    /// Tracks of the composition in which a track of the time line lies.
    final class Lanes {
        var video: [Int] = []
        var sound: [Int] = []
    }

    mutating func lane(_ lanes: Lanes, _ kind: CompositionTrack.Kind, _ number: Int) throws(ReadingError) -> Int {
        while (kind == .video ? lanes.video : lanes.sound).count <= number {
            guard composition.tracks.count < Self.mostTracks else { throw broken("it needs more than \(Self.mostTracks) tracks") }
            let id = composition.addTrack(kind)
            if kind == .video { lanes.video.append(id) } else { lanes.sound.append(id) }
        }
        return kind == .video ? lanes.video[number] : lanes.sound[number]
    }

    /// - Parameters:
    ///   - range: Where it lies in the composition.
    ///   - lanes: Those of the track in which a nested stack lies.
    mutating func readStack(_ stack: JSONValue, _ range: MediaTimeRange, _ lanes: Lanes, _ depth: Int) throws(ReadingError) {
        let origin = try self.range(stack.member("source_range"))?.start ?? .zero
        mark(stack, by: range.start - origin, in: range)
        effects(stack, at: range.start)
        for (number, child) in (stack.member("children")?.elements ?? []).enumerated() {
            guard isEnabled(child) else { continue }
            if Self.schema(child) == "Track" {
                let own = depth == 0 ? Lanes() : lanes
                try readTrack(child, origin, range, own, depth == 0 ? 0 : 2 * number, depth)
            } else {
                try readItem(child, origin, range, lanes, 2 * number, .video, depth)
            }
        }
    }

    func isEnabled(_ item: JSONValue) -> Bool { item.member("enabled") != .bool(false) }

    /// - Parameters:
    ///   - origin: The time of the track that is shown at the start of `window`.
    ///   - window: In the composition; what reaches beyond it is cut.
    ///   - number: The first lane.
    mutating func readTrack(
        _ track: JSONValue, _ origin: MediaTime, _ window: MediaTimeRange, _ lanes: Lanes, _ number: Int, _ depth: Int
    ) throws(ReadingError) {
        let kind: CompositionTrack.Kind
        switch track.member("kind")?.characters {
        case "Video", nil: kind = .video
        case "Audio": kind = .sound
        case let other?: return notice(track, "a track of kind \(other) is not supported", at: window.start)
        }
        effects(track, at: window.start)
        let own = try range(track.member("source_range"))?.start ?? .zero
        mark(track, by: window.start - origin - own, in: window)
        let children = track.member("children")?.elements ?? []
        var place = window.start - origin - own, turn = 0, isSeen = false
        /// A dissolve beside a child; nil where there is none.
        func transition(_ index: Int) -> (item: JSONValue, isDissolve: Bool)? {
            guard children.indices.contains(index), Self.schema(children[index]) == "Transition" else { return nil }
            return (children[index], kind == .video && isDissolve(children[index], children, index))
        }
        for (index, child) in children.enumerated() {
            itemCount += 1
            guard itemCount <= Self.mostItems else { throw broken("it has more than \(Self.mostItems) items") }
            if Self.schema(child) == "Transition" { continue }
            let length = try duration(child, depth)
            var head = MediaTime.zero, tail = MediaTime.zero
            if let (item, isDissolve) = transition(index - 1) {
                if isDissolve {
                    turn = 1 - turn
                    head = self.head(item)
                    try dissolve(MediaTimeRange(start: place - head, end: place + self.tail(item)), lanes, number + turn, number + 1 - turn)
                } else {
                    notice(item, "only dissolves of frames between two clips that last are supported", at: place)
                }
            }
            if let (item, isDissolve) = transition(index + 1), isDissolve { tail = self.tail(item) }
            let target = MediaTimeRange(start: place, duration: length)
            if isEnabled(child) {
                try readItem(child, .zero, target, lanes, number + turn, kind, depth, window: window, head: head, tail: tail)
            }
            isSeen = isSeen || !target.intersection(window).isEmpty
            place = target.end
        }
        if !isSeen, !children.isEmpty { notice(track, "its range shows none of its items", at: window.start) }
    }

    // MARK: Marks and effects

    mutating func effects(_ item: JSONValue, at time: MediaTime) {
        for effect in item.member("effects")?.elements ?? [] where isEnabled(effect) {
            notice(effect, "effects on \(Self.schema(item))s are not supported", at: time)
        }
    }

    mutating func mark(_ item: JSONValue, by offset: MediaTime, in window: MediaTimeRange) {
        for marker in (item.member("markers")?.elements ?? []).prefix(Self.mostItems) {
            guard let start = try? range(marker.member("marked_range"))?.start, window.contains(start + offset) else { continue }
            composition.markers.append(CompositionMarker(time: start + offset, name: marker.member("name")?.characters ?? ""))
        }
    }
}
