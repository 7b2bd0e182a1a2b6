public import Media

/// Learns when a display refreshes from what it says about the pictures it showed, and predicts the refreshes to come.
///
/// Feed it every presentation feedback; ask `interval(at:)` for the refresh that a picture handed over now will light up at.
///
///     handed over             lit up
///     ────────┼───────────────────┼───────────────────┼──────►  refreshes, `period` apart
///             └─ at least `lead` ─┘
///
/// - Phase and period follow the feedback through a filter that takes a sixteenth of each deviation, so that jittered time stamps do not
///   make the refreshes tremble. Missing feedback does no harm: what counts is how far a time lies from the nearest predicted refresh.
/// - A time far from every predicted refresh is taken for a mistake; three in a row are taken for the truth, and the filter starts anew.
/// - A display whose times fit no period (variable refresh) has none: then a picture lights up `lead` after it was handed over.
/// - The lead grows when pictures light up a refresh later than predicted, twice within 64 pictures; a single one is an accident.
///
/// Thread-safety: a value. It reads no clock; times are of CLOCK_MONOTONIC.
public struct RefreshClock: Sendable, Hashable {
    /// What the display said about one picture.
    public struct Feedback: Sendable, Hashable {
        /// When the picture lit up.
        public var time: HostTime
        /// The display's own word for the time between refreshes; nil when it says nothing.
        public var refresh: HostSpan?
        /// The display's count of refreshes; 0 when it does not count.
        public var sequence: UInt64
        /// When the picture was handed over; nil when unknown.
        public var committed: HostTime?

        public init(time: HostTime, refresh: HostSpan? = nil, sequence: UInt64 = 0, committed: HostTime? = nil) {
            self.time = time
            self.refresh = refresh.flatMap { $0 > .zero ? $0 : nil }
            self.sequence = sequence
            self.committed = committed
        }
    }

    /// Weight of a new time in the phase.
    private static let phaseWeight = 1.0 / 16
    /// … and in the period: half its square, which settles fastest without swinging.
    private static let periodWeight = 1.0 / 512
    /// Farther from a refresh than this part of the period is a mistake, or a new phase.
    private static let tolerance = 0.25
    /// Mistakes in a row that are believed.
    private static let patience = 3
    /// The doubt at which a display is taken for a variable one: 8 mistakes, four good times making up for one.
    private static let doubtOfVariable = 8.0
    /// Farther than this from what the display itself says, a measured period is not believed: 1 %.
    private static let trust = 0.01
    /// Added to a lead that has been measured: half a millisecond.
    private static let margin = HostSpan.microseconds(500)

    /// A refresh, as filtered, and the display's number for it.
    private var anchor: HostTime?
    private var anchorSequence: UInt64 = 0
    private var measured: Double?
    /// What the display said last.
    private var nominal: HostSpan?
    private var mistakes = 0
    private var doubt = 0.0
    /// Feedback since a picture came later than predicted.
    private var sinceMiss = Int.max

    /// Whether the display's refreshes follow no period.
    public private(set) var isVariable = false
    private var isToldVariable = false
    /// How long before a refresh a picture must be handed over to light up at it, as learned.
    public private(set) var lead = HostSpan.zero

    /// - Parameter nominalPeriod: What is known before any feedback, such as the mode's refresh rate.
    public init(nominalPeriod: HostSpan? = nil) { nominal = nominalPeriod }

    /// Of a display that refreshes when a picture comes: pictures that come evenly are no period of its own.
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

    /// Forgets everything, as when the window has moved to another display.
    public mutating func reset(nominalPeriod: HostSpan? = nil) { self = RefreshClock(nominalPeriod: nominalPeriod) }

    // MARK: Learning

    /// Takes in what the display said about one picture. Feedback comes in order of time.
    public mutating func add(_ feedback: Feedback) {
        if isToldVariable { return learnLead(feedback) }
        if let refresh = feedback.refresh, refresh != nominal {
            // A new mode: nothing learned about the old one holds.
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
            // Nobody told the period: it is the time of a counted refresh, or else what two pictures in a row are apart.
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
            // Without refreshes the lead is simply how long it takes.
            lead = lead == .zero ? taken : HostSpan(nanoseconds: lead.nanoseconds + (taken - lead).nanoseconds / 8)
            return
        }
        guard anchor != nil else { return }
        sinceMiss = sinceMiss == .max ? .max : sinceMiss + 1
        // Handed over this long before the refresh that it was predicted for, and not shown there.
        let tooLittle = taken - period
        guard tooLittle > lead + Self.margin else { return }
        if sinceMiss <= 64 { lead = min(tooLittle + Self.margin, HostSpan(nanoseconds: 2 * period.nanoseconds)) }
        sinceMiss = 0
    }

    // MARK: Predicting

    /// The refresh at which a picture handed over at `now` will light up, and the one after it.
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
        // The division's last bit may have been rounded the wrong way.
        return refresh >= time ? refresh : refresh + HostSpan(nanoseconds: Int64(measured.rounded(.up)))
    }

    /// The latest moment to hand over a picture that is to light up at `refresh`.
    public func commitDeadline(for refresh: HostTime) -> HostTime { refresh - lead }
}
