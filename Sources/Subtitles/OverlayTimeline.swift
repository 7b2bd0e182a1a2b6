package import DisplaySink

/// Which images are drawn for which moments, and which must be drawn next.
///
/// A pure value. Times are milliseconds of the film.
package struct OverlayTimeline: Sendable {
    /// One image, or none, for some time.
    package struct Span: Sendable {
        package var from, until: Int64
        package var image: OverlayImage?

        package init(from: Int64, until: Int64, image: OverlayImage?) {
            self.from = from
            self.until = until
            self.image = image
        }
    }

    /// 8: the frames that are decoded ahead, the one on the display and those that were just shown.
    private static let mostExpected = 8
    /// 16: as many frames of a moving image, and some to come.
    private static let mostSpans = 16

    private var spans: [Span] = []
    private var expected: [Int64] = []
    /// The frame that the display asked about last.
    package private(set) var asked: Int64?
    /// The last answer.
    private var answer: OverlayImage?

    package init() {}

    /// A frame of this time will need its image.
    package mutating func expect(_ time: Int64) {
        if expected.count == Self.mostExpected { expected.removeFirst() }
        expected.append(time)
    }

    /// The image for the frame of this time. While it is not drawn, the answer is the one before.
    package mutating func image(at time: Int64) -> OverlayImage? {
        asked = time
        if let span = spans.last(where: { $0.from <= time && time < $0.until }) { answer = span.image }
        return answer
    }

    /// Whether the image for the frame of this time is drawn.
    package func isDrawn(at time: Int64) -> Bool { spans.contains { $0.from <= time && time < $0.until } }

    /// The moment to draw for next; nil: everything that is needed is drawn.
    package var next: Int64? {
        if let asked, !isDrawn(at: asked) { return asked }
        return expected.first { !isDrawn(at: $0) }
    }

    /// Adds what was drawn. True when the frame on the display is one of those that need it.
    @discardableResult
    package mutating func add(_ span: Span) -> Bool {
        if spans.count == Self.mostSpans { spans.removeFirst() }
        spans.append(span)
        return asked.map { span.from <= $0 && $0 < span.until } ?? false
    }

    /// Something was added that is on from `start` to `end`.
    package mutating func forget(from start: Int64, to end: Int64) { spans.removeAll { $0.from < end && start < $0.until } }

    /// Everything must be drawn again. The image on the display stays until then.
    package mutating func forgetImages() { spans = [] }

    /// The film goes on elsewhere.
    package mutating func forgetFrames() {
        expected = []
        asked = nil
    }
}
