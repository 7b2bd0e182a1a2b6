/// What tells the viewer of the player, over the film.
///
/// Thread-safety: a value.
package struct ScreenContent: Sendable, Hashable {
    /// A line of a page: what is told, and the value.
    package struct Line: Sendable, Hashable {
        /// Printed bold; empty: the line goes on with the one before.
        package var label: String
        package var text: String

        package init(_ label: String, _ text: String) {
            self.label = label
            self.text = text
        }
    }

    /// A message at the upper left corner, of one or more lines; nil: none.
    package var message: String?
    /// A page in smaller letters, below the message.
    package var page: [Line] = []
    /// Where the film is, at the lower edge; nil: not shown.
    package var bar: ScreenBar?

    package init(message: String? = nil, page: [Line] = [], bar: ScreenBar? = nil) {
        self.message = message
        self.page = page
        self.bar = bar
    }

    package var isEmpty: Bool { message == nil && page.isEmpty && bar == nil }
}

/// Where the film is.
///
/// Thread-safety: a value.
package struct ScreenBar: Sendable, Hashable {
    /// 30 years: no film is longer.
    private static let longest = 1e9

    /// The play sign is drawn; false: the pause sign.
    package var isPlaying: Bool
    /// Seconds from the film's beginning.
    package var position: Double
    /// Seconds; nil when the film's end is not known: only the position is drawn.
    package var duration: Double?
    /// The seconds at which chapters begin.
    package var chapters: [Double] = []
    /// The film is read up to this second; nil: that is not known.
    package var buffered: Double?

    package init(isPlaying: Bool, position: Double, duration: Double?, chapters: [Double] = [], buffered: Double? = nil) {
        self.isPlaying = isPlaying
        self.position = position > 0 ? min(position, Self.longest) : 0
        self.duration = duration.flatMap { $0 > 0 ? min($0, Self.longest) : nil }
        self.chapters = chapters
        self.buffered = buffered
    }

    /// A second of the film as a part of it, from 0 to 1; 0 where the end is not known.
    package func share(_ second: Double) -> Double {
        guard let duration else { return 0 }
        return min(1, max(0, second / duration))
    }
}
