internal import Glibc

/// What a network brings, by what it has brought: two means that forget, one in 3 s and one in 9 s of fetching, of which the lower counts. So a
/// network that becomes slower is believed soon, one that becomes faster after a while. A pure value.
struct ThroughputEstimate: Sendable {
    private struct Mean {
        let half: Double
        private var sum = 0.0, weight = 0.0

        init(half: Double) { self.half = half }

        var value: Double { weight > 0 ? sum / weight : 0 }

        mutating func add(_ rate: Double, seconds: Double) {
            let kept = pow(0.5, seconds / half)
            sum = sum * kept + rate * (1 - kept)
            weight = weight * kept + (1 - kept)
        }
    }

    private var fast = Mean(half: 3), slow = Mean(half: 9)

    /// - Parameter known: bits a second that were measured before.
    init(_ known: Int64) { reset(to: known) }

    /// Bits a second.
    var bitRate: Int64 { Int64(min(max(min(fast.value, slow.value), 1), 1e15).rounded()) }

    /// So many bytes have come in `elapsed` microseconds.
    mutating func add(_ bytes: Int, elapsed: Int64) {
        guard bytes > 0, elapsed > 0 else { return }
        // A part that comes within a few milliseconds says little, but not nothing.
        let seconds = max(Double(elapsed) / 1e6, 0.05), rate = Double(bytes) * 8e6 / Double(elapsed)
        fast.add(rate, seconds: seconds)
        slow.add(rate, seconds: seconds)
    }

    /// Forgets what was before.
    mutating func reset(to rate: Int64) {
        (fast, slow) = (Mean(half: 3), Mean(half: 9))
        fast.add(Double(rate), seconds: 1)
        slow.add(Double(rate), seconds: 1)
    }
}
