package import DisplaySink

/// What is on at a moment, and how it looks. Times are milliseconds of the film.
package struct DrawnSubtitles: Sendable {
    package var shown: SubtitleLines
    /// Nil: nothing lies over the film, or no canvas was named.
    package var image: OverlayImage?
    /// The same number as that of the answer before for this canvas where the image is the same.
    package var serial: UInt64 = 0

    package init(_ shown: SubtitleLines, image: OverlayImage? = nil) { (self.shown, self.image) = (shown, image) }
}

/// What programs were answered, so that the next frame's answer needs no drawing while nothing changes, and the same image has the same number.
///
/// A pure value. Times are milliseconds of the film.
package struct SubtitleAnswers: Sendable {
    private struct Entry: Sendable {
        var canvas: OverlayCanvas?
        var answer: DrawnSubtitles
        var isValid = true
    }

    /// 4: a program that draws for so many canvases in turn.
    private static let mostEntries = 4

    /// The one that was added last is the last.
    private var entries: [Entry] = []
    private var serial: UInt64 = 0

    package init() {}

    /// The answer for a moment, if it is known.
    package func answer(at time: Int64, on canvas: OverlayCanvas?) -> DrawnSubtitles? {
        guard let entry = entries.first(where: { $0.canvas == canvas }), entry.isValid else { return nil }
        let shown = entry.answer.shown
        return shown.from <= time && time < shown.until ? entry.answer : nil
    }

    /// Keeps an answer, and gives it its number. An image that looks like the one before is the one before.
    package mutating func add(_ answer: DrawnSubtitles, on canvas: OverlayCanvas?) -> DrawnSubtitles {
        var answer = answer
        let index = entries.firstIndex { $0.canvas == canvas }
        if let before = index.map({ entries.remove(at: $0).answer }), Self.looksAlike(before.image, answer.image) {
            (answer.image, answer.serial) = (before.image, before.serial)
        } else {
            serial += 1
            answer.serial = serial
        }
        if entries.count == Self.mostEntries { entries.removeFirst() }
        entries.append(Entry(canvas: canvas, answer: answer))
        return answer
    }

    /// Something else is on from `start` to `end`.
    package mutating func forget(from start: Int64, to end: Int64) {
        for index in entries.indices where entries[index].answer.shown.from < end && start < entries[index].answer.shown.until {
            entries[index].isValid = false
        }
    }

    /// Everything must be drawn again.
    package mutating func forgetAll() { for index in entries.indices { entries[index].isValid = false } }

    private static func looksAlike(_ one: OverlayImage?, _ other: OverlayImage?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one === other || (one.place == other.place && one.pixels == other.pixels)
    }
}
