package import Media

/// Finds out which ranges of a film miss the target, and with what setting each is encoded again: a search on top of any encoder. A pure value.
///
/// The setting is the encoder's quality from 0 to 1, or a rate in bits a second.
package struct RangeSearch: Sendable {
    package struct Trial: Sendable, Hashable {
        package init(setting: Double, result: Double) { (self.setting, self.result) = (setting, result) }

        package var setting: Double
        /// Decibel, or bits.
        package var result: Double
    }

    package struct Part: Sendable {
        package var range: MediaTimeRange
        /// What came of it, the last one last.
        package var trials: [Trial]
        /// What it is encoded with next; nil: it stays.
        package var next: Double?
    }

    package private(set) var parts: [Part]

    package init(_ parts: [(range: MediaTimeRange, trial: Trial)]) { self.parts = parts.map { Part(range: $0.range, trials: [$0.trial]) } }

    /// The ranges that are encoded again, with their settings.
    package var next: [(range: MediaTimeRange, setting: Double)] { parts.compactMap { part in part.next.map { (part.range, $0) } } }

    /// Notes what came of the ranges that were encoded again.
    package mutating func note(_ result: (MediaTimeRange) -> Double?) {
        for index in parts.indices {
            guard let setting = parts[index].next else { continue }
            if let result = result(parts[index].range) { parts[index].trials.append(Trial(setting: setting, result: result)) }
            parts[index].next = nil
        }
    }

    // MARK: Quality

    /// Decibel for the whole scale of an encoder, about: the first guess.
    private static let slope = 30.0
    /// Of the scale: the farthest that a guess goes.
    private static let farthest = 0.4

    /// Decides by a quality.
    ///
    /// - Parameter step: The smallest step of the setting that the encoder sees.
    package mutating func decide(quality target: ClosedRange<Double>, step: Double) {
        for index in parts.indices { parts[index].next = Self.nextQuality(parts[index].trials, target, step) }
    }

    /// nil when the last trial meets the target, or nothing comes nearer.
    package static func nextQuality(_ trials: [Trial], _ target: ClosedRange<Double>, _ step: Double) -> Double? {
        guard let last = trials.last, !target.contains(last.result) else { return nil }
        // The best of what has been tried, if it is not the last: encoded once more.
        if let best = trials.last(where: { target.contains($0.result) }) { return best.setting }
        let wanted = (target.lowerBound + target.upperBound) / 2
        let low = trials.filter { $0.result < target.lowerBound }.max { $0.setting < $1.setting }
        let high = trials.filter { $0.result > target.upperBound }.min { $0.setting < $1.setting }
        var guess: Double
        if let low, let high {
            // Quality that falls while the setting rises, or no step left between the two: the one that is not below the target.
            guard high.setting - low.setting > step * 1.5 else { return high.setting == last.setting ? nil : high.setting }
            guess = low.setting + (high.setting - low.setting) * (wanted - low.result) / (high.result - low.result)
            guess = min(max(guess, low.setting + step), high.setting - step)
        } else {
            let nearest = low ?? high ?? last, all = trials.sorted { $0.setting < $1.setting }
            var slope = Self.slope
            if let a = all.first, let b = all.last, b.setting > a.setting, b.result > a.result {
                slope = min(max((b.result - a.result) / (b.setting - a.setting), Self.slope / 3), Self.slope * 3)
            }
            let move = min(max((wanted - nearest.result) / slope, -Self.farthest), Self.farthest)
            guess = nearest.setting + (move < 0 ? min(move, -step) : max(move, step))
        }
        guess = min(max((guess / step).rounded() * step, 0), 1)
        return trials.contains { abs($0.setting - guess) < step / 2 } ? nil : guess
    }

    // MARK: Rate

    /// A range changes by half of what it is at most: beyond that its neighbours would look different.
    private static let mostChange = 0.5

    /// Decides by the bits of the whole film: the ranges with the most bits are encoded again, as few as can make up the difference.
    ///
    /// - Parameters:
    ///   - bits: Wanted for the whole film.
    ///   - tolerance: As a share of it.
    package mutating func decide(bits wanted: Double, tolerance: Double) {
        for index in parts.indices { parts[index].next = nil }
        let missing = wanted - bits
        guard abs(missing) > tolerance * wanted else { return }
        var chosen: [Int] = [], sum = 0.0
        for index in parts.indices.sorted(by: { Self.bits(parts[$0]) > Self.bits(parts[$1]) }) where sum * Self.mostChange < abs(missing) {
            chosen.append(index)
            sum += Self.bits(parts[index])
        }
        guard sum > 0 else { return }
        let factor = min(max(1 + missing / sum, Self.mostChange), 2)
        for index in chosen {
            guard let last = parts[index].trials.last else { continue }
            parts[index].next = max(last.setting * factor, 1000)
        }
    }

    private static func bits(_ part: Part) -> Double { part.trials.last?.result ?? 0 }

    /// Bits of the whole film, as it is now.
    package var bits: Double { parts.reduce(0) { $0 + Self.bits($1) } }
}
