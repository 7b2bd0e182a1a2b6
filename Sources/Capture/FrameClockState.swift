package import Media

/// Measures how fast a camera's own clock runs, which makes its frames, against the master clock of their stamps.
///
/// A frame's number over the stated rate is the camera's own time; a `ClockDriftEstimator` relates it to `CLOCK_MONOTONIC`. Numbers count lost frames
/// too, so that these change nothing.
package struct FrameClockState: Sendable {
    // Stamps of the moment at which a frame arrives over a bus are off by some milliseconds.
    private var estimator = ClockDriftEstimator(jitter: .milliseconds(2))
    private var rate = Ratio.unknown
    private var first: UInt64 = 0

    package init() {}

    /// How much faster than stated the camera makes frames: 50e-6 makes one frame more in 20000. Nil before two seconds have been measured.
    package private(set) var drift: Double?

    /// A frame came.
    /// - Parameter isAnew: The camera's count, or its rate, begins anew with it.
    package mutating func add(_ number: UInt64, at time: HostTime, rate: Ratio, isAnew: Bool) {
        guard rate.isKnown, rate.doubleValue > 0 else { return }
        if isAnew || rate != self.rate || number < first {
            estimator.reset()
            (self.rate, first, drift) = (rate, number, nil)
        }
        let seconds = Double(number - first) / rate.doubleValue
        estimator.add(local: HostTime(nanoseconds: Int64((seconds * 1e9).rounded())), reference: time)
        if seconds >= 2 { drift = estimator.measuredDrift }
    }
}
