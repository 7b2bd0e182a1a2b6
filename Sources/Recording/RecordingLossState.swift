package import Capture
package import Media

/// Counts the frames that a film lacks between its first and its last one.
///
/// A report of lost frames comes before the frame that follows them. Only that frame says whether they lie in the film, or behind its end.
package struct RecordingLossState: Sendable {
    /// Frames that the film lacks.
    package private(set) var counted: [CaptureDrop.Reason: Int] = [:]
    /// Reports behind the last frame of the film.
    private var waiting: [CaptureDrop] = []

    package init() {}

    /// Frames were lost after the last one that the film has.
    package mutating func add(_ drop: CaptureDrop) { if drop.reason != .switchedOff, drop.count > 0 { waiting.append(drop) } }

    /// The film goes on with a frame, or ends at a time after which nothing belongs to it.
    package mutating func settle(until end: HostTime = .distantFuture) {
        for drop in waiting where drop.time < end { counted[drop.reason, default: 0] += drop.count }
        waiting = []
    }
}
