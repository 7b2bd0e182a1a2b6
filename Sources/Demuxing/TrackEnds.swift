package import Media

/// Decides when a track has been read to the end of the part that is wanted, so that one damaged time does not end it early.
///
/// A sample beyond the end says so where it follows the one before. One that lies more than ten seconds behind that may have a damaged time, as
/// `SteadyTimes` finds with the samples that follow. The track goes on then until a sample follows another one beyond the end in the same way for
/// so long that no damage does. A pure value.
package struct TrackEnds: Sendable {
    private struct Progress: Sendable {
        /// The last sample within the part.
        var last: MediaTime
        /// How long it lasts, or the time since the one before.
        var step: MediaTime
        /// Samples since then, which all lie far beyond the end.
        var beyond = 0
    }

    /// As many as `SteadySamples` reads ahead.
    package static let mostBeyond = 1000
    private static let jump = MediaTime(value: SteadyTimes.jump, timescale: 1_000_000)
    private var progress: [Int: Progress] = [:]

    package init() {}

    /// Reading goes on elsewhere.
    package mutating func begin() { progress = [:] }

    /// Whether a track has nothing more in the part, now that this sample of it has come.
    /// - Parameters:
    ///   - time: when it is decoded; where that is unknown, when it is shown. A number.
    ///   - duration: not a number where it is unknown.
    package mutating func isReached(_ end: MediaTime, by time: MediaTime, duration: MediaTime, track: Int) -> Bool {
        guard time >= end else {
            let difference = progress[track].map { time - $0.last } ?? .zero
            let step = duration.isNumeric ? duration : difference
            progress[track] = Progress(last: time, step: max(step, .zero))
            return false
        }
        guard var known = progress[track], time > known.last + known.step + Self.jump else { return true }
        known.beyond += 1
        progress[track] = known
        return known.beyond > Self.mostBeyond
    }
}
