internal import Demuxing
public import Media

/// A place in a film, as a viewer names it before it is known how long the film is and which chapters it has.
public enum FilmPoint: Sendable, Hashable {
    /// So long after the film's beginning.
    case time(MediaTime)
    /// So long before its end; the beginning of a film that is shorter.
    case beforeEnd(MediaTime)
    /// This share of its length, 0 to 1.
    case share(Double)
    /// The beginning of the chapter with this number, counted from 1.
    case chapter(Int)
    /// The frame that was made then.
    case date(ProgramDate)

    /// Reads it as mpv's options write it: `90`, `+1:30`, `-10` (before the end), `50%`, `#2`; and a date
    /// (`2026-11-27T20:15:00Z`); nil: it makes no sense.
    public init?(text: String) {
        if let date = ProgramDate(iso8601: text) {
            self = .date(date)
        } else if text.hasPrefix("#") {
            guard let number = Int(text.dropFirst()), number > 0 else { return nil }
            self = .chapter(number)
        } else if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
            self = .share(percent / 100)
        } else {
            let hasSign = text.hasPrefix("-") || text.hasPrefix("+")
            guard let time = MediaTime(clockText: hasSign ? String(text.dropFirst()) : text), time >= .zero else { return nil }
            self = text.hasPrefix("-") ? .beforeEnd(time) : .time(time)
        }
    }

    /// Where it is in a film.
    ///
    /// - Parameters:
    ///   - duration: the film's length; not numeric where it has no known end.
    ///   - dates: when it was made.
    /// - Returns: nil where the film has no such place.
    func time(in duration: MediaTime, chapters: [AssetChapter], dates: ProgramDateLine = ProgramDateLine()) -> MediaTime? {
        switch self {
        case .time(let time): time
        case .beforeEnd(let span): duration.isNumeric ? max(duration - span, .zero) : nil
        case .share(let share): duration.isNumeric ? MediaTime(seconds: duration.seconds * share) : nil
        case .date(let date): dates.time(of: date).flatMap { $0 >= .zero && (!duration.isNumeric || $0 < duration) ? $0 : nil }
        case .chapter(let number): chapters.indices.contains(number - 1) ? max(chapters[number - 1].range.start, .zero) : nil
        }
    }

    /// What a film lacks that has no such place, as the end of a sentence.
    func shortfall(chapterCount: Int) -> String {
        switch self {
        case .chapter(let number): "has \(chapterCount == 1 ? "1 chapter" : "\(chapterCount) chapters"), not \(number)"
        case .date(let date): "has no list that says which frame was made at \(date)"
        case .time, .beforeEnd, .share: "has no known end"
        }
    }
}

/// The part of a film that plays.
struct FilmPart: Sendable, Hashable {
    var start: MediaTime
    /// Positive infinity: the film's own end.
    var end = MediaTime.positiveInfinity
    /// What the film lacks of what was asked for, as ends of sentences.
    var shortfalls: [String] = []

    /// - Parameter usualStart: where it begins where nothing else is asked for.
    init(
        _ configuration: PlayerConfiguration, duration: MediaTime, chapters: [AssetChapter], dates: ProgramDateLine = ProgramDateLine(),
        usualStart: @autoclosure () -> MediaTime = .zero
    ) {
        var lacking: [String] = []
        func time(_ point: FilmPoint?) -> MediaTime? {
            guard let point else { return nil }
            let time = point.time(in: duration, chapters: chapters, dates: dates)
            if time == nil { lacking.append(point.shortfall(chapterCount: chapters.count)) }
            return time
        }
        start = time(configuration.start) ?? usualStart()
        if let length = configuration.playDuration { end = start + length }
        if let share = configuration.playShare, let length = time(.share(share)) { end = min(end, start + length) }
        if let last = time(configuration.end) { end = min(end, last) }
        shortfalls = lacking
    }
}
