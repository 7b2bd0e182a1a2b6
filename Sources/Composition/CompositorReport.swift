internal import Media

/// What became of the frames of a composition, and what its compositor did wrong.
public struct CompositorReport: Sendable, Hashable {
    /// Frames that the compositor drew.
    public var framesDrawn = 0
    /// Frames of a source that were passed on where the decoder wrote them.
    public var framesPassedThrough = 0
    /// Frames drawn before that were shown again, because nothing had changed.
    public var framesRepeated = 0
    /// Frames left out because the compositor was late.
    public var framesLate = 0
    /// Frames left out because the compositor could not draw them.
    public var framesFailed = 0
    /// Frames left out because their time was over before they were wanted (`CompositionVideoOutput.skip`).
    public var framesSkipped = 0
    /// Answers that came a second time or after a cancellation.
    public var answersIgnored = 0
    /// The last thing that the compositor did wrong, with its time; nil when it did nothing wrong.
    public var lastFault: String?
}

/// Where requests and the reader count.
///
/// Thread-safety: all of it.
final class CompositorLedger: Sendable {
    private let state = Monitor(CompositorReport())

    var report: CompositorReport { state.withLock { $0 } }

    func count(_ change: (inout CompositorReport) -> Void, _ fault: String? = nil) {
        state.withLock { report in
            change(&report)
            if let fault { report.lastFault = fault }
        }
    }

    /// - Parameter fault: nil where the compositor could not know better.
    func ignored(_ fault: String?) { count({ $0.answersIgnored += 1 }, fault) }
}
