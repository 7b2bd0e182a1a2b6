/// Learns how a film's frame times fall within a display's refreshes, and puts the threshold between "this refresh" and "the next" where no frame
/// time comes near it.
///
/// At 24 frames per second on 60 Hz a frame takes 2½ refreshes, so the frame times fall on two places within a refresh, half a refresh apart. At 25
/// a frame takes 12/5 refreshes and the times fall on five places; at 30 they fall on one:
///
///     24 on 60 Hz:    ┼────●─────────○────┼        ● ○ ● ○ …   the frames alternate between the places
///     25 on 60 Hz:    ┼─●───●───●───●───●─┼
///
/// With a fixed threshold of half a refresh, a film whose frames fall there would stutter: a microsecond of jitter would move a frame to the refresh
/// before or after (3:2:3:2 becomes 3:3:1:3:2…). The tracker moves the threshold into the middle between two places and follows them as they drift
/// (23.976 on 60 Hz). When another gap between places is closer to one half by more than `slack`, the threshold jumps there, which shows one frame
/// for one refresh more or less, once.
///
/// A pure value. Positions and distances are in refreshes.
struct CadenceTracker: Sendable, Hashable {
    /// The threshold: a frame whose time is at most this far after a refresh belongs to it. 0.5 means the nearest refresh.
    private(set) var threshold = 0.5

    /// 6: with seven places or more in a refresh, the gaps are as narrow as the jitter of timestamps.
    private static let longestCycle = 6
    /// How far a cycle may end from a whole number of refreshes: 23.976 on 60 Hz, 29.97 on 60 Hz and 25 on 59.94 Hz are within.
    private static let tolerance = 0.02
    /// How far, in gaps, the threshold may move beyond the point where another gap is closer to one half.
    private static let slack = 0.1
    /// Weight of a new frame in the average: settles in half a second and passes an eighth of the jitter.
    private static let weight = 0.125

    /// Frames after which the places repeat; 0 while unknown.
    private(set) var cycle = 0
    /// Position of the places in units of a gap, 0 ..< 1.
    private var phase: Double?
    /// Frame distances of the current frame rate: their sum in nanoseconds, and their number.
    private var stepSum = 0.0
    private var stepCount = 0.0
    /// Consecutive distances that did not match the average.
    private var misfits = 0

    mutating func reset() { self = CadenceTracker() }

    /// Adds a frame that is going to be shown.
    ///
    /// - Parameters:
    ///   - distance: From the chosen refresh to the frame's time, in refreshes.
    ///   - step: From the previous frame to this one in host nanoseconds; nil when unknown.
    ///   - period: The display's period in nanoseconds; 0 when it has none.
    mutating func observe(distance: Double, step: Double?, period: Double) {
        // 1.5: a larger distance means that the frame was late, which says nothing about the cadence.
        guard period > 0, abs(distance) < 1.5 else { return }
        if let step { learn(step) }
        let found = stepCount > 0 ? findCycle(stepSum / stepCount / period) : 0
        if found != cycle {
            cycle = found
            phase = nil
            threshold = 0.5
        }
        guard cycle > 0 else { return }
        let places = Double(cycle)
        let scaled = distance * places
        let observed = scaled - scaled.rounded(.down)
        // A new cadence starts with the gap that keeps this frame on its refresh.
        if phase == nil { threshold = min(max(threshold, distance + 0.5 / places), distance + 1 - 0.5 / places) }
        let difference = phase.map { observed - $0 } ?? 0
        let moved = (phase ?? observed) + Self.weight * (difference - difference.rounded())
        let phase = moved - moved.rounded(.down)
        self.phase = phase
        // The middles of the gaps are at (phase + ½ + k) / places. Keep the current one unless another is clearly closer to one half.
        func middle(nearest target: Double) -> Double {
            let first = (phase + 0.5) / places
            return first + ((target - first) * places).rounded() / places
        }
        threshold = middle(nearest: threshold)
        if abs(threshold - 0.5) > (0.5 + Self.slack) / places { threshold = middle(nearest: 0.5) }
    }

    private mutating func learn(_ step: Double) {
        let average = stepCount > 0 ? stepSum / stepCount : step
        if abs(step - average) > average / 4 {
            misfits += 1
            // 3: a single gap in the film is not a new frame rate.
            guard misfits >= 3 else { return }
            stepSum = 0
            stepCount = 0
        }
        misfits = 0
        stepSum += step
        stepCount += 1
        // 128: times rounded to milliseconds average out, and a slow change of the rate is followed.
        if stepCount >= 128 {
            stepSum /= 2
            stepCount /= 2
        }
    }

    /// The smallest number of frames that takes a whole number of refreshes; 0 when there is none.
    private func findCycle(_ refreshesPerFrame: Double) -> Int {
        // The current cycle is kept with a larger tolerance than a new one needs.
        if cycle > 0, Self.misfit(refreshesPerFrame, cycle) < 2 * Self.tolerance { return cycle }
        return (1...Self.longestCycle).first { Self.misfit(refreshesPerFrame, $0) < Self.tolerance } ?? 0
    }

    private static func misfit(_ refreshesPerFrame: Double, _ cycle: Int) -> Double {
        let refreshes = refreshesPerFrame * Double(cycle)
        return refreshes < 0.5 ? 1 : abs(refreshes - refreshes.rounded())
    }
}
