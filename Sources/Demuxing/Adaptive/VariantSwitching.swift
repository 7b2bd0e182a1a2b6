/// Decides before each part of a film which variant it is taken of. Times are in microseconds. A pure value.
///
/// Upwards only where ten seconds are in memory, or as much as there can be, and not twice within two parts; downwards where another part of the
/// same variant would leave less than the reserve. Between the two nothing changes, so that a network that varies a little does not make the
/// film vary.
struct VariantSwitching: Sendable {
    /// What there is to choose among, by rising bit rate: numbers of variants.
    private let rising: [Int]
    private let bitRates: [Int: Int64]
    private(set) var estimate: ThroughputEstimate
    /// The place in `rising`.
    private var place: Int
    private var partsSinceSwitch = 0

    /// What is in memory from where the film is being read.
    struct Buffer: Sendable {
        var ahead: Int64
        /// There cannot be more: the limit is reached, or the end of what a live film has.
        var isFull = false
    }

    static let enoughToRise: Int64 = 10_000_000
    static let reserve: Int64 = 8_000_000
    /// A network is believed up to four fifths, since it is never steady.
    private static let shares = (used: Int64(4), of: Int64(5))
    /// Sooner nobody knows how fast a part comes.
    private static let shortestLook: Int64 = 1_000_000

    /// - Parameters:
    ///   - rising: numbers of variants by rising bit rate, not empty.
    ///   - first: the one to begin with.
    init(rising: [Int], bitRates: [Int: Int64], first: Int, throughput: Int64) {
        (self.rising, self.bitRates) = (rising, bitRates)
        estimate = ThroughputEstimate(throughput)
        place = rising.firstIndex(of: first) ?? 0
    }

    var current: Int { rising[place] }

    private func bitRate(_ place: Int) -> Int64 { max(bitRates[rising[place]] ?? 0, 1) }

    /// The best that the network brings in time.
    private var affordable: Int {
        let limit = estimate.bitRate / Self.shares.of * Self.shares.used
        return rising.indices.last { bitRate($0) <= limit } ?? 0
    }

    /// The variant of the next part, which lasts `duration`.
    mutating func next(_ buffer: Buffer, duration: Int64) -> Int {
        let affordable = affordable
        partsSinceSwitch += 1
        if affordable > place {
            if partsSinceSwitch > 2, buffer.isFull || buffer.ahead >= Self.enoughToRise { change(to: affordable) }
        } else if affordable < place, buffer.ahead - cost(place, duration) < Self.reserve {
            change(to: affordable)
        }
        return current
    }

    /// How long a part takes to come.
    private func cost(_ place: Int, _ duration: Int64) -> Int64 {
        Int64(min(Double(duration) * Double(bitRate(place)) / Double(estimate.bitRate), 1e15))
    }

    private mutating func change(to place: Int) {
        self.place = place
        partsSinceSwitch = 0
    }

    /// A part has come, or as much of it as there is.
    mutating func received(_ bytes: Int, elapsed: Int64) { estimate.add(bytes, elapsed: elapsed) }

    /// Whether a part that is coming would come too late, so that a smaller one is fetched in its place.
    ///
    /// - Parameter total: the part's length in bytes; nil: what the variant's bit rate says.
    mutating func givesUp(_ received: Int, of total: Int?, elapsed: Int64, duration: Int64, ahead: Int64) -> Bool {
        guard place > 0, elapsed >= Self.shortestLook else { return false }
        let rate = max(Double(received) * 8e6 / Double(elapsed), 1)
        let bits = total.map { Double($0) * 8 } ?? Double(bitRate(place)) * Double(duration) / 1e6
        let left = (bits - Double(received) * 8) / rate * 1e6
        guard left > Double(ahead), left > Double(bitRate(0)) * Double(duration) / rate else { return false }
        estimate.reset(to: Int64(rate))
        change(to: min(affordable, place - 1))
        return true
    }

    /// The variant cannot be had: another one takes its place. False where there is no other.
    mutating func lost(_ variant: Int) -> Bool {
        guard rising.count > 1, let index = rising.firstIndex(of: variant) else { return false }
        let now = current == variant ? rising[index > 0 ? index - 1 : 1] : current
        var other = VariantSwitching(rising: rising.filter { $0 != variant }, bitRates: bitRates, first: now, throughput: estimate.bitRate)
        other.estimate = estimate
        self = other
        return true
    }
}
