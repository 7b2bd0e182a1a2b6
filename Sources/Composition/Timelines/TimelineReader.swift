internal import JSON
internal import Media
internal import Reading

/// Reads the items of a time line into the tracks of a composition.
///
/// A track of the time line becomes one or several of the composition: two take turns where clips dissolve, and the tracks of a nested stack lie
/// over each other. Each item is read with a `MediaTimeMapping`: the part of its own time that is seen, and where that lies in the composition.
struct TimelineReader {
    var composition = Composition()
    var notices: [String] = []
    /// Films with frames, in the order of the file.
    var sources: [CompositionSource] = []
    let path: String
    var frameDuration: MediaTime?
    /// How opaque each track of frames is, and how loud each track of sound, where that changes.
    var levels: [Int: Ramped<Double>] = [:]
    private var itemCount = 0

    /// More than any film has.
    private static let mostItems = 4000
    private static let mostTracks = 64
    /// How deeply tracks and stacks may be nested.
    static let deepest = 32
    /// Items that one sentence names.
    private static let mostReasons = 8
    /// A day, in seconds.
    static let longest = MediaTime(value: 86_400, timescale: 1)
    /// 1 µs: more than times lose by rounding, where a fraction is too large for `MediaTime`.
    static let rounding = MediaTime(value: 1, timescale: 1_000_000)

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
        let start = try range(stack.member("source_range"))?.start ?? .zero
        let whole = MediaTimeRange(start: .zero, duration: length)
        if let place = try place(stack, whole, in: MediaTimeMapping(source: whole, target: whole), from: start) {
            try readStack(stack, place, Lanes(), 0)
        }
        for track in composition.tracks where !track.segments.contains(where: { !$0.isEmpty }) { try? composition.removeTrack(track.id) }
        guard !composition.tracks.isEmpty else {
            let reasons = notices.prefix(Self.mostReasons).map { String($0.dropFirst(path.count + 2).dropLast()) }
            let rest = notices.count > reasons.count ? ["and \(notices.count - reasons.count) more"] : []
            throw broken("it has nothing to show: " + (reasons + rest).joined(separator: "; "))
        }
        let end = composition.duration
        if length > end + Self.rounding {
            try? composition.edit(composition.tracks[0].id) { track throws(CompositionError) in
                try track.insertEmpty(lasting: length - end, at: end)
            }
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
    ///   - place: Which part of its time is seen, and where in the composition.
    ///   - lanes: Those of the track in which a nested stack lies.
    mutating func readStack(_ stack: JSONValue, _ place: MediaTimeMapping, _ lanes: Lanes, _ depth: Int) throws(ReadingError) {
        mark(stack, place)
        for (number, child) in (stack.member("children")?.elements ?? []).enumerated() {
            guard isEnabled(child) else { continue }
            let own = depth == 0 ? Lanes() : lanes, lane = depth == 0 ? 0 : 2 * number
            let length = MediaTimeRange(start: .zero, duration: try duration(child, depth))
            try readItem(child, length, in: place, own, lane, .video, depth)
        }
    }

    func isEnabled(_ item: JSONValue) -> Bool { item.member("enabled") != .bool(false) }

    /// What a track carries; nil where that is not supported.
    static func kind(of track: JSONValue) -> CompositionTrack.Kind? {
        switch track.member("kind")?.characters {
        case "Video", nil: .video
        case "Audio": .sound
        default: nil
        }
    }

    /// - Parameters:
    ///   - place: Which part of its time is seen, and where in the composition.
    ///   - number: The first lane.
    mutating func readTrack(
        _ track: JSONValue, _ place: MediaTimeMapping, _ lanes: Lanes, _ number: Int, _ depth: Int
    ) throws(ReadingError) {
        guard let kind = Self.kind(of: track) else { return }
        mark(track, place)
        let children = track.member("children")?.elements ?? []
        var time = MediaTime.zero, turn = 0, isSeen = false
        for (index, child) in children.enumerated() {
            itemCount += 1
            guard itemCount <= Self.mostItems else { throw broken("it has more than \(Self.mostItems) items") }
            if Self.schema(child) == "Transition" {
                if transition(index, children) == nil {
                    let cut = place.targetTime(at: place.source.clamp(time))
                    notice(child, "only dissolves between clips that last, and from or to nothing, are supported", at: cut)
                }
                continue
            }
            let range = MediaTimeRange(start: time, duration: try duration(child, depth))
            let before = transition(index - 1, children), after = transition(index + 1, children)
            let fades = side(children, index) == .clip
            if let before, fades {
                if before.joins { turn = 1 - turn }
                try fade(before, at: time, isBeginning: true, place, lanes, number + turn, isUpper: turn == 1, kind)
            }
            if isEnabled(child) {
                let head = before?.head ?? .zero, tail = after?.tail ?? .zero
                try readItem(child, range, in: place, lanes, number + turn, kind, depth, head: head, tail: tail)
            }
            if let after, fades {
                try fade(after, at: range.end, isBeginning: false, place, lanes, number + turn, isUpper: turn == 1, kind)
            }
            isSeen = isSeen || !range.intersection(place.source).isEmpty
            time = range.end
        }
        if !isSeen, !children.isEmpty { notice(track, "its range shows none of its items", at: place.target.start) }
    }

    // MARK: Marks and effects

    mutating func effects(_ item: JSONValue, at time: MediaTime) {
        for effect in item.member("effects")?.elements ?? [] where isEnabled(effect) {
            notice(effect, "effects on \(Self.schema(item))s are not supported", at: time)
        }
    }

    mutating func mark(_ item: JSONValue, _ place: MediaTimeMapping) {
        for marker in (item.member("markers")?.elements ?? []).prefix(Self.mostItems) {
            guard let start = try? range(marker.member("marked_range"))?.start, place.source.contains(start) else { continue }
            composition.markers.append(CompositionMarker(time: place.targetTime(at: start), name: marker.member("name")?.characters ?? ""))
        }
    }
}
