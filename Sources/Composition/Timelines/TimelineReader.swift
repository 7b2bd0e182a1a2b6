internal import Glibc
internal import JSON
internal import Media
internal import Reading

/// Reads the items of a time line into the tracks of a composition.
///
/// A track of the time line becomes one or several of the composition: two take turns where frames dissolve, and the tracks of a nested stack lie
/// over each other.
struct TimelineReader {
    private(set) var composition = Composition()
    private(set) var notices: [String] = []
    /// Films with frames, in the order of the file.
    private(set) var sources: [CompositionSource] = []
    let path: String
    private(set) var frameDuration: MediaTime?
    /// How opaque each track of frames is, where that changes.
    private(set) var opacities: [Int: Ramped<Double>] = [:]
    private var itemCount = 0

    /// More than any film has.
    private static let mostItems = 4000
    private static let mostTracks = 64
    /// A day, in seconds.
    static let longest = MediaTime(value: 86_400, timescale: 1)

    init(_ path: String) { self.path = path }

    private mutating func notice(_ item: JSONValue, _ what: String, at time: MediaTime) {
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
        guard length > .zero else { throw broken("it has nothing to show") }
        try readStack(stack, MediaTimeRange(start: .zero, duration: length), Lanes(), 0)
        for track in composition.tracks where !track.segments.contains(where: { !$0.isEmpty }) { try? composition.removeTrack(track.id) }
        guard !composition.tracks.isEmpty else { throw broken("it has nothing to show; \(notices.count) items are not supported") }
    }

    /// How long an item is in its parent.
    private func duration(_ item: JSONValue, _ depth: Int) throws(ReadingError) -> MediaTime {
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

    private func reference(_ clip: JSONValue) -> JSONValue? {
        clip.member("media_reference")
            ?? clip.member("media_references")?.member(clip.member("active_media_reference_key")?.characters ?? "DEFAULT_MEDIA")
    }

    /// Tracks of the composition in which a track of the time line lies.
    private final class Lanes {
        var video: [Int] = []
        var sound: [Int] = []
    }

    private mutating func lane(_ lanes: Lanes, _ kind: CompositionTrack.Kind, _ number: Int) throws(ReadingError) -> Int {
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
    private mutating func readStack(_ stack: JSONValue, _ range: MediaTimeRange, _ lanes: Lanes, _ depth: Int) throws(ReadingError) {
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

    private func isEnabled(_ item: JSONValue) -> Bool { item.member("enabled") != .bool(false) }

    /// - Parameters:
    ///   - origin: The time of the track that is shown at the start of `window`.
    ///   - window: In the composition; what reaches beyond it is cut.
    ///   - number: The first lane.
    private mutating func readTrack(
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
        var place = window.start - origin - own, turn = 0
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
            place = target.end
        }
    }

    private func head(_ transition: JSONValue) -> MediaTime { (try? time(transition.member("in_offset"))) ?? .zero }
    private func tail(_ transition: JSONValue) -> MediaTime { (try? time(transition.member("out_offset"))) ?? .zero }

    private func isDissolve(_ transition: JSONValue, _ children: [JSONValue], _ index: Int) -> Bool {
        guard transition.member("transition_type")?.characters == "SMPTE_Dissolve", index > 0, index + 1 < children.count else { return false }
        let (old, new) = (children[index - 1], children[index + 1])
        guard Self.schema(old) == "Clip", Self.schema(new) == "Clip", isEnabled(old), isEnabled(new) else { return false }
        let (first, last) = (head(transition), tail(transition))
        guard first >= .zero, last >= .zero, first + last > .zero else { return false }
        // Neither clip takes part in two dissolves at once.
        let lengths = (try? (duration(old, 0), duration(new, 0))) ?? (.zero, .zero)
        let earlier = index > 1 && Self.schema(children[index - 2]) == "Transition" ? tail(children[index - 2]) : .zero
        let later = index + 2 < children.count && Self.schema(children[index + 2]) == "Transition" ? head(children[index + 2]) : .zero
        return earlier + first <= lengths.0 && last + later <= lengths.1
    }

    /// One lane's frames fade into another's.
    private mutating func dissolve(_ range: MediaTimeRange, _ lanes: Lanes, _ new: Int, _ old: Int) throws(ReadingError) {
        // The upper one changes.
        let isNewAbove = new > old, upper = try lane(lanes, .video, max(new, old))
        var opacity = opacities[upper] ?? Ramped(1)
        opacity.ramp(from: isNewAbove ? 0 : 1, to: isNewAbove ? 1 : 0, during: range)
        if !isNewAbove { opacity.set(1, at: range.end) }
        opacities[upper] = opacity
    }

    // MARK: Items

    /// - Parameters:
    ///   - head: How much earlier it begins, for a dissolve.
    ///   - tail: How much later it ends.
    private mutating func readItem(
        _ item: JSONValue, _ origin: MediaTime, _ target: MediaTimeRange, _ lanes: Lanes, _ number: Int, _ kind: CompositionTrack.Kind, _ depth: Int,
        window: MediaTimeRange? = nil, head: MediaTime = .zero, tail: MediaTime = .zero
    ) throws(ReadingError) {
        let window = window ?? target, shown = target.intersection(window)
        guard ["Gap", "Clip", "Stack", "Track"].contains(Self.schema(item)) else { return notice(item, "it is not supported", at: shown.start) }
        guard !target.isEmpty, !shown.isEmpty else { return }
        switch Self.schema(item) {
        case "Gap": effects(item, at: shown.start)
        case "Clip": try readClip(item, target, window, try lane(lanes, kind, number), kind, head, tail)
        case "Stack", "Track":
            guard depth < 16 else { throw broken("stacks are nested too deeply") }
            let cut = shown.start - target.start
            if Self.schema(item) == "Track" {
                try readTrack(item, cut, shown, lanes, number, depth + 1)
            } else if cut > .zero || shown.end < target.end {
                notice(item, "a nested stack that is cut by what it lies in is not supported", at: shown.start)
            } else {
                try readStack(item, shown, lanes, depth + 1)
            }
        default: break
        }
    }

    private mutating func readClip(
        _ clip: JSONValue, _ target: MediaTimeRange, _ window: MediaTimeRange, _ track: Int, _ kind: CompositionTrack.Kind, _ head: MediaTime,
        _ tail: MediaTime
    ) throws(ReadingError) {
        let media = reference(clip), available = try range(media?.member("available_range"))
        guard let wanted = try range(clip.member("source_range")) ?? available else { return notice(clip, "it has no range", at: target.start) }
        mark(clip, by: target.start - wanted.start, in: target.intersection(window))
        guard Self.schema(media) == "ExternalReference", let url = media?.member("target_url")?.characters else {
            return notice(media ?? clip, "a clip without a film is shown as a gap", at: target.start)
        }
        guard let location = TimelineAddress.path(of: url, besides: path) else {
            return notice(clip, "only files are read, not \(url)", at: target.start)
        }
        if unsafe location.withPath({ unsafe access($0, R_OK) }) != 0 {
            return notice(clip, "its film cannot be read, \(location): \(unsafe String(cString: strerror(errno)))", at: target.start)
        }
        let speed = speed(clip, at: target.start)
        let begin = wanted.start - (available?.start ?? .zero)
        if kind == .video, frameDuration == nil, let rate = clip.member("source_range")?.member("duration")?.member("rate")?.amount, rate > 0 {
            let exact = try self.rate(rate)
            frameDuration = MediaTime(value: Int64(exact.denominator), timescale: exact.numerator)
        }
        // The film's time at the clip's start, and its length; a frozen frame is a moment that lasts.
        var (first, last) = (begin - head.multiplied(by: speed), begin + (target.duration + tail).multiplied(by: speed))
        if speed == 0 { (first, last) = (begin, begin + MediaTime(value: 1, timescale: 10_000)) }
        var place = MediaTimeRange(start: target.start - head, end: target.end + tail)
        let mapping = MediaTimeMapping(source: MediaTimeRange(start: first, end: last), target: place)
        place = place.intersection(MediaTimeRange(start: max(window.start, .zero), end: window.end))
        if first < .zero { place = place.intersection(MediaTimeRange(start: mapping.targetTime(at: .zero), end: place.end)) }
        guard !place.isEmpty else { return notice(clip, "it begins before its film does", at: target.start) }
        let part = MediaTimeRange(start: mapping.sourceTime(at: place.start), end: mapping.sourceTime(at: place.end))
        let source = CompositionSource(url: location)
        if kind == .video, !sources.contains(source) { sources.append(source) }
        do throws(CompositionError) {
            let end = composition.track(track)?.duration ?? .zero
            guard place.start >= end else { throw CompositionError(.range, "It overlaps what lies before it.") }
            try composition.insert(part, of: source, into: track, at: place.start, duration: place.duration)
        } catch {
            notice(clip, "it cannot be placed", at: target.start)
        }
    }

    /// The clip's speed by its time warps; 0 is a frozen frame.
    private mutating func speed(_ clip: JSONValue, at time: MediaTime) -> Double {
        var speed = 1.0
        for effect in clip.member("effects")?.elements ?? [] where isEnabled(effect) {
            switch Self.schema(effect) {
            case "FreezeFrame": speed = 0
            case "LinearTimeWarp":
                let factor = effect.member("time_scalar")?.amount ?? 1
                if factor.isFinite, factor >= 0, factor <= 1000, factor == 0 || factor > 0.001 {
                    speed *= factor
                } else {
                    notice(effect, "a speed of \(factor) is not supported", at: time)
                }
            default: notice(effect, "the effect \(effect.member("effect_name")?.characters ?? "") is not supported", at: time)
            }
        }
        return speed
    }

    private mutating func effects(_ item: JSONValue, at time: MediaTime) {
        for effect in item.member("effects")?.elements ?? [] where isEnabled(effect) {
            notice(effect, "effects on \(Self.schema(item))s are not supported", at: time)
        }
    }

    private mutating func mark(_ item: JSONValue, by offset: MediaTime, in window: MediaTimeRange) {
        for marker in (item.member("markers")?.elements ?? []).prefix(Self.mostItems) {
            guard let start = try? range(marker.member("marked_range"))?.start, window.contains(start + offset) else { continue }
            composition.markers.append(CompositionMarker(time: start + offset, name: marker.member("name")?.characters ?? ""))
        }
    }
}
