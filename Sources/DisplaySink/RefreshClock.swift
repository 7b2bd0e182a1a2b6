public import Media

/// Learns from presentation feedback when a display refreshes, and predicts its next refreshes.
///
/// Add every presentation feedback; `interval(at:)` returns the refresh at which a frame that is committed now is shown.
///
///     committed               shown
///     ────────┼───────────────────┼───────────────────┼──────►  refreshes, `period` apart
///             └─ at least `lead` ─┘
///
/// - Phase and period follow the feedback through a filter that applies a sixteenth of each deviation, so that jitter in the times does not move the
///   predicted refreshes. Missing feedback does no harm: each time is compared with the nearest predicted refresh.
/// - A time far from every predicted refresh counts as an outlier. After three in a row the filter starts again.
/// - If the times fit no period (variable refresh), there is none, and a frame is shown `lead` after its commit.
/// - The lead grows when two frames within 64 are shown a refresh later than predicted. A single one has no effect.
///
/// Thread-safety: a value. It reads no clock; times are of CLOCK_MONOTONIC.
public struct RefreshClock: Sendable, Hashable {
    /// Presentation feedback of one frame.
    public struct Feedback: Sendable, Hashable {
        /// When the frame was shown.
        public var time: HostTime
        /// The period that the display reports; nil when it reports none.
        public var refresh: HostSpan?
        /// The display's refresh counter; 0 when it has none.
        public var sequence: UInt64
        /// When the frame was committed; nil when unknown.
        public var committed: HostTime?

        /// Creates feedback. A `refresh` of zero or less counts as none.
        public init(time: HostTime, refresh: HostSpan? = nil, sequence: UInt64 = 0, committed: HostTime? = nil) {
            self.time = time
            self.refresh = refresh.flatMap { $0 > .zero ? $0 : nil }
            self.sequence = sequence
            self.committed = committed
        }
    }

    /// Weight of a new time in the phase.
    private static let phaseWeight = 1.0 / 16
    /// Weight of a new time in the period: half the square of the phase's weight, which settles fastest without oscillation.
    private static let periodWeight = 1.0 / 512
    /// A time that is farther than this part of the period from a refresh is an outlier.
    private static let tolerance = 0.25
    /// Outliers in a row after which the filter starts again.
    private static let patience = 3
    /// The score at which a display counts as variable: 8 outliers. Four good times cancel one outlier.
    private static let doubtOfVariable = 8.0
    /// 1 %: the measured period stays this close to the period that the display reports.
    private static let trust = 0.01
    /// 0.5 ms, added to a measured lead.
    private static let margin = HostSpan.microseconds(500)

    /// A refresh after the filter, and its number.
    private var anchor: HostTime?
    private var anchorSequence: UInt64 = 0
    private var measured: Double?
    /// The period that the display reported last.
    private var nominal: HostSpan?
    private var mistakes = 0
    private var doubt = 0.0
    /// Number of feedbacks since a frame was shown later than predicted.
    private var sinceMiss = Int.max

    /// Whether the display has no constant period.
    public private(set) var isVariable = false
    private var isToldVariable = false
    /// How long before a refresh a frame must be committed to be shown at it. Learned from feedback.
    public private(set) var lead = HostSpan.zero

    /// - Parameter nominalPeriod: The period before any feedback, such as that of the mode.
    public init(nominalPeriod: HostSpan? = nil) { nominal = nominalPeriod }

    /// The clock of a display that refreshes when a frame comes (VRR). It learns no period, even from evenly spaced frames.
    public static var variable: RefreshClock {
        var clock = RefreshClock()
        clock.isToldVariable = true
        clock.isVariable = true
        return clock
    }

    /// Time between refreshes; nil while unknown, and for a variable display.
    public var period: HostSpan? {
        if isVariable { return nil }
        return measured.map { HostSpan(nanoseconds: Int64($0.rounded())) } ?? nominal
    }

    /// Resets everything, for another display.
    public mutating func reset(nominalPeriod: HostSpan? = nil) { self = RefreshClock(nominalPeriod: nominalPeriod) }

    // MARK: Learning

    /// Adds the feedback of one frame. Feedback must come in order of time.
    public mutating func add(_ feedback: Feedback) {
        if isToldVariable { return learnLead(feedback) }
        if let refresh = feedback.refresh, refresh != nominal {
            // A new mode has another phase.
            if let old = nominal, abs((refresh - old).seconds) > old.seconds * Self.trust { forgetPhase() }
            nominal = refresh
            if measured == nil { measured = Double(refresh.nanoseconds) }
        }
        if measured == nil, let nominal { measured = Double(nominal.nanoseconds) }
        learnLead(feedback)
        learnPhase(feedback)
    }

    private mutating func learnPhase(_ feedback: Feedback) {
        guard let anchor else { return begin(feedback) }
        let elapsed = Double((feedback.time - anchor).nanoseconds)
        guard elapsed > 0 else { return }
        let counted = anchorSequence > 0 && feedback.sequence > anchorSequence ? Double(feedback.sequence - anchorSequence) : nil
        guard let period = measured else {
            // No period was reported. It is the time per counted refresh, else the time between two consecutive frames.
            measured = elapsed / (counted ?? 1)
            return begin(feedback)
        }
        let refreshes = (elapsed / period).rounded()
        let residual = elapsed - refreshes * period
        guard refreshes >= 1, abs(residual) <= Self.tolerance * period else {
            mistakes += 1
            doubt = min(doubt + 1, Self.doubtOfVariable)
            if doubt == Self.doubtOfVariable { isVariable = true }
            if mistakes >= Self.patience { startAnew(feedback) }
            return
        }
        mistakes = 0
        doubt = max(doubt - 0.25, 0)
        if doubt == 0 { isVariable = false }
        self.anchor = anchor + HostSpan(nanoseconds: Int64((refreshes * period + Self.phaseWeight * residual).rounded()))
        anchorSequence = feedback.sequence
        var corrected = period + Self.periodWeight * residual / refreshes
        if let nominal {
            let told = Double(nominal.nanoseconds)
            corrected = min(max(corrected, told * (1 - Self.trust)), told * (1 + Self.trust))
        }
        measured = corrected
    }

    private mutating func startAnew(_ feedback: Feedback) {
        let elapsed = anchor.map { Double((feedback.time - $0).nanoseconds) }
        let counted = feedback.sequence > anchorSequence && anchorSequence > 0 ? Double(feedback.sequence - anchorSequence) : nil
        if nominal == nil, let elapsed, let counted { measured = elapsed / counted }
        begin(feedback)
    }

    private mutating func begin(_ feedback: Feedback) {
        anchor = feedback.time
        anchorSequence = feedback.sequence
        mistakes = 0
    }

    private mutating func forgetPhase() {
        let kept = lead
        self = RefreshClock()
        lead = kept
    }

    private mutating func learnLead(_ feedback: Feedback) {
        guard let committed = feedback.committed, feedback.time > committed else { return }
        let taken = feedback.time - committed
        guard let period else {
            // Without a period the lead is the time from commit to presentation.
            lead = lead == .zero ? taken : HostSpan(nanoseconds: lead.nanoseconds + (taken - lead).nanoseconds / 8)
            return
        }
        guard anchor != nil else { return }
        sinceMiss = sinceMiss == .max ? .max : sinceMiss + 1
        // The frame was committed this long before its predicted refresh and missed it.
        let tooLittle = taken - period
        guard tooLittle > lead + Self.margin else { return }
        if sinceMiss <= 64 { lead = min(tooLittle + Self.margin, HostSpan(nanoseconds: 2 * period.nanoseconds)) }
        sinceMiss = 0
    }

    // MARK: Predicting

    /// The refresh at which a frame that is committed at `now` is shown, and the refresh after it.
    public func interval(at now: HostTime) -> DisplayInterval {
        let earliest = now + lead
        guard let period, period > .zero else { return DisplayInterval(deadline: earliest, nextDeadline: earliest, period: nil) }
        guard anchor != nil else { return DisplayInterval(deadline: earliest, nextDeadline: earliest + period, period: period) }
        let deadline = refresh(atOrAfter: earliest)
        return DisplayInterval(deadline: deadline, nextDeadline: deadline + period, period: period)
    }

    /// The first refresh at or after `time`; `time` itself while the phase is unknown, and for a variable display.
    public func refresh(atOrAfter time: HostTime) -> HostTime {
        guard let anchor, !isVariable, let measured, measured > 0 else { return time }
        let count = (Double((time - anchor).nanoseconds) / measured).rounded(.up)
        let refresh = anchor + HostSpan(nanoseconds: Int64((count * measured).rounded()))
        // The division may have rounded down.
        return refresh >= time ? refresh : refresh + HostSpan(nanoseconds: Int64(measured.rounded(.up)))
    }

    /// The latest time to commit a frame for `refresh`.
    public func commitDeadline(for refresh: HostTime) -> HostTime { refresh - lead }
}
