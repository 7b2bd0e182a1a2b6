package import Media

/// Follows the driver's count of frames and finds what is missing in it.
///
/// A driver counts every frame, also those that it cannot deliver (`v4l2_buffer.sequence`), with 32 bits that wrap around. It may begin anywhere,
/// and may give a number twice: a frame all the same, which has a number of its own here. So what comes and what is missing are together what the
/// driver counted and what it repeated.
package struct SequenceState: Sendable {
    /// What a buffer from the driver means.
    package struct Receipt: Sendable, Hashable {
        /// The frame's number since the start, from 0.
        package var number: UInt64
        /// What is missing before it.
        package var missing: CaptureDrop?
        /// The driver gave it the number of the frame before: it made one more frame than it counted.
        package var isRepeat: Bool

        package init(number: UInt64, missing: CaptureDrop? = nil, isRepeat: Bool = false) {
            self.number = number
            self.missing = missing
            self.isRepeat = isRepeat
        }
    }

    private var last: UInt32?
    /// The number of the next frame, if none is missing before it.
    package private(set) var next: UInt64
    /// The driver had too few buffers at some time since the last frame.
    private var wasStarved = false

    /// - Parameter next: The first frame's number.
    package init(next: UInt64 = 0) { self.next = next }

    /// The driver has this many buffers to write to. A driver that fills one and prepares the next needs two.
    package mutating func queued(_ count: Int) { if count < 2 { wasStarved = true } }

    /// A buffer came from the driver.
    package mutating func receive(_ sequence: UInt32, at time: HostTime) -> Receipt {
        defer {
            last = sequence
            wasStarved = false
            next += 1
        }
        guard let last else { return Receipt(number: next) }
        let distance = Int32(bitPattern: sequence &- last)
        guard distance != 0 else { return Receipt(number: next, isRepeat: true) }
        guard distance > 0 else { return Receipt(number: next, missing: CaptureDrop(.discontinuity, count: 0, first: next, time: time)) }
        guard distance > 1 else { return Receipt(number: next) }
        let count = Int(distance) - 1
        let missing = CaptureDrop(wasStarved ? .outOfBuffers : .discontinuity, count: count, first: next, time: time)
        next += UInt64(count)
        return Receipt(number: next, missing: missing)
    }
}

/// The times of a camera's frames on the master clock, CLOCK_MONOTONIC.
package struct CaptureTimeState: Sendable {
    // Of a clock of the camera's own, against the moments at which its frames arrive.
    private var estimator = ClockDriftEstimator(jitter: .milliseconds(2))
    /// The time of the last frame.
    package private(set) var last: HostTime?

    /// - Parameter last: The time of a frame that came before, of another camera.
    package init(after last: HostTime? = nil) { self.last = last }

    /// The driver's time stamp. One that is of another clock, lies in the future or is more than ten seconds old, as with a driver whose clock wraps
    /// around, is converted by what has been measured of that clock. A frame is never later than its arrival, which stands for it where there is no
    /// stamp, or the clock jumps. Times run forward: the arrival stands for a stamp that is not after the time of the frame before, too.
    package mutating func time(stamp: Int64, isMonotonic: Bool, arrival: HostTime) -> HostTime {
        let read = read(stamp, isMonotonic: isMonotonic, arrival: arrival)
        let time = last.map { read > $0 ? read : max(arrival, $0 + .nanoseconds(1)) } ?? read
        last = time
        return time
    }

    private mutating func read(_ stamp: Int64, isMonotonic: Bool, arrival: HostTime) -> HostTime {
        let time = HostTime(nanoseconds: stamp)
        if isMonotonic, time <= arrival, arrival - time < .seconds(10) { return time }
        // Half of what the type holds, so that differences fit.
        guard stamp > 0, stamp < .max / 2 else { return arrival }
        estimator.add(local: time, reference: arrival)
        let converted = estimator.relation.toReference(time)
        return converted <= arrival && arrival - converted < .seconds(1) ? converted : arrival
    }
}
