package import Media

/// Decides which part of the captured time is in a film, and where, while a recording is paused and resumed.
///
/// A pause takes effect with a frame: it begins with the first frame that was captured after it was ordered, and ends with the first one after the
/// order to resume. So the film's frames keep the camera's distance at that place, and sound, which is cut there to the sample, stays with them.
/// Without frames (sound alone, a camera that is away) an order takes effect at the time at which it was given.
///
/// A pure value. Captured times are on CLOCK_MONOTONIC.
package struct RecordingTimeState: Sendable {
    /// Where something that was captured belongs.
    package enum Place: Sendable, Hashable {
        /// It was captured before the film begins.
        case before
        /// In the film, at this time.
        case film(MediaTime)
        /// In a pause.
        case pause
    }

    /// An order that has taken effect, with the film time at which it did.
    package enum Change: Sendable, Hashable {
        case paused(MediaTime)
        case resumed(MediaTime)
    }

    /// Captured time that is in the film.
    package struct Stretch: Sendable, Hashable {
        package var start: HostTime
        /// Nil: it goes on.
        package var end: HostTime?
        /// The captured time that would be at 0 in the film if there had been no pause.
        package var origin: HostTime
    }

    /// In order. Empty before the film begins.
    package private(set) var stretches: [Stretch] = []
    /// Orders that have not taken effect, in order: to pause and to resume in turn.
    private var orders: [HostTime] = []
    /// Whether the newest order, in effect or not, is to pause.
    package private(set) var isPausing = false
    /// Whether a pause is in effect.
    package private(set) var isPaused = false

    package init() {}

    /// Orders a pause; does nothing to a recording that pauses.
    package mutating func pause(at time: HostTime) {
        guard !isPausing else { return }
        isPausing = true
        orders.append(max(time, orders.last ?? time))
    }

    /// Orders the recording to go on; does nothing to one that is not paused.
    package mutating func resume(at time: HostTime) {
        guard isPausing else { return }
        isPausing = false
        orders.append(max(time, orders.last ?? time))
    }

    /// A frame was captured at this time, and none before it follows. The film begins with the first that is not in a pause.
    package mutating func frame(at time: HostTime) -> (place: Place, changes: [Change]) {
        let changes = decide { $0 <= time ? time : nil }
        if stretches.isEmpty, !isPaused { stretches = [Stretch(start: time, end: nil, origin: time)] }
        return (place(of: time), changes)
    }

    /// No frame that was captured before `time` follows: orders until then take effect when they were given.
    package mutating func settle(until time: HostTime) -> [Change] { decide { $0 <= time ? $0 : nil } }

    private mutating func decide(_ edge: (HostTime) -> HostTime?) -> [Change] {
        var changes: [Change] = []
        while let order = orders.first, let time = edge(order) {
            orders.removeFirst()
            isPaused.toggle()
            guard let last = stretches.last else { continue }
            if isPaused {
                stretches[stretches.count - 1].end = max(time, last.start)
                changes.append(.paused(MediaTime(max(time, last.start) - last.origin)))
            } else {
                // As long as the pause was, what follows moves forward.
                let end = last.end ?? last.start, start = max(time, end)
                stretches.append(Stretch(start: start, end: nil, origin: last.origin + (start - end)))
                changes.append(.resumed(MediaTime(end - last.origin)))
            }
        }
        return changes
    }

    /// Where something belongs that was captured at this time, as far as that has been decided.
    package func place(of time: HostTime) -> Place {
        guard let stretch = stretches.last(where: { $0.start <= time }) else { return .before }
        if let end = stretch.end, time >= end { return .pause }
        return .film(MediaTime(time - stretch.origin))
    }

    /// The film's length if it ended at this time.
    package func length(at time: HostTime) -> MediaTime {
        guard let stretch = stretches.last(where: { $0.start <= time }) else { return .zero }
        return MediaTime(min(time, stretch.end ?? time) - stretch.origin)
    }

    /// The part of a sound that belongs to one stretch.
    package struct Part: Sendable, Hashable {
        /// The stretch's number.
        package var stretch: Int
        /// The sound after it does not belong to this stretch.
        package var end: HostTime

        package init(stretch: Int, end: HostTime) { (self.stretch, self.end) = (stretch, end) }
    }

    /// The parts of a sound between two times that are in the film; nil while that has not been decided. What lies before the first stretch is taken
    /// for a part of it: it is cut to the sample where the sound is placed.
    package func parts(from start: HostTime, to end: HostTime) -> [Part]? {
        guard !stretches.isEmpty, orders.first.map({ end <= $0 }) ?? true else { return nil }
        var parts: [Part] = []
        for (index, stretch) in stretches.enumerated() where stretch.start < end && stretch.end.map({ start < $0 }) ?? true {
            parts.append(Part(stretch: index, end: min(end, stretch.end ?? end)))
        }
        return parts
    }
}
