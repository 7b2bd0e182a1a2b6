public import Media

/// A part of a film that has a name.
public struct AssetChapter: Sendable, Hashable {
    /// From the first time of the chapter to that of what follows.
    public var range: MediaTimeRange
    /// What a viewer is shown.
    public var title: String

    /// Takes any range and any text.
    public init(range: MediaTimeRange, title: String) {
        self.range = range
        self.title = title
    }

    /// A film's chapters in the order of their times, each with an end.
    ///
    /// Containers that state only where chapters begin leave the end open: such a chapter ends where the next one begins, and the last one with the
    /// film.
    ///
    /// - Parameters:
    ///   - stated: what the container says, in any order, in film time; an end of nil is not stated.
    ///   - duration: the film's length; not numeric when it has no known end.
    package static func list(_ stated: [(start: MediaTime, end: MediaTime?, title: String)], duration: MediaTime) -> [AssetChapter] {
        let sorted = stated.sorted { $0.start < $1.start }
        return sorted.indices.map { index in
            let chapter = sorted[index], next = sorted[(index + 1)...].first { $0.start > chapter.start }?.start
            let start = max(chapter.start, .zero), end = chapter.end ?? next ?? (duration.isNumeric ? duration : start)
            return AssetChapter(range: MediaTimeRange(start: start, end: max(end, start)), title: chapter.title)
        }
    }
}
