public import Media
public import SurfacePool

/// What was seen, what was not and why, and how far from its time each picture lit up.
///
/// Thread-safety: a value; the running one belongs to a `PresentationQueue`.
public struct PresentationStatistics: Sendable, Hashable {
    /// Frames given to the sink to show.
    public private(set) var framesSubmitted = 0
    /// Frames that the sink reported as seen (by an untimed sink: as taken).
    public private(set) var framesPresented = 0
    /// Refreshes that showed the same picture once more while the film moved, as far as the display tells its refresh time.
    public private(set) var repeats = 0
    /// Frames that lit up more than half a refresh after the one they were chosen for.
    public private(set) var missedRefreshes = 0
    /// When the first frame was seen, CLOCK_MONOTONIC; nil before.
    public private(set) var firstFrameTime: HostTime?

    private var drops = [Int](repeating: 0, count: DropReason.allCases.count)
    private var errors = DurationHistogram()
    private var signedSum: Int64 = 0
    /// Sum of the changes of the error from one frame to the next.
    private var jitterSum: UInt64 = 0
    private var jitterCount = 0
    private var lastError: Int64?
    private var soundSum: Int64 = 0
    private var soundLargest: UInt64 = 0
    /// Of the measured frames, those that lit up while sound was heard.
    public private(set) var framesWithSound = 0

    public init() {}

    // MARK: Reading

    /// Frames that reached the queue and were not shown for this reason.
    public func dropped(_ reason: DropReason) -> Int { drops[Self.index(reason)] }

    /// Frames that a viewer missed: all but those that a seek or the end made useless.
    public var droppedTotal: Int {
        DropReason.allCases.reduce(0) { $0 + ($1 == .flushed || $1 == .doNotDisplay || $1 == .noFrame ? 0 : dropped($1)) }
    }

    /// Frames whose error is known: those shown by the clock of a moving film.
    public var measuredFrames: Int { errors.count }
    /// The distance between the moment its time asked for and the moment it lit up that `fraction` (0…1) of the frames stayed
    /// within, either way. Microseconds, too large by 3 % at most; 0 without any.
    public func error(percentile fraction: Double) -> Double { errors.percentile(fraction) / 1000 }
    /// The largest such distance, exactly; microseconds.
    public var maximumError: Double { Double(errors.largest) / 1000 }
    /// Mean of lit-up minus asked-for, microseconds: above zero is late. 0 without any.
    public var meanSignedError: Double { errors.count == 0 ? 0 : Double(signedSum) / Double(errors.count) / 1000 }
    /// Mean change of that error from one frame to the next, microseconds: 0 is perfectly even, also with a steady delay.
    public var jitter: Double { jitterCount == 0 ? 0 : Double(jitterSum) / Double(jitterCount) / 1000 }

    /// Mean of a picture's error plus the sound's lead at that moment, microseconds: above zero, pictures come after their sound.
    public var meanSoundOffset: Double { framesWithSound == 0 ? 0 : Double(soundSum) / Double(framesWithSound) / 1000 }
    /// The largest distance of that from zero, microseconds.
    public var maximumSoundOffset: Double { Double(soundLargest) / 1000 }

    // MARK: Counting

    mutating func count(_ reason: DropReason, _ frames: Int = 1) { drops[Self.index(reason)] += frames }

    mutating func countSubmitted() { framesSubmitted += 1 }

    mutating func countPresented(at time: HostTime) {
        framesPresented += 1
        if firstFrameTime == nil { firstFrameTime = time }
    }

    mutating func countRepeats(_ refreshes: Int) { repeats += refreshes }

    mutating func countMissedRefresh() { missedRefreshes += 1 }

    mutating func record(error: HostSpan, soundLead: HostSpan? = nil) {
        let nanoseconds = error.nanoseconds
        errors.record(nanoseconds.magnitude)
        signedSum &+= nanoseconds
        if let lastError {
            jitterSum &+= (nanoseconds &- lastError).magnitude
            jitterCount += 1
        }
        lastError = nanoseconds
        guard let soundLead else { return }
        let offset = nanoseconds &+ soundLead.nanoseconds
        framesWithSound += 1
        soundSum &+= offset
        soundLargest = max(soundLargest, offset.magnitude)
    }

    /// The frame to come has no predecessor to be even with.
    mutating func breakRhythm() { lastError = nil }

    private static func index(_ reason: DropReason) -> Int {
        switch reason {
        case .late: 0
        case .outOfSurfaces: 1
        case .discontinuity: 2
        case .flushed: 3
        case .decodeError: 4
        case .doNotDisplay: 5
        case .noFrame: 6
        case .skipped: 7
        }
    }
}
