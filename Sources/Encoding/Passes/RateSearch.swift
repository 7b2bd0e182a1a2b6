internal import Glibc

/// Finds the rate that an encoder must be asked for so that its whole passes come to another one. A pure function.
///
/// An encoder's rate follows what it is asked for, but not one to one: of an easy film libvpx made 2 % less when it was asked for 6 % less. The first
/// correction takes the two for proportional, later ones the slope between the last two passes.
package enum RateSearch {
    /// What a pass was asked for, and what came of it, in bits a second.
    package struct Trial: Sendable, Hashable {
        package var requested: Double
        package var made: Double

        package init(requested: Double, made: Double) {
            self.requested = requested
            self.made = made
        }
    }

    /// A step of one pass, at most: half and double.
    private static let steps = 0.5...2.0
    /// How much an encoder's rate changes when what it is asked for does, both as logarithms. Outside these limits two passes say nothing.
    private static let slopes = 0.25...2.0

    /// The rate to ask for in the next pass.
    ///
    /// - Parameter trials: Of the passes so far, the last one last; not empty, all above zero.
    package static func next(_ trials: [Trial], wanted: Double) -> Double {
        let last = trials[trials.count - 1]
        var slope = 1.0
        if trials.count > 1 {
            let before = trials[trials.count - 2], asked = log(last.requested / before.requested)
            let found = log(last.made / before.made) / asked
            if asked != 0, found.isFinite { slope = min(max(found, slopes.lowerBound), slopes.upperBound) }
        }
        let factor = exp(log(wanted / last.made) / slope)
        return last.requested * min(max(factor, steps.lowerBound), steps.upperBound)
    }
}
