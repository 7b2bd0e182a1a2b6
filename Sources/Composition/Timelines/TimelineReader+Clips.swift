internal import Glibc
internal import JSON
internal import Media
internal import Reading

/// What lies in a track: clips, gaps, stacks in stacks.
extension TimelineReader {
    /// - Parameters:
    ///   - head: How much earlier it begins, for a dissolve.
    ///   - tail: How much later it ends.
    mutating func readItem(
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

    mutating func readClip(
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
    mutating func speed(_ clip: JSONValue, at time: MediaTime) -> Double {
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
}
