internal import JSON
internal import Media

/// Reads the items of a time line's text into tracks.
///
/// A track of the time line becomes one or several of the composition: two take turns where clips dissolve, and the tracks of a nested stack lie
/// over each other. Each item is read with a `MediaTimeMapping`: the part of its own time that is seen, and where that lies in the composition.
struct TimelineReader {
    var found = TimelineDescription()
    private var notices = Set<TimelineDescription.Notice>()
    private var itemCount = 0

    /// How deeply tracks and stacks may be nested.
    static let deepest = 32
    /// Of an item's name in a sentence, in characters.
    private static let longestName = 100

    mutating func notice(_ item: JSONValue, _ what: String, at time: MediaTime) {
        let notice = TimelineDescription.Notice(time: Self.isTime(time) ? time : .zero, words: "\(label(item)): \(what)")
        guard notices.count < TimelineDescription.mostNotices else { return found.unlistedNoticeCount += 1 }
        if notices.insert(notice).inserted { found.entries.append(.notice(notice)) }
    }

    /// What sentences call an item.
    func label(_ item: JSONValue) -> String {
        let name = (item.member("name")?.characters ?? "").prefix(Self.longestName)
        return Self.schema(item).prefix(Self.longestName) + (name.isEmpty ? "" : " “\(name)”")
    }

    /// Whether it is a number within the bounds of a description.
    static func isTime(_ time: MediaTime) -> Bool { time.isNumeric && time.magnitude <= TimelineDescription.latest }

    // MARK: Structure

    mutating func read(_ tree: JSONValue) throws(TimelineError) {
        guard Self.schema(tree) == "Timeline", let stack = tree.member("tracks"), Self.schema(stack) == "Stack" else {
            throw broken("it is no OpenTimelineIO time line")
        }
        found.name = tree.member("name")?.characters ?? ""
        if let rate = tree.member("global_start_time")?.member("rate")?.amount {
            let exact = try rate == 0 ? (25, 1) : self.rate(rate)
            found.frameDuration = MediaTime(value: Int64(exact.1), timescale: exact.0)
        }
        let length = try duration(stack, 0)
        guard length > .zero else { throw broken("it has nothing to show: its tracks are empty") }
        found.length = length
        let start = try range(stack.member("source_range"))?.start ?? .zero
        let whole = MediaTimeRange(start: .zero, duration: length)
        if let place = try place(stack, whole, in: MediaTimeMapping(source: whole, target: whole), from: start) {
            try readStack(stack, place, Lanes(), 0)
        }
    }

    /// How long an item is in its parent.
    func duration(_ item: JSONValue, _ depth: Int) throws(TimelineError) -> MediaTime {
        if let own = try range(item.member("source_range")) { return own.duration }
        switch Self.schema(item) {
        case "Stack":
            var longest = MediaTime.zero
            for child in item.member("children")?.elements ?? [] { longest = max(longest, try duration(child, depth + 1)) }
            return longest
        case "Track":
            var sum = MediaTime.zero
            for child in item.member("children")?.elements ?? [] { sum += try duration(child, depth + 1) }
            guard sum <= TimelineDescription.longest else { throw broken("a track lasts longer than a day") }
            return sum
        case "Clip": return try range(reference(item)?.member("available_range"))?.duration ?? .zero
        default: return .zero
        }
    }

    func reference(_ clip: JSONValue) -> JSONValue? {
        clip.member("media_reference")
            ?? clip.member("media_references")?.member(clip.member("active_media_reference_key")?.characters ?? "DEFAULT_MEDIA")
    }

    /// The indices of the tracks of the composition in which a track of the time line lies.
    final class Lanes {
        var video: [Int] = []
        var sound: [Int] = []
    }

    mutating func lane(_ lanes: Lanes, _ kind: TimelineDescription.Kind, _ number: Int) throws(TimelineError) -> Int {
        while (kind == .video ? lanes.video : lanes.sound).count <= number {
            let id = found.tracks.count, most = TimelineDescription.mostTracks
            guard id < most else { throw broken("it needs more than \(most) tracks") }
            found.tracks.append(kind)
            if kind == .video { lanes.video.append(id) } else { lanes.sound.append(id) }
        }
        return kind == .video ? lanes.video[number] : lanes.sound[number]
    }

    /// - Parameters:
    ///   - place: Which part of its time is seen, and where in the composition.
    ///   - lanes: Those of the track in which a nested stack lies.
    mutating func readStack(_ stack: JSONValue, _ place: MediaTimeMapping, _ lanes: Lanes, _ depth: Int) throws(TimelineError) {
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
    static func kind(of track: JSONValue) -> TimelineDescription.Kind? {
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
    ) throws(TimelineError) {
        guard let kind = Self.kind(of: track) else { return }
        mark(track, place)
        let children = track.member("children")?.elements ?? []
        var time = MediaTime.zero, turn = 0, isSeen = false
        for (index, child) in children.enumerated() {
            itemCount += 1
            let most = TimelineDescription.mostClips
            guard itemCount <= most else { throw broken("it has more than \(most) items") }
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
        for marker in item.member("markers")?.elements ?? [] where found.markers.count < TimelineDescription.mostMarkers {
            guard let start = try? range(marker.member("marked_range"))?.start, place.source.contains(start) else { continue }
            let time = place.targetTime(at: start)
            if Self.isTime(time) { found.markers.append(TimelineDescription.Marker(time: time, name: marker.member("name")?.characters ?? "")) }
        }
    }
}
