internal import CWaylandClient
internal import CWaylandProtocols
internal import DisplaySink
internal import Glibc
internal import Media

/// Receives the presentation feedback of one commit. Afterwards the object can be used for another commit.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class WaylandFeedback {
    enum Outcome {
        case presented(HostTime, refresh: HostSpan?, count: UInt64, PresentationFlags)
        case discarded
    }

    private(set) var sequence: UInt64 = 0
    /// When the frame was committed.
    private(set) var committed = HostTime.distantPast
    private var proxy: OpaquePointer?
    private let clock: clockid_t
    private let completion: (WaylandFeedback, Outcome) -> Void

    /// - Parameters:
    ///   - clock: The clock of presentation times.
    ///   - completion: Called with the result of each request.
    init(clock: clockid_t, _ completion: @escaping (WaylandFeedback, Outcome) -> Void) {
        self.clock = clock
        self.completion = completion
    }

    deinit { cancel() }

    /// Whether feedback is pending.
    var isPending: Bool { unsafe proxy != nil }

    /// Requests feedback for the next commit of `surface`. One request is pending at a time.
    func request(_ presentation: OpaquePointer, about surface: OpaquePointer, sequence: UInt64, committed: HostTime) {
        cancel()
        self.sequence = sequence
        self.committed = committed
        guard let requested = unsafe wp_presentation_feedback(presentation, surface) else { return }
        unsafe proxy = requested
        unsafe listen(requested, Self.listener, self)
    }

    /// Cancels the pending request.
    func cancel() {
        if let old = unsafe proxy { unsafe wp_presentation_feedback_destroy(old) }
        unsafe proxy = nil
    }

    /// Converts a time of the compositor's clock to CLOCK_MONOTONIC. The time is recent, so drift between the clocks does not matter.
    static func monotonic(_ nanoseconds: Int64, of clock: clockid_t) -> HostTime {
        let time = HostTime(nanoseconds: nanoseconds)
        if clock == CLOCK_MONOTONIC { return time }
        return MonotonicClock.shared.now() + (time - systemTime(clock))
    }

    nonisolated(unsafe) private static let listener = unsafe listenerTable(
        wp_presentation_feedback_listener(
            sync_output: { _, _, _ in },
            presented: { data, _, secondsHigh, secondsLow, nanoseconds, refresh, countHigh, countLow, flags in
                let feedback = unsafe receiver(data, as: WaylandFeedback.self)
                let seconds = Int64(secondsHigh) << 32 | Int64(secondsLow)
                let time = WaylandFeedback.monotonic(seconds * 1_000_000_000 + Int64(nanoseconds), of: feedback.clock)
                feedback.cancel()
                feedback.completion(
                    feedback,
                    .presented(
                        time, refresh: refresh > 0 ? .nanoseconds(Int64(refresh)) : nil, count: UInt64(countHigh) << 32 | UInt64(countLow),
                        PresentationFlags(rawValue: flags)))
            },
            discarded: { data, _ in
                let feedback = unsafe receiver(data, as: WaylandFeedback.self)
                feedback.cancel()
                feedback.completion(feedback, .discarded)
            }))
}
