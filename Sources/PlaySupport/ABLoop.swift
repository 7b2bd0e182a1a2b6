public import Media

/// A part of the film that is played again and again.
///
/// A pure value. Only playback that passes the end goes back; the viewer may seek beyond it.
public struct ABLoop: Sendable, Hashable {
    /// The marks, in either order; without both of them nothing is repeated.
    public var a, b: MediaTime?
    private var last: (position: MediaTime, seek: UInt64)?

    /// Makes a loop with these marks.
    public init(a: MediaTime? = nil, b: MediaTime? = nil) { (self.a, self.b) = (a, b) }

    /// Sets the first mark here, then the second one; with both set it takes them away.
    public mutating func mark(at position: MediaTime) {
        if a == nil {
            a = position
        } else if b == nil {
            b = position
        } else {
            (a, b) = (nil, nil)
        }
    }

    private var part: (start: MediaTime, end: MediaTime)? {
        guard let a, let b, a != b else { return nil }
        return (min(a, b), max(a, b))
    }

    /// Where to go now; nil: playback goes on.
    ///
    /// - Parameter seek: The number of the newest seek.
    public mutating func step(at position: MediaTime, seek: UInt64) -> MediaTime? {
        defer { last = (position, seek) }
        guard let part, let last, last.seek == seek, last.position < part.end, position >= part.end else { return nil }
        return part.start
    }

    /// When `step` is to be asked again, so that the end is not passed by much; nil: that is not near.
    public func wait(at position: MediaTime, rate: Double) -> HostSpan? {
        guard let part, position < part.end, rate > 0 else { return nil }
        let seconds = (part.end - position).seconds / rate
        return seconds < 1 ? .nanoseconds(Int64(seconds * 1e9)) : nil
    }

    /// Loops with the same marks are equal.
    public static func == (one: ABLoop, other: ABLoop) -> Bool { one.a == other.a && one.b == other.b }

    /// The marks.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(a)
        hasher.combine(b)
    }
}
