/// When the lines of a track are on, so that an image is drawn again only where it changes.
///
/// A pure value. Times are milliseconds; a span includes its start, not its end.
package struct SubtitleSpans: Sendable {
    package struct Span: Sendable, Hashable {
        package var start, end: Int64
        /// It changes while it is on.
        package var isMoving: Bool

        package init(start: Int64, end: Int64, isMoving: Bool = false) {
            self.start = start
            self.end = end
            self.isMoving = isMoving
        }
    }

    package struct State: Sendable, Hashable {
        /// Whether anything is on.
        package var isOn: Bool
        /// Until when nothing changes; for a moving image one millisecond later.
        package var until: Int64
    }

    /// By their starts.
    private var spans: [Span] = []
    /// How long the longest one is: none that starts earlier than so much before a moment is on then.
    private var longest: Int64 = 0

    package init() {}

    package mutating func add(_ span: Span) {
        longest = max(longest, span.end - span.start)
        spans.insert(span, at: firstIndex(from: span.start + 1))
    }

    package func state(at time: Int64) -> State {
        var state = State(isOn: false, until: .max)
        var isMoving = false
        for span in spans[firstIndex(from: time - longest)...] {
            if span.start > time {
                state.until = min(state.until, span.start)
                break
            }
            guard span.end > time else { continue }
            state.isOn = true
            isMoving = isMoving || span.isMoving
            state.until = min(state.until, span.end)
        }
        return isMoving ? State(isOn: true, until: time + 1) : state
    }

    /// How many spans overlap `span`.
    package func count(in span: Span) -> Int {
        var count = 0
        for other in spans[firstIndex(from: span.start - longest)...] {
            if other.start >= span.end { break }
            if other.end > span.start { count += 1 }
        }
        return count
    }

    /// The first span that starts at `time` or later.
    private func firstIndex(from time: Int64) -> Int {
        var low = 0, high = spans.count
        while low < high {
            let middle = (low + high) / 2
            if spans[middle].start < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
