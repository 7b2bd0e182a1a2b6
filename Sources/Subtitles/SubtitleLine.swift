package import Media

/// One line of text that is on, or one image. Times are milliseconds.
package struct SubtitleLine: Sendable, Hashable {
    package var start: Int64
    /// Nil: until the next one, whose time is not known yet.
    package var end: Int64?
    /// The text as a line of an ASS script has it, with override tags; nil for an image.
    package var ass: String?
    /// The name of its style in the film's script; nil where the film has none.
    package var style: String?
    /// Where an image lies on `canvas`; nil for text.
    package var place: PixelRect?
    /// What the place is counted on; 0 by 0 when that is unknown.
    package var canvas = PixelSize(width: 0, height: 0)

    package init(
        start: Int64, end: Int64?, ass: String? = nil, style: String? = nil, place: PixelRect? = nil,
        canvas: PixelSize = PixelSize(width: 0, height: 0)
    ) {
        (self.start, self.end, self.ass, self.style, self.place, self.canvas) = (start, end, ass, style, place, canvas)
    }

    /// Without tags; empty for an image and for a drawing.
    package var text: String { ass.map(PlainText.text) ?? "" }

    /// So much later.
    func moved(by delay: Int64) -> SubtitleLine {
        var line = self
        line.start = SubtitleEngine.added(start, delay)
        line.end = end.map { SubtitleEngine.added($0, delay) }
        return line
    }
}

/// What is on at a moment, and from when until when nothing else is. Times are milliseconds.
///
/// A pure value.
package struct SubtitleLines: Sendable, Hashable {
    /// 256 lines and 1 MiB of text: more than the most elaborate scripts show at once. Of more only the first are told.
    static let most = 256, mostBytes = 1 << 20

    /// In the order of their starts.
    package var lines: [SubtitleLine]
    /// `Int64.min`: nothing was on before.
    package var from: Int64
    /// `Int64.max`: nothing is known to come.
    package var until: Int64

    package init(_ lines: [SubtitleLine] = [], from: Int64 = .min, until: Int64 = .max) {
        (self.from, self.until) = (from, until)
        var room = Self.mostBytes
        self.lines = []
        for line in lines.prefix(Self.most) {
            room -= (line.ass?.utf8.count ?? 0) + (line.style?.utf8.count ?? 0)
            guard room >= 0 else { break }
            self.lines.append(line)
        }
    }

    /// What is on at `time` of lines that are on from their start to their end.
    ///
    /// - Parameter spans: The times of all lines of a track, in the order in which they were read.
    /// - Parameter line: Makes the line of that place in `spans`.
    package static func on(at time: Int64, of spans: some Collection<Range<Int64>>, _ line: (Int) -> SubtitleLine) -> SubtitleLines {
        var from = Int64.min, until = Int64.max
        var found: [(start: Int64, index: Int)] = []
        for (index, span) in spans.enumerated() where !span.isEmpty {
            if span.lowerBound > time {
                until = min(until, span.lowerBound)
            } else if span.upperBound <= time {
                from = max(from, span.upperBound)
            } else {
                (from, until) = (max(from, span.lowerBound), min(until, span.upperBound))
                found.append((span.lowerBound, index))
            }
        }
        found.sort { ($0.start, $0.index) < ($1.start, $1.index) }
        return SubtitleLines(found.prefix(most).map { line($0.index) }, from: from, until: until)
    }
}
