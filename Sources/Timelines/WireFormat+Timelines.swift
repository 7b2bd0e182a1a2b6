internal import Media
internal import Sandbox

// How what a time line holds is written in messages. The player makes a composition of these values, so each has bounds.

extension WireWriter {
    mutating func put(_ timeline: TimelineDescription) {
        put(clean: timeline.name)
        put(timeline.length)
        put(timeline.frameDuration)
        put(UInt32(timeline.tracks.count))
        for kind in timeline.tracks { put(kind.rawValue) }
        put(UInt32(timeline.entries.count))
        for entry in timeline.entries { put(entry) }
        put(UInt32(clamping: timeline.unlistedNoticeCount))
        put(UInt32(timeline.levels.count))
        for level in timeline.levels {
            put(UInt32(level.track))
            put(level.range)
            put(level.from.bitPattern)
            put(level.to.bitPattern)
        }
        put(UInt32(timeline.markers.count))
        for marker in timeline.markers {
            put(marker.time)
            put(clean: marker.name)
        }
    }

    private mutating func put(_ entry: TimelineDescription.Entry) {
        switch entry {
        case .clip(let clip):
            put(UInt8(0))
            put(UInt32(clip.track))
            put(UInt32(clip.address.utf8.count))
            put(bytes: clip.address.utf8)
            put(clip.part)
            put(clip.target)
            put(clip.frameDuration)
            put(clean: clip.label)
        case .notice(let notice):
            put(UInt8(1))
            put(notice.time)
            put(clean: notice.words)
        }
    }

    private mutating func put(_ range: MediaTimeRange) {
        put(range.start)
        put(range.end)
    }

    private mutating func put(_ time: MediaTime?) {
        put(time != nil)
        put(time ?? .zero)
    }
}

extension WireReader {
    mutating func takeTimeline() throws(WireError) -> TimelineDescription {
        typealias Limits = TimelineDescription
        var timeline = TimelineDescription()
        timeline.name = try takeText()
        timeline.length = try takeTimelineTime(from: .zero)
        timeline.frameDuration = try takeFrameDuration()
        for _ in 0..<(try takeCount(below: Limits.mostTracks + 1)) {
            guard let kind = Limits.Kind(rawValue: try take()) else { throw WireError("no such kind of track") }
            timeline.tracks.append(kind)
        }
        var clipCount = 0, noticeCount = 0
        for _ in 0..<(try takeCount(below: Limits.mostClips + Limits.mostNotices + 1)) {
            let entry = try takeEntry(timeline.tracks)
            if case .clip = entry { clipCount += 1 } else { noticeCount += 1 }
            timeline.entries.append(entry)
        }
        guard clipCount <= Limits.mostClips, noticeCount <= Limits.mostNotices else { throw WireError("a time line has too many items") }
        timeline.unlistedNoticeCount = Int(try take(UInt32.self))
        for _ in 0..<(try takeCount(below: Limits.mostLevels + 1)) {
            let track = try takeCount(below: timeline.tracks.count), range = try takeTimelineRange(from: .zero)
            let from = Double(bitPattern: try take()), to = Double(bitPattern: try take())
            guard (0...1).contains(from), (0...1).contains(to) else { throw WireError("a track's level is not between 0 and 1") }
            timeline.levels.append(TimelineDescription.Level(track: track, range: range, from: from, to: to))
        }
        for _ in 0..<(try takeCount(below: Limits.mostMarkers + 1)) {
            timeline.markers.append(TimelineDescription.Marker(time: try takeTimelineTime(), name: try takeText()))
        }
        return timeline
    }

    private mutating func takeEntry(_ tracks: [TimelineDescription.Kind]) throws(WireError) -> TimelineDescription.Entry {
        switch try take(UInt8.self) {
        case 0:
            let track = try takeCount(below: tracks.count), length = try takeCount(below: TimelineDescription.longestAddress + 1)
            guard let address = String(validating: try take(count: length), as: UTF8.self), TimelineDescription.isAddress(address) else {
                throw WireError("a film's address is no text of one line")
            }
            let part = try takeTimelineRange(from: .zero), target = try takeTimelineRange(from: .zero)
            guard !part.isEmpty, !target.isEmpty else { throw WireError("a clip lasts no time") }
            return .clip(
                TimelineDescription.Clip(
                    track: track, address: address, part: part, target: target, frameDuration: try takeFrameDuration(), label: try takeText()))
        case 1: return .notice(TimelineDescription.Notice(time: try takeTimelineTime(), words: try takeText()))
        case let other: throw WireError("\(other) is no item of a time line")
        }
    }

    private mutating func takeTimelineTime(from earliest: MediaTime? = nil) throws(WireError) -> MediaTime {
        let time = try takeTime()
        guard TimelineReader.isTime(time), earliest.map({ time >= $0 }) ?? true else {
            throw WireError("a time line has no such time")
        }
        return time
    }

    private mutating func takeTimelineRange(from earliest: MediaTime) throws(WireError) -> MediaTimeRange {
        let start = try takeTimelineTime(from: earliest), end = try takeTimelineTime(from: earliest)
        guard start <= end else { throw WireError("a range ends before it begins") }
        return MediaTimeRange(start: start, end: end)
    }

    private mutating func takeFrameDuration() throws(WireError) -> MediaTime? {
        let isThere = try takeBool(), time = try takeTime()
        guard isThere else { return nil }
        guard time >= TimelineDescription.shortestFrame, time <= TimelineDescription.longestFrame else {
            throw WireError("no frame lasts \(time)")
        }
        return time
    }
}

extension TimelineDescription {
    /// A million a second.
    static let shortestFrame = MediaTime(value: 1, timescale: 1_000_000)
    /// A thousand seconds.
    static let longestFrame = MediaTime(value: 1000, timescale: 1)

    /// Whether a film's address can be handed on: neither empty, nor longer than a path, nor with control characters.
    static func isAddress(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestAddress && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
