public import Media
public import Reading

/// How the frames of a composition are read.
public struct CompositionReadingOptions: Sendable {
    /// What happens to a frame that the compositor does not finish.
    public enum LatePolicy: Sendable, Hashable {
        /// Reading waits for it, and ends with an error when it cannot be drawn: for files.
        case wait
        /// After this time it is left out, and reading goes on: for screens. The first frame of a range, for which the viewer waits, is given four
        /// times as long. Frames that follow one left out are given less time, down to a sixteenth, until one is finished.
        case drop(after: HostSpan)
    }

    /// How the films are opened and decoded. `decoder.holdCount` frames may be held at once; `decoder.requirements` are the compositor's.
    public var reading: ReadingOptions
    /// Frames that are decoded and drawn ahead.
    public var framesInFlight: Int
    /// How much earlier than its first frame a film is opened and decoded up to it, while others are shown; zero: when the frame is wanted.
    public var preparedAhead: MediaTime
    /// What happens to a frame that the compositor does not finish.
    public var latePolicy: LatePolicy
    /// Frames that are passed through keep the format in which they were decoded, which may be another one than that of frames that are drawn: for
    /// displays. Without it all frames have one format, and each that the compositor cannot read is converted when it is decoded.
    package var passesAnyFormat = false

    /// By default three frames are in flight, films are prepared two seconds ahead, and each frame is waited for.
    public init(
        reading: ReadingOptions = ReadingOptions(), framesInFlight: Int = 3, preparedAhead: MediaTime = MediaTime(value: 2, timescale: 1),
        latePolicy: LatePolicy = .wait
    ) {
        self.reading = reading
        self.framesInFlight = framesInFlight
        self.preparedAhead = preparedAhead
        self.latePolicy = latePolicy
    }
}

/// How long a reader waits for its compositor: a pure value. One that never answers must not cost the whole patience for every frame.
package struct CompositorPatience: Sendable, Equatable {
    /// What a frame is given after one that was in time; nil: for ever.
    package let whole: HostSpan?
    /// Nothing of the range has been handed out or left out yet: no frame can be late, and a viewer waits for this one.
    package private(set) var isFirst = true
    private var halvings = 0

    /// A sixteenth of the whole is the least.
    private static let mostHalvings = 4
    /// The first frame is given so many times the whole.
    private static let firstFactor: Int64 = 4

    package init(_ policy: CompositionReadingOptions.LatePolicy) {
        if case .drop(let span) = policy { whole = span } else { whole = nil }
    }

    /// What the next frame is given; nil: for ever.
    package var span: HostSpan? {
        guard let whole else { return nil }
        guard isFirst else { return HostSpan(nanoseconds: whole.nanoseconds >> halvings) }
        let (product, isTooLong) = whole.nanoseconds.multipliedReportingOverflow(by: Self.firstFactor)
        // Centuries are long enough once.
        return isTooLong ? whole : HostSpan(nanoseconds: product)
    }

    /// The compositor has answered in time, or has not.
    package mutating func note(isLate: Bool) {
        isFirst = false
        halvings = isLate ? min(halvings + 1, Self.mostHalvings) : 0
    }

    /// A frame was handed out for which the compositor was not asked.
    package mutating func notePassedThrough() { isFirst = false }
}
