public import Media
public import SurfacePool

/// Counts the frames that were shown and dropped, and measures how far from its time each frame was shown.
///
/// Thread-safety: a value.
public struct PresentationStatistics: Sendable, Hashable {
    /// Frames that were passed to the sink.
    public private(set) var framesSubmitted = 0
    /// Frames that the sink reported as shown, or, untimed, as taken.
    public private(set) var framesPresented = 0
    /// Refreshes that showed the previous frame again while the film moved, if the display reports its period.
    public private(set) var repeats = 0
    /// Frames that were shown more than half a period after the refresh that they were chosen for.
    public private(set) var missedRefreshes = 0
    /// Presented frames that the display read from their own memory (`PresentationFlags.zeroCopy`); the others were drawn by a compositor or were
    /// converted first.
    public private(set) var framesScannedOut = 0
    /// Presented frames whose time the sink estimated (`PresentationFlags.estimated`), so that their error is an estimate too.
    public private(set) var framesEstimated = 0
    /// When the first frame was shown, CLOCK_MONOTONIC; nil before.
    public private(set) var firstFrameTime: HostTime?

    private var drops = [Int](repeating: 0, count: DropReason.allCases.count)
    private var errors = DurationHistogram()
    private var captureDelays = DurationHistogram()
    private var signedSum: Int64 = 0
    /// Sum of the differences between the errors of consecutive frames.
    private var jitterSum: UInt64 = 0
    private var jitterCount = 0
    private var lastError: Int64?
    private var soundSum: Int64 = 0
    private var soundLargest: UInt64 = 0
    /// Measured frames that were shown while sound was heard.
    public private(set) var framesWithSound = 0

    /// Creates statistics in which nothing has been counted.
    public init() {}

    // MARK: Reading

    /// Frames that were dropped for this reason.
    public func dropped(_ reason: DropReason) -> Int { drops[Self.index(reason)] }

    /// Dropped frames that a viewer missed: all except those that were flushed or never meant to be shown.
    public var droppedTotal: Int {
        DropReason.allCases.reduce(0) { $0 + ($1 == .flushed || $1 == .doNotDisplay || $1 == .noFrame ? 0 : dropped($1)) }
    }

    /// Frames whose error was measured: those that were shown by the clock.
    public var measuredFrames: Int { errors.count }
    /// The percentile `fraction` (0…1) of the absolute error: the time between a frame's due time and its presentation. Microseconds, at most 3 %
    /// too large; 0 without measurements.
    public func error(percentile fraction: Double) -> Double { errors.percentile(fraction) / 1000 }
    /// The largest absolute error, exactly; microseconds.
    public var maximumError: Double { Double(errors.largest) / 1000 }
    /// Mean signed error in microseconds; positive means late. 0 without measurements.
    public var meanSignedError: Double { errors.count == 0 ? 0 : Double(signedSum) / Double(errors.count) / 1000 }
    /// Mean difference between the errors of consecutive frames, microseconds. 0 means perfectly even, even with a constant delay.
    public var jitter: Double { jitterCount == 0 ? 0 : Double(jitterSum) / Double(jitterCount) / 1000 }

    /// Mean offset between frames and their sound, microseconds. Positive: frames are shown after their sound.
    public var meanSoundOffset: Double { framesWithSound == 0 ? 0 : Double(soundSum) / Double(framesWithSound) / 1000 }
    /// The largest absolute offset between frames and sound, microseconds.
    public var maximumSoundOffset: Double { Double(soundLargest) / 1000 }

    /// Frames of a camera whose delay was measured.
    public var captureFrames: Int { captureDelays.count }
    /// The percentile `fraction` (0…1) of the time from the camera's stamp of a frame to the refresh that showed it. Microseconds, at most 3 % too
    /// large; 0 without measurements.
    public func captureDelay(percentile fraction: Double) -> Double { captureDelays.percentile(fraction) / 1000 }
    /// The longest such time, exactly; microseconds.
    public var maximumCaptureDelay: Double { Double(captureDelays.largest) / 1000 }

    // MARK: Counting

    mutating func count(_ reason: DropReason, _ frames: Int = 1) { drops[Self.index(reason)] += frames }

    mutating func countSubmitted() { framesSubmitted += 1 }

    mutating func countPresented(at time: HostTime, _ flags: PresentationFlags) {
        framesPresented += 1
        if flags.contains(.zeroCopy) { framesScannedOut += 1 }
        if flags.contains(.estimated) { framesEstimated += 1 }
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

    /// A display that reports a frame before it was captured is taken at its word of a refresh ahead.
    mutating func record(captureDelay: HostSpan) { captureDelays.record(UInt64(max(captureDelay.nanoseconds, 0))) }

    /// The next frame is not compared with the previous one.
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
        case .unsupported: 8
        }
    }
}
