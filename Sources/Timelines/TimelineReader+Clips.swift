internal import JSON
internal import Media

/// What lies in a track: clips, gaps, stacks in stacks.
extension TimelineReader {
    /// How long a frozen moment is in the film: less than any frame.
    private static let moment = MediaTime(value: 1, timescale: 1_000_000)

    /// The part of an item that is seen, and where in the composition; nil where nothing of it is.
    ///
    /// - Parameters:
    ///   - range: Where it lies in its parent's time.
    ///   - parent: What is seen of its parent, and where.
    ///   - start: The item's own time at the start of `range`.
    ///   - head: How much earlier it begins, for a dissolve.
    ///   - tail: How much later it ends.
    mutating func place(
        _ item: JSONValue, _ range: MediaTimeRange, in parent: MediaTimeMapping, from start: MediaTime, head: MediaTime = .zero,
        tail: MediaTime = .zero
    ) throws(TimelineError) -> MediaTimeMapping? {
        let seen = MediaTimeRange(start: range.start - head, end: range.end + tail).intersection(parent.source)
        guard !seen.isEmpty else { return nil }
        let target = MediaTimeRange(start: parent.targetTime(at: seen.start), end: parent.targetTime(at: seen.end))
        guard target.start.isNumeric, target.end.isNumeric, !target.isEmpty else { return nil }
        let speed = speed(item, at: target.start)
        if speed == 0 { return MediaTimeMapping(source: MediaTimeRange(start: start, duration: Self.moment), target: target) }
        let first = start + (seen.start - range.start).multiplied(by: speed), last = start + (seen.end - range.start).multiplied(by: speed)
        guard Self.isTime(first), Self.isTime(last), first < last else { throw broken("a time cannot be said as a number") }
        return MediaTimeMapping(source: MediaTimeRange(start: first, end: last), target: target)
    }

    /// Reads an item that lies at `range` of its parent's time.
    mutating func readItem(
        _ item: JSONValue, _ range: MediaTimeRange, in parent: MediaTimeMapping, _ lanes: Lanes, _ number: Int, _ kind: TimelineDescription.Kind,
        _ depth: Int, head: MediaTime = .zero, tail: MediaTime = .zero
    ) throws(TimelineError) {
        let schema = Self.schema(item), shown = MediaTimeRange(start: range.start - head, end: range.end + tail).intersection(parent.source)
        let time = parent.targetTime(at: parent.source.clamp(range.start))
        guard ["Gap", "Clip", "Stack", "Track"].contains(schema) else { return notice(item, "it is not supported", at: time) }
        if schema == "Track", Self.kind(of: item) == nil {
            return notice(item, "a track of kind \(item.member("kind")?.characters ?? "") is not supported", at: time)
        }
        guard !range.isEmpty, !shown.isEmpty else { return }
        if schema == "Gap" { return effects(item, at: time) }
        let wanted = try self.range(item.member("source_range"))
        if schema == "Clip" {
            let available = try self.range(reference(item)?.member("available_range"))
            guard let start = (wanted ?? available)?.start else { return notice(item, "it has no range", at: time) }
            guard let place = try place(item, range, in: parent, from: start, head: head, tail: tail) else { return }
            return try readClip(item, place, available?.start ?? .zero, try lane(lanes, kind, number), kind)
        }
        guard depth < Self.deepest else { throw broken("stacks are nested too deeply") }
        guard let place = try place(item, range, in: parent, from: wanted?.start ?? .zero) else { return }
        if schema == "Track" {
            try readTrack(item, place, lanes, number, depth + 1)
        } else {
            try readStack(item, place, lanes, depth + 1)
        }
    }

    /// - Parameter available: The time of the clip at which its film begins.
    private mutating func readClip(
        _ clip: JSONValue, _ place: MediaTimeMapping, _ available: MediaTime, _ track: Int, _ kind: TimelineDescription.Kind
    ) throws(TimelineError) {
        let media = reference(clip), time = place.target.start
        mark(clip, place)
        guard Self.schema(media) == "ExternalReference", let url = media?.member("target_url")?.characters else {
            return notice(media ?? clip, "a clip without a film is shown as a gap", at: time)
        }
        guard TimelineDescription.isAddress(url) else { return notice(clip, "the address of its film is no path", at: time) }
        var frameDuration: MediaTime?
        if kind == .video, let rate = clip.member("source_range")?.member("duration")?.member("rate")?.amount, rate > 0 {
            let exact = try self.rate(rate)
            frameDuration = MediaTime(value: Int64(exact.denominator), timescale: exact.numerator)
        }
        // What lies before the film's beginning is empty.
        let start = max(place.source.start, available)
        guard start < place.source.end else { return notice(clip, "it begins before its film does", at: time) }
        let begin = start == place.source.start ? time : place.targetTime(at: start)
        let part = MediaTimeRange(start: start - available, end: place.source.end - available)
        let target = MediaTimeRange(start: begin, end: place.target.end)
        guard [part.start, part.end, target.start, target.end].allSatisfy(Self.isTime), !part.isEmpty, !target.isEmpty, target.start >= .zero else {
            return notice(clip, "it cannot be placed", at: time)
        }
        found.entries.append(
            .clip(
                TimelineDescription.Clip(
                    track: track, address: url, part: part, target: target, frameDuration: frameDuration, label: label(clip))))
    }

    /// An item's speed by its time warps; 0 is a frozen moment.
    private mutating func speed(_ item: JSONValue, at time: MediaTime) -> Double {
        var speed = 1.0
        for effect in item.member("effects")?.elements ?? [] where isEnabled(effect) {
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
}
