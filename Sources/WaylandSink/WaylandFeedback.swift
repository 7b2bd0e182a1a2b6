internal import CWaylandClient
internal import CWaylandProtocols
internal import DisplaySink
internal import Glibc
internal import Media

/// Waits for the compositor's word on when one committed picture lit up; after that it can be used for another.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class WaylandFeedback {
    enum Fate {
        case presented(HostTime, refresh: HostSpan?, count: UInt64, PresentationFlags)
        case discarded
    }

    private(set) var sequence: UInt64 = 0
    /// When the picture was handed over.
    private(set) var committed = HostTime.distantPast
    private var proxy: OpaquePointer?
    private let clock: clockid_t
    private let told: (WaylandFeedback, Fate) -> Void

    /// - Parameters:
    ///   - clock: Of the compositor's times.
    ///   - told: Called with the fate of each picture asked about.
    init(clock: clockid_t, _ told: @escaping (WaylandFeedback, Fate) -> Void) {
        self.clock = clock
        self.told = told
    }

    deinit { forget() }

    /// Whether an answer is awaited.
    var isWaiting: Bool { unsafe proxy != nil }

    /// Asks for the fate of the next commit of `surface`, one picture at a time.
    func ask(_ presentation: OpaquePointer, about surface: OpaquePointer, sequence: UInt64, committed: HostTime) {
        forget()
        self.sequence = sequence
        self.committed = committed
        guard let asked = unsafe wp_presentation_feedback(presentation, surface) else { return }
        unsafe proxy = asked
        unsafe listen(asked, Self.listener, self)
    }

    /// No longer waits.
    func forget() {
        if let old = unsafe proxy { unsafe wp_presentation_feedback_destroy(old) }
        unsafe proxy = nil
    }

    /// A reading of the compositor's clock as one of CLOCK_MONOTONIC. What just happened was so short a time ago that the clocks' drift does
    /// not show.
    static func monotonic(_ nanoseconds: Int64, of clock: clockid_t) -> HostTime {
        let time = HostTime(nanoseconds: nanoseconds)
        if clock == CLOCK_MONOTONIC { return time }
        var other = timespec()
        unsafe clock_gettime(clock, &other)
        let now = HostTime(nanoseconds: Int64(other.tv_sec) * 1_000_000_000 + Int64(other.tv_nsec))
        return MonotonicClock.shared.now() + (time - now)
    }

    nonisolated(unsafe) private static let listener = unsafe listenerTable(
        wp_presentation_feedback_listener(
            sync_output: { _, _, _ in },
            presented: { data, _, secondsHigh, secondsLow, nanoseconds, refresh, countHigh, countLow, flags in
                let feedback = unsafe receiver(data, as: WaylandFeedback.self)
                let seconds = Int64(secondsHigh) << 32 | Int64(secondsLow)
                let time = WaylandFeedback.monotonic(seconds * 1_000_000_000 + Int64(nanoseconds), of: feedback.clock)
                feedback.forget()
                feedback.told(
                    feedback,
                    .presented(
                        time, refresh: refresh > 0 ? .nanoseconds(Int64(refresh)) : nil, count: UInt64(countHigh) << 32 | UInt64(countLow),
                        PresentationFlags(rawValue: flags)))
            },
            discarded: { data, _ in
                let feedback = unsafe receiver(data, as: WaylandFeedback.self)
                feedback.forget()
                feedback.told(feedback, .discarded)
            }))
}
