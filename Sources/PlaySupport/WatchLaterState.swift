internal import Media
public import PixelConversion
public import Player

/// What is kept of a film that the viewer left: where, and what they had set there.
///
/// As text it is a configuration file with mpv's names, a line an option. A pure value.
public struct WatchLaterState: Sendable, Hashable {
    private enum Kind {
        case number(ClosedRange<Double>)
        case flag
        case word(Set<String>)
        case track
    }

    private enum Value: Sendable, Hashable {
        case number(Double)
        case flag(Bool)
        case word(String)
        case track(TrackPreferences.Choice)
    }

    /// 30 years: no film is longer.
    private static let times = 0...1e9

    private static var kinds: [(name: String, kind: Kind)] {
        [
            ("start", .number(times)), ("speed", .number(0.1...16)), ("volume", .number(0...1000)), ("mute", .flag),
            ("audio-delay", .number(-60...60)), ("deinterlace", .word(["no", "auto", "yes"])), ("aid", .track), ("sid", .track),
            ("sub-delay", .number(-86_400...86_400)), ("sub-pos", .number(0...150)), ("sub-scale", .number(0.1...10)), ("sub-visibility", .flag),
            ("panscan", .number(0...1)), ("video-zoom", .number(-20...20)), ("video-pan-x", .number(-3...3)), ("video-pan-y", .number(-3...3)),
            ("video-rotate", .number(0...270)), ("video-aspect-override", .number(-1...10)), ("ab-loop-a", .number(times)),
            ("ab-loop-b", .number(times)),
        ] + ColorBalance.Control.allCases.map { ($0.rawValue, .number(-100...100)) }
    }

    private var values: [String: Value] = [:]

    /// Nothing but that the film was left.
    public init() {}

    /// Reads a file. Options that do not exist here are left out, and numbers beyond what can be set are the nearest that can.
    ///
    /// - Returns: Nil where a line is no option or a value makes no sense: then nothing of the file counts.
    public init?(text: String) {
        let kinds = Dictionary(uniqueKeysWithValues: Self.kinds.map { ($0.name, $0.kind) })
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            guard let equals = line.firstIndex(of: "="), line[..<equals].allSatisfy(Self.isOfName), equals > line.startIndex else { return nil }
            guard let kind = kinds[String(line[..<equals])] else { continue }
            guard let value = Self.value(line[line.index(after: equals)...], kind) else { return nil }
            values[String(line[..<equals])] = value
        }
    }

    private static func isOfName(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "-")
    }

    private static func value(_ text: Substring, _ kind: Kind) -> Value? {
        switch kind {
        case .number(let range):
            guard let number = Double(text), number.isFinite else { return nil }
            return .number(min(max(number, range.lowerBound), range.upperBound))
        case .flag: return text == "yes" || text == "no" ? .flag(text == "yes") : nil
        case .word(let words): return words.contains(String(text)) ? .word(String(text)) : nil
        case .track:
            switch text {
            case "no": return .track(.none)
            case "auto": return .track(.automatic)
            default: return Int(text).flatMap { (1...1_000_000).contains($0) ? .track(.number($0)) : nil }
            }
        }
    }

    /// The file, without the film's name.
    public var text: String {
        Self.kinds.compactMap { name, _ in values[name].map { "\(name)=\(Self.text($0))\n" } }.joined()
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .number(let number): "\(number)"
        case .flag(let flag): flag ? "yes" : "no"
        case .word(let word): word
        case .track(.automatic): "auto"
        case .track(.none): "no"
        case .track(.number(let number)): "\(number)"
        }
    }

    /// The same without these options, by mpv's names.
    public func without(_ names: Set<String>) -> WatchLaterState {
        var rest = self
        for name in names { rest.values[name] = nil }
        return rest
    }

    private func number(_ name: String) -> Double? { if case .number(let number)? = values[name] { number } else { nil } }
    private func flag(_ name: String) -> Bool? { if case .flag(let flag)? = values[name] { flag } else { nil } }

    private func track(_ name: String) -> TrackPreferences.Choice? { if case .track(let choice)? = values[name] { choice } else { nil } }

    /// Where the film was left, in seconds; nil: that is not known.
    public var start: Double? {
        get { number("start") }
        set { values["start"] = newValue.map(Value.number) }
    }

    /// Media seconds a second; nil, as for all others: as the program's options say.
    public var speed: Double? {
        get { number("speed") }
        set { values["speed"] = newValue.map(Value.number) }
    }

    /// In percent.
    public var volume: Double? {
        get { number("volume") }
        set { values["volume"] = newValue.map(Value.number) }
    }

    /// The sound is switched off.
    public var isMuted: Bool? {
        get { flag("mute") }
        set { values["mute"] = newValue.map(Value.flag) }
    }

    /// How many seconds later the sound is heard.
    public var audioDelay: Double? {
        get { number("audio-delay") }
        set { values["audio-delay"] = newValue.map(Value.number) }
    }

    /// The sound that was chosen.
    public var sound: TrackPreferences.Choice? {
        get { track("aid") }
        set { values["aid"] = newValue.map(Value.track) }
    }

    /// How much of the borders is filled, 0 to 1.
    public var panscan: Double? {
        get { number("panscan") }
        set { values["panscan"] = newValue.map(Value.number) }
    }

    /// The film is larger by this power of two.
    public var zoom: Double? {
        get { number("video-zoom") }
        set { values["video-zoom"] = newValue.map(Value.number) }
    }

    /// How far the film lies to the right, as a share of its width.
    public var panX: Double? {
        get { number("video-pan-x") }
        set { values["video-pan-x"] = newValue.map(Value.number) }
    }

    /// How far the film lies further down, as a share of its height.
    public var panY: Double? {
        get { number("video-pan-y") }
        set { values["video-pan-y"] = newValue.map(Value.number) }
    }

    /// Degrees clockwise.
    public var rotation: Double? {
        get { number("video-rotate") }
        set { values["video-rotate"] = newValue.map(Value.number) }
    }

    /// Width over height; -1: the film's own.
    public var aspectRatio: Double? {
        get { number("video-aspect-override") }
        set { values["video-aspect-override"] = newValue.map(Value.number) }
    }

    /// A control of the display's brightness and colours, -100 to 100.
    public subscript(control: ColorBalance.Control) -> Int? {
        get { number(control.rawValue).map { Int($0) } }
        set { values[control.rawValue] = newValue.map { .number(Double($0)) } }
    }

    /// `no`, `auto` or `yes`.
    public var deinterlacing: String? {
        get { if case .word(let word)? = values["deinterlace"] { word } else { nil } }
        set { values["deinterlace"] = newValue.map(Value.word) }
    }

    /// The subtitles that were chosen.
    public var subtitles: TrackPreferences.Choice? {
        get { track("sid") }
        set { values["sid"] = newValue.map(Value.track) }
    }

    /// How many seconds later subtitles come.
    public var subtitleDelay: Double? {
        get { number("sub-delay") }
        set { values["sub-delay"] = newValue.map(Value.number) }
    }

    /// The height of subtitles of text, 100 at the lower edge.
    public var subtitlePosition: Double? {
        get { number("sub-pos") }
        set { values["sub-pos"] = newValue.map(Value.number) }
    }

    /// How many times as large subtitles of text are.
    public var subtitleScale: Double? {
        get { number("sub-scale") }
        set { values["sub-scale"] = newValue.map(Value.number) }
    }

    /// The chosen subtitles are shown.
    public var showsSubtitles: Bool? {
        get { flag("sub-visibility") }
        set { values["sub-visibility"] = newValue.map(Value.flag) }
    }

    /// The marks of the part that is repeated, in seconds.
    public var loopStart: Double? {
        get { number("ab-loop-a") }
        set { values["ab-loop-a"] = newValue.map(Value.number) }
    }

    /// The end of that part, in seconds.
    public var loopEnd: Double? {
        get { number("ab-loop-b") }
        set { values["ab-loop-b"] = newValue.map(Value.number) }
    }
}
