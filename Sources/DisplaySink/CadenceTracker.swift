/// Learns the rhythm in which a film's frames fall on a display's refreshes, and puts the line between "this refresh" and
/// "the next" where no frame's time comes near it.
///
/// At 24 frames a second on 60 Hz a frame takes 2½ refreshes, so the frames' times fall on two places within a refresh, half a refresh
/// apart; at 25 it takes 12/5 and they fall on five places; at 30 on one:
///
///     24 on 60 Hz:    ┼────●─────────○────┼        ● ○ ● ○ …   every other frame here and there
///     25 on 60 Hz:    ┼─●───●───●───●───●─┼
///
/// With the line at a fixed half of the refresh, films whose frames happen to fall there would stutter: a microsecond of jitter
/// throws each frame to one side or the other (3:2:3:2 becomes 3:3:1:3:2…). Here the line moves into the middle between two
/// places and follows them as they drift (23.976 on 60 Hz), up to `slack` beyond where the next gap would be nearer to the half; then
/// it jumps there, which costs one frame a refresh more or less, once.
///
/// A pure value. Positions and distances are in refreshes.
struct CadenceTracker: Sendable, Hashable {
    /// Where the line is: a frame whose moment is at most this far after a refresh belongs to it. 0.5 is nearest-neighbour.
    private(set) var threshold = 0.5

    /// 6: with seven places or more in a refresh, their gaps are no wider than timestamps jitter.
    private static let longestCycle = 6
    /// How far from a whole number of refreshes a cycle may end: 23.976 on 60 Hz, 29.97 on 60 Hz and 25 on 59.94 Hz stay below.
    private static let tolerance = 0.02
    /// In parts of a gap: how far the line may go beyond the point where another gap is nearer to the half.
    private static let slack = 0.1
    /// Weight of a new frame in the places' average: settles in half a second, takes an eighth of the jitter.
    private static let weight = 0.125

    /// Frames after which the places repeat; 0 while none is known.
    private(set) var cycle = 0
    /// Where in a gap-sized unit the places lie, 0 ..< 1.
    private var phase: Double?
    /// Frame distances of one rhythm: their sum in nanoseconds, their number.
    private var stepSum = 0.0
    private var stepCount = 0.0
    /// Distances in a row that did not fit the average.
    private var misfits = 0

    mutating func reset() { self = CadenceTracker() }

    /// Takes in a frame that is to be shown.
    ///
    /// - Parameters:
    ///   - distance: From the refresh chosen to the frame's moment, in refreshes.
    ///   - step: From the previous frame to this one, host nanoseconds; nil when unknown.
    ///   - period: Of the display, nanoseconds; 0 when it has none.
    mutating func observe(distance: Double, step: Double?, period: Double) {
        // 1.5: further off, the refresh was chosen because of lateness, which says nothing of the rhythm.
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
        // A new rhythm takes the gap that leaves this frame where it is, half a gap or more from the line on either side.
        if phase == nil { threshold = min(max(threshold, distance + 0.5 / places), distance + 1 - 0.5 / places) }
        let difference = phase.map { observed - $0 } ?? 0
        let moved = (phase ?? observed) + Self.weight * (difference - difference.rounded())
        let phase = moved - moved.rounded(.down)
        self.phase = phase
        // The gaps' middles lie at (phase + ½ + k) / places; stay with the one we are at unless another is clearly nearer to the half.
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
            // 3: a single gap in the film is no new frame rate.
            guard misfits >= 3 else { return }
            stepSum = 0
            stepCount = 0
        }
        misfits = 0
        stepSum += step
        stepCount += 1
        // 128: times rounded to milliseconds average out, and a slow change of rate is still followed.
        if stepCount >= 128 {
            stepSum /= 2
            stepCount /= 2
        }
    }

    /// The shortest number of frames that takes a whole number of refreshes; 0 when there is none.
    private func findCycle(_ refreshesPerFrame: Double) -> Int {
        // The cycle in use is kept a little longer than a new one would be accepted.
        if cycle > 0, Self.misfit(refreshesPerFrame, cycle) < 2 * Self.tolerance { return cycle }
        return (1...Self.longestCycle).first { Self.misfit(refreshesPerFrame, $0) < Self.tolerance } ?? 0
    }

    private static func misfit(_ refreshesPerFrame: Double, _ cycle: Int) -> Double {
        let refreshes = refreshesPerFrame * Double(cycle)
        return refreshes < 0.5 ? 1 : abs(refreshes - refreshes.rounded())
    }
}
