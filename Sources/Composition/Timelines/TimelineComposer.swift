internal import Glibc
internal import Media
internal import Reading
internal import Timelines

/// Makes a composition of what a time line holds: finds the films, and puts their parts into tracks.
struct TimelineComposer {
    private(set) var composition = Composition()
    private(set) var notices: [String] = []
    /// Films with frames, in the order of the file.
    private(set) var sources: [CompositionSource] = []
    private(set) var frameDuration: MediaTime?
    /// How opaque each track of frames is, and how loud each track of sound, where that changes.
    private(set) var levels: [Int: Ramped<Double>] = [:]
    private var known = Set<String>()
    private let path: String

    /// Items that one sentence names.
    private static let mostReasons = 8

    /// - Parameter path: The time line's, from whose folder relative paths begin, and which sentences name.
    /// - Throws: `.composition` where nothing is left to show.
    init(_ timeline: TimelineDescription, _ path: String) throws(ReadingError) {
        self.path = path
        frameDuration = timeline.frameDuration
        let tracks = timeline.tracks.map { composition.addTrack($0 == .video ? .video : .sound) }
        for entry in timeline.entries {
            switch entry {
            case .notice(let notice): tell(notice.words, at: notice.time)
            case .clip(let clip): place(clip, in: tracks[clip.track], timeline.tracks[clip.track])
            }
        }
        if timeline.unlistedNoticeCount > 0 { notices.append("\(path): \(timeline.unlistedNoticeCount) more of its parts are not supported.") }
        for level in timeline.levels {
            let id = tracks[level.track]
            levels[id, default: Ramped(1)].ramp(from: level.from, to: level.to, during: level.range)
        }
        composition.markers = timeline.markers.map { CompositionMarker(time: $0.time, name: $0.name) }
        for track in composition.tracks where !track.segments.contains(where: { !$0.isEmpty }) { try? composition.removeTrack(track.id) }
        guard let first = composition.tracks.first else { throw nothingToShow }
        let end = composition.duration
        if timeline.length > end + TimelineDescription.rounding {
            try? composition.edit(first.id) { track throws(CompositionError) in
                try track.insertEmpty(lasting: timeline.length - end, at: end)
            }
        }
    }

    private var nothingToShow: ReadingError {
        let reasons = notices.prefix(Self.mostReasons).map { String($0.dropFirst(path.count + 2).dropLast()) }
        let rest = notices.count > reasons.count ? ["and \(notices.count - reasons.count) more"] : []
        let why = reasons.isEmpty ? "no clip is in its tracks" : (reasons + rest).joined(separator: "; ")
        return ReadingError(.composition, "\(path): it has nothing to show: \(why).")
    }

    private mutating func tell(_ words: String, at time: MediaTime) {
        let sentence = "\(path): at \(time), \(words)."
        if known.insert(sentence).inserted { notices.append(sentence) }
    }

    private mutating func place(_ clip: TimelineDescription.Clip, in track: Int, _ kind: TimelineDescription.Kind) {
        func notice(_ what: String) { tell("\(clip.label): \(what)", at: clip.target.start) }
        guard let location = TimelineAddress.path(of: clip.address, besides: path) else { return notice("only files are read, not \(clip.address)") }
        if unsafe location.withPath({ unsafe access($0, R_OK) }) != 0 {
            return notice("its film cannot be read, \(location): \(unsafe String(cString: strerror(errno)))")
        }
        frameDuration = frameDuration ?? clip.frameDuration
        let source = CompositionSource(url: location)
        if kind == .video, !sources.contains(source) { sources.append(source) }
        // Times that had to be rounded may overlap by as much.
        let end = composition.track(track)?.duration ?? .zero, from = max(clip.target.start, end)
        guard clip.target.start + TimelineDescription.rounding >= end, clip.target.end > from else { return notice("it cannot be placed") }
        do throws(CompositionError) {
            try composition.insert(clip.part, of: source, into: track, at: from, duration: clip.target.end - from)
        } catch {
            notice("it cannot be placed")
        }
    }
}
