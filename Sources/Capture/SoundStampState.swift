package import Media

/// Where a microphone stands at a moment.
package struct MicrophonePosition: Sendable, Hashable {
    /// False after an overrun or a suspend: it must be started again.
    package var isRunning: Bool
    /// Frames that can be read.
    package var available: Int
    /// Frames between the next one to be read and the one that the converter makes now: those available, and those in the hardware.
    package var delay: Int
    /// `CLOCK_MONOTONIC` when that held, as the driver stamped it.
    package var stamp: HostTime
    /// `CLOCK_MONOTONIC` after the device was asked.
    package var arrival: HostTime

    package init(isRunning: Bool = true, available: Int = 0, delay: Int = 0, stamp: HostTime, arrival: HostTime) {
        self.isRunning = isRunning
        self.available = available
        self.delay = delay
        self.stamp = stamp
        self.arrival = arrival
    }

    /// When the next frame to be read was captured. A stamp of another clock, which lies in the future or more than a second ago, is replaced by
    /// the moment of asking.
    package func firstTime(rate: Int) -> HostTime {
        let isSane = stamp <= arrival && arrival - stamp < .seconds(1)
        return (isSane ? stamp : arrival) - .seconds(Double(max(delay, available)) / Double(rate))
    }
}

/// Gives a microphone's frames their numbers and their times.
///
/// A frame's number over the device's rate is the device's own time; a `ClockDriftEstimator` relates it to `CLOCK_MONOTONIC`, so that neither the
/// jitter of single stamps nor the drift of the device's crystal is in the times. After an interruption the time that has passed says how many frames
/// are missing.
package struct SoundStampState: Sendable {
    private let rate: Int
    // Stamps of drivers that move in steps are off by some milliseconds.
    private var estimator = ClockDriftEstimator(jitter: .milliseconds(2))
    /// The number of the next frame.
    package private(set) var next: UInt64 = 0
    private var wasInterrupted = false

    package init(rate: Int) { self.rate = rate }

    /// How much faster than CLOCK_MONOTONIC the device runs: 50e-6 gains 50 µs a second.
    package var drift: Double { estimator.measuredDrift }

    /// The device stood still, and runs again.
    package mutating func interrupt() { wasInterrupted = true }

    /// The device was asked for its position. Returns how many frames are missing before the next one.
    package mutating func measure(_ position: MicrophonePosition) -> Int {
        let first = position.firstTime(rate: rate)
        guard wasInterrupted, estimator.count > 0 else {
            wasInterrupted = false
            estimator.add(local: local(next), reference: first)
            return 0
        }
        wasInterrupted = false
        let passed = (estimator.relation.fromReference(first) - local(next)).seconds
        let missing = max(Int((passed * Double(rate)).rounded()), 0)
        next += UInt64(missing)
        estimator.restart(local: local(next), reference: first)
        return missing
    }

    /// Frames were read: the first one's number and time.
    package mutating func take(_ count: Int) -> (number: UInt64, time: HostTime) {
        defer { next += UInt64(count) }
        return (next, estimator.relation.toReference(local(next)))
    }

    /// The device's own time, whole seconds first so that it fits for years.
    private func local(_ number: UInt64) -> HostTime {
        let (seconds, rest) = number.quotientAndRemainder(dividingBy: UInt64(rate))
        return HostTime(nanoseconds: Int64(seconds) * 1_000_000_000 + Int64(rest) * 1_000_000_000 / Int64(rate))
    }
}
