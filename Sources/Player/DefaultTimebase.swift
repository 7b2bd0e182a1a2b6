package import Media

/// Drives the timebase of a display queue whose owner gave none, so that a program that only enqueues samples sees a film.
///
/// The timebase runs on the host clock: a frame whose time is a reading of CLOCK_MONOTONIC is shown at that moment. A film with other times, such
/// as one that begins at zero, is anchored at its first frame since the start or a flush: time is held at that frame until it is on the display
/// and runs from then on.
///
/// An owner who sets the timebase's time or rate takes it over; from then on nothing here changes it.
///
/// Thread-safety: all of it.
package final class DefaultTimebase: Sendable {
    /// Runs at rate 1 and reads the host clock until a film is anchored.
    package let timebase: Timebase
    private let state: Monitor<State>

    private struct State: Sendable {
        /// What was set here last; anything else was set by the owner.
        var mapping: TimebaseMapping
        /// Time is stopped until the first frame is on the display.
        var isHolding = false
    }

    /// 10 s: no decoder works that far ahead of the display, so a frame further ahead does not count in host time.
    private static let horizon = MediaTime(value: 10, timescale: 1)

    /// - Parameter clock: the monotonic one, or a `ManualClock` in tests.
    package init(clock: any HostClock = MonotonicClock.shared) {
        timebase = Timebase(clock: clock)
        let now = clock.now()
        timebase.setRate(1, time: MediaTime(nanoseconds: now.nanoseconds), atHostTime: now)
        state = Monitor(State(mapping: timebase.mapping))
    }

    /// The first frame since the start or a flush has been decoded, and is about to be handed to the display. On the decoding thread.
    package func willShowFirst(_ time: MediaTime) {
        let ahead = time - timebase.time
        guard time.isNumeric, !isTakenOver, ahead < .zero || ahead > Self.horizon else { return }
        timebase.setRate(0, time: time, atHostTime: timebase.clock.now())
        state.withLock { $0 = State(mapping: timebase.mapping, isHolding: true) }
    }

    /// That frame is on the display; the film runs from `refresh`, a refresh of the display in CLOCK_MONOTONIC. On the sink's thread.
    package func didShowFirst(at refresh: HostTime) {
        guard state.withLock({ $0.isHolding }), !isTakenOver else { return }
        timebase.setRate(1, time: timebase.time, atHostTime: timebase.clock.relation.fromReference(refresh))
        state.withLock { $0 = State(mapping: timebase.mapping) }
    }

    private var isTakenOver: Bool { timebase.mapping != state.withLock { $0.mapping } }
}
