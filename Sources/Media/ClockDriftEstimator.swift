/// Estimates how fast one clock runs against another from pairs of inexact readings.
///
/// Two quartz clocks differ by some tens of parts in a million, a sound card's position is reported with up to a period's
/// jitter. A Kalman filter over (offset, drift) weighs each pair by what is already known: the drift is believed to lie
/// within some 100 ppm of zero until measurements say otherwise, so that noise does not dominate the first seconds. The result
/// is steered rather than set: `relation` never steps by less than `stepThreshold`, it closes a small error over about a
/// second by running up to 0.5 % faster or slower, so time made from it is smooth and never goes backwards.
///
/// Thread-safety: a value.
public struct ClockDriftEstimator: Sendable {
    /// Larger errors are corrected in one step: the clock was set, or stood still.
    public let stepThreshold: HostSpan
    /// The expected error of a single reading (one standard deviation).
    public let jitter: HostSpan
    /// The estimated clock against the reference, `.identity` before the first reading.
    public private(set) var relation = ClockRelation.identity
    /// Pairs taken in since the start or the last jump.
    public private(set) var count = 0

    /// Nanoseconds that the estimated clock is ahead of where it would be had it run at the reference's rate since `origin`.
    private var offset = 0.0
    /// Seconds gained each second.
    private var drift = 0.0
    /// Covariance of (offset, drift).
    private var p00 = 0.0, p01 = 0.0, p11 = 0.0
    private var originLocal = HostTime(nanoseconds: 0), originReference = HostTime(nanoseconds: 0)
    private var last = HostTime(nanoseconds: 0)
    private var outliers = 0

    /// Believed before the first measurement; consumer crystals are within 100 ppm.
    private static let driftDeviation = 100e-6
    /// How fast the drift itself may wander, in 1/s per square root of a second: a few ppm over a minute of warming up.
    private static let wander = 0.3e-6
    /// Seconds over which a small error is steered out.
    private static let settling = 1.0
    /// 5 ms a second: inaudible as pitch, invisible as motion.
    private static let steeringLimit = 0.005
    /// A reading this many deviations off is ignored; several such readings in a row are believed.
    private static let outlierDeviations = 6.0, outlierLimit = 8

    /// An estimator that has seen no reading. The defaults suit a sound card's position.
    public init(jitter: HostSpan = .milliseconds(1), stepThreshold: HostSpan = .milliseconds(100)) {
        self.jitter = jitter
        self.stepThreshold = stepThreshold
    }

    /// Measured rate of the estimated clock against the reference minus one: 50e-6 gains 50 µs a second.
    public var measuredDrift: Double { drift }

    /// Adds a reading of the estimated clock (`local`) and of the reference at one moment. A moment before the last one is ignored.
    public mutating func add(local: HostTime, reference: HostTime) {
        guard count > 0 else { return restart(local, reference) }
        let elapsed = (reference - last).seconds
        guard elapsed > 0 else { return }
        let jitter = max(Double(self.jitter.nanoseconds), 100)

        // Predict.
        last = reference
        offset += drift * elapsed * 1e9
        let step = elapsed * 1e9
        p00 += 2 * step * p01 + step * step * p11
        p01 += step * p11
        p11 += Self.wander * Self.wander * elapsed

        // Weigh the measurement.
        let measured = Double(((local - originLocal) - (reference - originReference)).nanoseconds)
        let innovation = measured - offset
        let variance = p00 + jitter * jitter
        if innovation.magnitude > Double(stepThreshold.nanoseconds) && innovation.magnitude > Self.outlierDeviations * variance.squareRoot() {
            outliers += 1
            if outliers >= Self.outlierLimit { restart(local, reference) }
            return
        }
        outliers = 0
        count += 1
        let (k0, k1) = (p00 / variance, p01 / variance)
        offset += k0 * innovation
        drift += k1 * innovation
        p11 -= k1 * p01
        p01 -= k0 * p01
        p00 -= k0 * p00

        steer(at: reference)
    }

    /// Forgets everything measured.
    public mutating func reset() { self = ClockDriftEstimator(jitter: jitter, stepThreshold: stepThreshold) }

    /// Restarts at the given moment and keeps the measured drift: for a clock that was stopped and started, as a
    /// sound card is between two pieces.
    public mutating func restart(local: HostTime, reference: HostTime) { restart(local, reference) }

    private mutating func restart(_ local: HostTime, _ reference: HostTime) {
        originLocal = local
        originReference = reference
        last = reference
        offset = 0
        outliers = 0
        let jitter = Double(self.jitter.nanoseconds)
        if count == 0 { p11 = Self.driftDeviation * Self.driftDeviation }
        p00 = jitter * jitter
        p01 = 0
        count = 1
        relation = ClockRelation(anchor: local, referenceAnchor: reference, rate: 1 / (1 + drift))
    }

    /// Lets the relation go on from where it is, toward the estimate.
    private mutating func steer(at reference: HostTime) {
        let current = relation.fromReference(reference)
        let target = originLocal + (reference - originReference) + HostSpan(nanoseconds: Int64(offset.rounded()))
        let error = (target - current).seconds
        if (target - current) > stepThreshold || (current - target) > stepThreshold {
            relation = ClockRelation(anchor: target, referenceAnchor: reference, rate: 1 / (1 + drift))
            return
        }
        let correction = min(max(error / Self.settling, -Self.steeringLimit), Self.steeringLimit)
        relation = ClockRelation(anchor: current, referenceAnchor: reference, rate: 1 / (1 + drift + correction))
    }
}
