internal import DisplaySink
internal import JSON
internal import Media
internal import PixelConversion
internal import PlaySupport

/// What setting a property means.
enum RemoteChange {
    /// `set_property`: a value of the property's own kind. `set` and `set_property_string` write it as text.
    static func action(setting name: String, to value: JSONValue, _ snapshot: RemoteSnapshot) throws(RemoteError) -> RemoteAction {
        if let control = ColorBalance.Control(rawValue: name) {
            return .setColor(control, Int(try number(value, Double(ColorBalance.range.lowerBound)...Double(ColorBalance.range.upperBound)).rounded()))
        }
        switch name {
        case "pause": return .setPaused(try flag(value))
        case "mute": return .setMuted(try flag(value))
        case "fullscreen":
            guard snapshot.isFullscreen != nil else { throw .propertyUnavailable }
            return .setFullscreen(try flag(value))
        case "speed": return .setSpeed(try number(value, 0.1...16))
        case "volume": return .setVolume(try number(value, 0...snapshot.greatestVolume * 100) / 100)
        case "time-pos", "playback-time":
            guard snapshot.position != nil else { throw .propertyUnavailable }
            return .seek(to: try number(value, 0...Double.greatestFiniteMagnitude))
        case "program-date":
            guard snapshot.programDate != nil else { throw .propertyUnavailable }
            guard case .string(let text) = value, let date = ProgramDate(iso8601: text) else { throw .propertyError }
            return .seekToDate(date)
        case "percent-pos":
            guard let duration = snapshot.duration else { throw .propertyUnavailable }
            return .seek(to: try number(value, 0...100) / 100 * duration)
        case "chapter":
            guard snapshot.chapter != nil else { throw .propertyUnavailable }
            return .goToChapter(index: Int(try number(value, 0...Double(snapshot.chapters.count - 1))))
        case "panscan": return .setFraming(.panscan(try number(value, Framing.panscanRange)))
        case "video-zoom": return .setFraming(.zoom(try number(value, Framing.zoomRange)))
        case "video-pan-x": return .setFraming(.panX(try number(value, Framing.panRange)))
        case "video-pan-y": return .setFraming(.panY(try number(value, Framing.panRange)))
        case "video-rotate":
            let degrees = value == .string("no") ? 0 : Int(try number(value, 0...360).rounded()) % 360
            guard let rotation = FrameOrientation.Rotation(rawValue: degrees) else { throw .propertyError }
            return .setFraming(.rotation(rotation))
        case "video-mirror": return .setFraming(.mirrored(try flag(value)))
        case "video-aspect-override":
            guard let ratio = FramingChange.ratio(RemoteProperties.text(value)) else { throw .propertyError }
            return .setFraming(.aspectRatio(ratio))
        case "keepaspect": return .setFraming(.keepsAspect(try flag(value)))
        case "audio-delay": return .setAudioDelay(try number(value, -60...60))
        case "aid":
            guard snapshot.position != nil else { throw .propertyUnavailable }
            return .setSound(Int(try number(value, 1...Double(max(snapshot.tracks.count { $0.kind == .audio }, 1)))))
        case "sid":
            guard snapshot.position != nil else { throw .propertyUnavailable }
            if value == .string("no") || value == false { return .setSubtitle(nil) }
            return .setSubtitle(Int(try number(value, 1...Double(max(snapshot.tracks.count { $0.kind == .sub }, 1)))))
        case "deinterlace":
            let names: [JSONValue] = ["no", "auto", "yes"].map(JSONValue.string)
            guard names.contains(value) || value == true || value == false else { throw .propertyError }
            if case .string(let name) = value { return .setDeinterlacing(name) }
            return .setDeinterlacing(value == true ? "yes" : "no")
        case "sub-visibility": return .setSubtitlesVisible(try flag(value))
        case "sub-delay": return .setSubtitleDelay(try number(value, -86_400...86_400))
        case "sub-pos": return .setSubtitlePosition(try number(value, 0...150))
        case "sub-scale": return .setSubtitleScale(try number(value, 0.1...10))
        case "ab-loop-a", "ab-loop-b":
            let time = value == .string("no") || value == false ? nil : try number(value, 0...Double.greatestFiniteMagnitude)
            return name == "ab-loop-a" ? .setLoopStart(time) : .setLoopEnd(time)
        case "loop", "loop-file": return .setLoopCount(try repetition(value, least: 0))
        case "loop-playlist":
            let turns = try repetition(value, least: 1)
            return .setListTurns(turns == .max ? .max : max(turns - 1, 0))
        case "osd-level": return .setScreenLevel(Int(try number(value, 0...3)))
        case "playlist-pos": return try play(value, first: 0, snapshot)
        case "playlist-pos-1": return try play(value, first: 1, snapshot)
        default: throw RemoteProperties.names.contains(name) ? .propertyError : .propertyNotFound
        }
    }

    /// `cycle`: the other of two values; a number moves by one, as with `add`.
    static func action(cycling name: String, isDown: Bool, _ snapshot: RemoteSnapshot) throws(RemoteError) -> RemoteAction {
        if name == "sid" || name == "sub" { return .cycleSubtitles(by: isDown ? -1 : 1) }
        if name == "aid" || name == "audio" { return .cycleSound(by: isDown ? -1 : 1) }
        if name == "deinterlace" {
            // In the order of mpv's manual.
            let names = ["no", "yes", "auto"], now = names.firstIndex(of: snapshot.deinterlacing) ?? 0
            return .setDeinterlacing(names[(now + (isDown ? 2 : 1)) % 3])
        }
        if ["loop", "loop-file", "loop-playlist"].contains(name) {
            let isOn = try RemoteProperties.value(of: name, snapshot) != false
            return try action(setting: name, to: .string(isOn ? "no" : "inf"), snapshot)
        }
        if case .bool(let now) = try RemoteProperties.value(of: name, snapshot) { return try action(setting: name, to: .bool(!now), snapshot) }
        return try action(adding: isDown ? -1 : 1, to: name, snapshot)
    }

    /// `add`: within the property's range.
    static func action(adding amount: Double, to name: String, _ snapshot: RemoteSnapshot) throws(RemoteError) -> RemoteAction {
        if name == "chapter", snapshot.chapter != nil, let step = Int(exactly: amount) { return .moveChapter(by: step) }
        let sum = try now(name, snapshot) + amount
        return try action(setting: name, to: .number(bounded(sum, name, snapshot)), snapshot)
    }

    /// `multiply`: within the property's range.
    static func action(multiplying name: String, by factor: Double, _ snapshot: RemoteSnapshot) throws(RemoteError) -> RemoteAction {
        let product = try now(name, snapshot) * factor
        return try action(setting: name, to: .number(bounded(product, name, snapshot)), snapshot)
    }

    private static func now(_ name: String, _ snapshot: RemoteSnapshot) throws(RemoteError) -> Double {
        guard case let value = try RemoteProperties.value(of: name, snapshot), let number = try? RemoteCommand.number(value) else {
            throw .propertyFormat
        }
        return number
    }

    private static func bounded(_ value: Double, _ name: String, _ snapshot: RemoteSnapshot) -> Double {
        if let range = FramingChange.range(of: name) { return min(max(value, range.lowerBound), range.upperBound) }
        if ColorBalance.Control(rawValue: name) != nil {
            return min(max(value, Double(ColorBalance.range.lowerBound)), Double(ColorBalance.range.upperBound))
        }
        return switch name {
        case "volume": min(max(value, 0), snapshot.greatestVolume * 100)
        case "percent-pos": min(max(value, 0), 100)
        case "speed": min(max(value, 0.1), 16)
        case "audio-delay": min(max(value, -60), 60)
        case "sub-delay": min(max(value, -86_400), 86_400)
        case "sub-pos": min(max(value, 0), 150)
        case "sub-scale": min(max(value, 0.1), 10)
        case "osd-level": min(max(value, 0), 3)
        case "time-pos", "playback-time": max(value, 0)
        case "playlist-pos": min(max(value, 0), Double(max(snapshot.entries.count - 1, 0)))
        case "playlist-pos-1": min(max(value, 1), Double(max(snapshot.entries.count, 1)))
        default: value
        }
    }

    /// How often something is played: `inf`, `no` or a number; `Int.max`: for ever.
    private static func repetition(_ value: JSONValue, least: Int) throws(RemoteError) -> Int {
        switch value {
        case .string("inf"), .string("yes"), .bool(true): .max
        // Forced repetition, too, ends with a list of which nothing can be played.
        case .string("force") where least == 1: .max
        case .string("no"), .bool(false): 0
        default: Int(try number(value, Double(least)...10_000))
        }
    }

    private static func play(_ value: JSONValue, first: Int, _ snapshot: RemoteSnapshot) throws(RemoteError) -> RemoteAction {
        let number = try number(value, Double(first)...Double(Int32.max))
        guard let index = Int(exactly: number), index - first < snapshot.entries.count else { throw .propertyError }
        return .play(index: index - first)
    }

    private static func flag(_ value: JSONValue) throws(RemoteError) -> Bool {
        switch value {
        case .bool(let flag): return flag
        case .string("yes"), .string("true"): return true
        case .string("no"), .string("false"): return false
        default: throw .propertyFormat
        }
    }

    private static func number(_ value: JSONValue, _ range: ClosedRange<Double>) throws(RemoteError) -> Double {
        guard let number = try? RemoteCommand.number(value) else { throw .propertyFormat }
        guard range.contains(number) else { throw .propertyError }
        return number
    }
}
