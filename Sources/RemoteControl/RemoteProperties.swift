internal import Glibc
internal import JSON
internal import Media
internal import PixelConversion
internal import PlaySupport

/// The properties of mpv's manual that exist here, by their names there.
enum RemoteProperties {
    private typealias Reader = @Sendable (RemoteSnapshot) -> JSONValue?

    /// Each reader answers nil where the property has no value now.
    private static let readers: [String: Reader] = [
        "path": { $0.path.map { .string($0.withoutPasswords) } },
        "filename": { $0.path.map { .string(fileName($0)) } },
        "filename/no-ext": { $0.path.map { .string(withoutEnding(fileName($0))) } },
        "media-title": { ($0.title ?? $0.path.map(fileName)).map { .string($0) } },
        "time-pos": { $0.position.map { .number($0) } },
        "playback-time": { $0.position.map { .number($0) } },
        "time-remaining": { snapshot in remaining(snapshot).map { .number($0) } },
        "playtime-remaining": { snapshot in remaining(snapshot).map { .number($0 / snapshot.speed) } },
        "percent-pos": { snapshot in
            guard let position = snapshot.position, let duration = snapshot.duration, duration > 0 else { return nil }
            return .number(min(max(position / duration, 0), 1) * 100)
        },
        "duration": { $0.duration.map { .number($0) } },
        "pause": { .bool($0.isPaused) },
        "core-idle": { .bool(!$0.isRunning) },
        "idle-active": { .bool($0.path == nil) },
        "eof-reached": { $0.position == nil ? nil : .bool($0.hasEnded) },
        "seeking": { $0.position == nil ? nil : .bool($0.isSeeking) },
        "paused-for-cache": { $0.position == nil ? nil : .bool($0.isStarved) },
        "speed": { .number($0.speed) },
        "volume": { .number($0.volume * 100) },
        "volume-max": { .number($0.greatestVolume * 100) },
        "mute": { .bool($0.isMuted) },
        "fullscreen": { $0.isFullscreen.map { .bool($0) } },
        "loop-file": { repetition($0.loopCount, least: 0) }, "loop": { repetition($0.loopCount, least: 0) },
        "remaining-file-loops": { .integer($0.loopsLeft == .max ? -1 : Int64($0.loopsLeft)) },
        "loop-playlist": { repetition($0.listTurns == .max ? .max : $0.listTurns + 1, least: 1) },
        "shuffle": { .bool($0.isShuffled) },
        "playlist": { .array(playlist($0)) },
        "playlist-count": { .integer(Int64($0.entries.count)) },
        "playlist/count": { .integer(Int64($0.entries.count)) },
        "playlist-pos": { .integer(Int64($0.entry ?? -1)) },
        "playlist-pos-1": { .integer(Int64(($0.entry ?? -1) + 1)) },
        "playlist-current-pos": { .integer(Int64($0.entry ?? -1)) },
        "playlist-playing-pos": { .integer(Int64($0.entry ?? -1)) },
        "chapter": { $0.chapter.map { .integer(Int64($0)) } },
        "chapters": { $0.position == nil ? nil : .integer(Int64($0.chapters.count)) },
        "chapter-list": { .array(chapters($0)) }, "chapter-list/count": { .integer(Int64($0.chapters.count)) },
        "track-list": { .array($0.tracks.map(\.value)) }, "track-list/count": { .integer(Int64($0.tracks.count)) },
        "vid": { chosen(.video, $0) }, "aid": { chosen(.audio, $0) },
        "sid": { $0.position == nil ? nil : $0.subtitle.map { .integer(Int64($0)) } ?? false },
        "audio-delay": { .number($0.audioDelay) },
        "deinterlace": { .string($0.deinterlacing) },
        "sub-visibility": { .bool($0.showsSubtitles) },
        "sub-delay": { .number($0.subtitleDelay) }, "sub-pos": { .number($0.subtitlePosition) }, "sub-scale": { .number($0.subtitleScale) },
        "sub-text": { $0.subtitles.map { .string($0.text) } },
        "sub-text/ass": { $0.subtitles.map { .string($0.ass) } }, "sub-text-ass": { $0.subtitles.map { .string($0.ass) } },
        "sub-start": { $0.subtitles?.start.map { .number($0) } }, "sub-end": { $0.subtitles?.end.map { .number($0) } },
        "ab-loop-a": { $0.loopStart.map { .number($0) } ?? .string("no") }, "ab-loop-b": { $0.loopEnd.map { .number($0) } ?? .string("no") },
        "osd-level": { .integer(Int64($0.screenLevel)) },
        "hwdec-current": { $0.decoder.map { .string($0.contains("software") ? "no" : $0) } },
        "video-codec": { $0.decoder.map { .string($0) } },
        "current-vo": { $0.display.map { .string($0) } },
        "frame-drop-count": { .integer(Int64($0.framesDropped)) },
        "demuxer-cache-duration": { $0.position == nil ? nil : .number($0.buffered + ($0.secondsCached ?? 0)) },
        "cache-buffering-state": { $0.percentCached.map { .integer(Int64($0)) } },
        "cache-speed": { $0.bytesPerSecond.map { .integer($0) } },
        "cache-used": { $0.bytesCached.map { .integer($0) } },
        "live-latency": { $0.latency.map { .number($0) } }, "live-latency-target": { $0.latencyTarget.map { .number($0) } },
        "program-date": { $0.programDate.map { .string($0.description) } },
        "working-directory": { _ in folder.map { .string($0) } },
        "pid": { _ in .integer(Int64(getpid())) },
        "mpv-version": { .string("scanout \($0.version)") },
        "input-ipc-server": { .string($0.socket) },
        "command-list": { _ in .array(RemoteCommand.names.map { .object([JSONValue.Member("name", .string($0))]) }) },
    ]

    private static let colors = ColorBalance.Control.allCases.map(\.rawValue)

    /// Every name, in the order of the alphabet.
    static let names: [String] = (Array(readers.keys) + FramingChange.names + colors + ["property-list"]).sorted()

    /// Those that a remote control may set.
    static let settable = Set([
        "pause", "speed", "volume", "mute", "fullscreen", "time-pos", "playback-time", "percent-pos", "program-date", "playlist-pos",
        "playlist-pos-1",
        "chapter", "audio-delay", "aid", "sid", "deinterlace", "sub-visibility", "sub-delay", "sub-pos", "sub-scale", "osd-level",
        "ab-loop-a", "ab-loop-b", "loop", "loop-file", "loop-playlist",
    ]).union(FramingChange.names).union(colors)

    /// The value of a property.
    static func value(of name: String, _ snapshot: RemoteSnapshot) throws(RemoteError) -> JSONValue {
        // A member of another property refers to itself, and none of a list would end.
        if name == "property-list" { return .array(names.map { .string($0) }) }
        if let value = FramingChange.value(of: name, snapshot.framing) { return value }
        if let control = ColorBalance.Control(rawValue: name) { return .integer(Int64(snapshot.balance[control])) }
        guard let reader = readers[name] ?? listed(name) else { throw .propertyNotFound }
        guard let value = reader(snapshot) else { throw .propertyUnavailable }
        return value
    }

    /// The members of the entries of lists.
    private static let members: [String: Set<String>] = [
        "playlist": ["filename", "title", "current", "playing", "id"], "chapter-list": ["title", "time"],
        "track-list": [
            "id", "type", "title", "lang", "codec", "image", "albumart", "default", "forced", "hearing-impaired", "external", "external-filename",
            "selected",
        ],
    ]

    /// `playlist/N/filename` and its like.
    private static func listed(_ name: String) -> Reader? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let known = members[parts[0]], let index = Int(parts[1]), index >= 0, known.contains(parts[2]),
            let list = readers[parts[0]]
        else { return nil }
        return { snapshot in
            guard case .array(let entries)? = list(snapshot), index < entries.count else { return nil }
            return entries[index][parts[2]]
        }
    }

    private static func chapters(_ snapshot: RemoteSnapshot) -> [JSONValue] {
        snapshot.chapters.map { .object([JSONValue.Member("title", .string($0.title)), JSONValue.Member("time", .number($0.time))]) }
    }

    /// How often something is repeated; no more than `least`: not.
    private static func repetition(_ count: Int, least: Int) -> JSONValue {
        count == .max ? .string("inf") : count <= least ? .bool(false) : .integer(Int64(count))
    }

    /// The number of the track that plays; false: none does.
    private static func chosen(_ kind: RemoteTrack.Kind, _ snapshot: RemoteSnapshot) -> JSONValue? {
        guard snapshot.position != nil else { return nil }
        return snapshot.tracks.first { $0.kind == kind && $0.isSelected }.map { .integer(Int64($0.number)) } ?? false
    }

    private static func playlist(_ snapshot: RemoteSnapshot) -> [JSONValue] {
        snapshot.entries.enumerated().map { index, entry in
            var members = [JSONValue.Member("filename", .string(entry.location.withoutPasswords))]
            if let title = entry.title { members.append(JSONValue.Member("title", .string(title))) }
            if index == snapshot.entry { members += [JSONValue.Member("current", true), JSONValue.Member("playing", true)] }
            members.append(JSONValue.Member("id", .integer(Int64(index + 1))))
            return .object(members)
        }
    }

    private static func remaining(_ snapshot: RemoteSnapshot) -> Double? {
        guard let position = snapshot.position, let duration = snapshot.duration else { return nil }
        return max(duration - position, 0)
    }

    static func fileName(_ path: String) -> String {
        let name = path.withoutPasswords
        return name.split(separator: "/").last.map(String.init) ?? name
    }

    private static func withoutEnding(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// A value as `get_property_string` writes it.
    static func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .bool(let flag): flag ? "yes" : "no"
        case .number(let number): fixed(number, decimals: 6)
        default: value.text
        }
    }

    /// Whether a text means this value: `1.0` and 1 are the same.
    static func isSame(_ word: String, _ value: JSONValue) -> Bool {
        if word == text(value) { return true }
        guard let number = try? RemoteCommand.number(value) else { return false }
        if word.contains(":"), let ratio = FramingChange.ratio(word) { return ratio.doubleValue == number }
        return Double(word) == number
    }

    /// With so many digits behind the point, as C's `%.6f`.
    static func fixed(_ number: Double, decimals: Int) -> String { number.decimal(decimals) ?? "\(number)" }

    /// `0:12 - no`, the marks of the part that is repeated.
    static func loop(_ snapshot: RemoteSnapshot) -> String {
        guard snapshot.loopStart != nil || snapshot.loopEnd != nil else { return "no" }
        return [snapshot.loopStart, snapshot.loopEnd].map { $0.map { MediaTime(seconds: $0).clockText } ?? "no" }.joined(separator: " - ")
    }

    private static var folder: String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        return unsafe getcwd(&bytes, bytes.count).map { unsafe String(cString: $0) }
    }

    /// What the viewer is told of a property; nothing where it has no value.
    static func spoken(_ name: String, _ snapshot: RemoteSnapshot) -> String {
        (try? value(of: name, snapshot)).map { spoken(name, $0, snapshot) } ?? ""
    }

    /// A value as people read it: times as hours, minutes and seconds, and lists a line each.
    static func spoken(_ name: String, _ value: JSONValue, _ snapshot: RemoteSnapshot) -> String {
        switch name {
        case "playlist": return SpokenList.playlist(snapshot)
        case "track-list": return SpokenList.tracks(snapshot)
        case "chapter-list": return SpokenList.chapters(snapshot)
        default: break
        }
        guard case .number(let number) = value else { return text(value) }
        switch name {
        case "time-pos", "playback-time", "time-remaining", "playtime-remaining", "duration":
            let seconds = Int(number)
            return [seconds / 3600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        case "percent-pos", "volume": return String(Int(number))
        case "speed": return fixed(number, decimals: 2)
        default: return text(value)
        }
    }
}
