import Encoding
import Media
import Testing

@Suite struct RangeSearchTests {
    private typealias Trial = RangeSearch.Trial

    private static func second(_ number: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(value: number, timescale: 1), duration: MediaTime(value: 1, timescale: 1))
    }

    /// Scenes whose quality, in decibel, follows from the setting.
    @Test(arguments: [(20.0, 40.0), (30, 25), (10, 60), (36, 8), (25, 38.5)])
    func `a quality is found in few trials`(base: Double, slope: Double) {
        let step = 1.0 / 51
        func encode(_ setting: Double) -> Double { base + slope * setting.squareRoot() }
        var trials = [RangeSearch.Trial(setting: 0.55, result: encode(0.55))]
        while let next = RangeSearch.nextQuality(trials, 39.5...40.5, step), trials.count < 10 {
            #expect((0...1).contains(next) && abs(next / step - (next / step).rounded()) < 1e-6, "a step of the encoder's")
            trials.append(Trial(setting: next, result: encode(next)))
        }
        let isPossible = (39.5...40.5).contains(where: { base + slope >= $0 })
        #expect(trials.count <= 6, "\(trials)")
        if isPossible { #expect((39.5...40.5).contains(trials[trials.count - 1].result), "\(trials)") } else { #expect(trials.last?.setting == 1) }
    }

    @Test func `where two steps lie around the target, the better one stays`() {
        let step = 0.1
        func trial(_ setting: Double, _ result: Double) -> Trial { Trial(setting: setting, result: result) }
        #expect(RangeSearch.nextQuality([trial(0.5, 39), trial(0.6, 42)], 40...41, step) == nil)
        #expect(RangeSearch.nextQuality([trial(0.6, 42), trial(0.5, 39)], 40...41, step) == 0.6, "encoded once more")
        #expect(RangeSearch.nextQuality([trial(1, 30)], 40...41, step) == nil, "the best that there is")
        #expect(RangeSearch.nextQuality([trial(0, 60)], 40...41, step) == nil, "the worst that there is")
    }

    @Test func `only ranges that miss the quality are encoded again`() {
        var search = RangeSearch([
            (Self.second(0), .init(setting: 0.5, result: 40)), (Self.second(1), .init(setting: 0.5, result: 30)),
            (Self.second(2), .init(setting: 0.5, result: 40.4)), (Self.second(3), .init(setting: 0.5, result: 45)),
        ])
        search.decide(quality: 39.5...40.5, step: 0.01)
        #expect(search.next.map(\.range) == [Self.second(1), Self.second(3)])
        #expect(search.next[0].setting > 0.5 && search.next[1].setting < 0.5)
        search.note { $0 == Self.second(1) ? 40 : 43 }
        search.decide(quality: 39.5...40.5, step: 0.01)
        #expect(search.next.map(\.range) == [Self.second(3)])
    }

    @Test func `a rate is met by the ranges with the most bits, and as few as can`() {
        func film(_ bits: [Double]) -> RangeSearch {
            RangeSearch(bits.enumerated().map { (Self.second(Int64($0)), .init(setting: $1, result: $1)) })
        }
        var near = film([1_000_000, 1_005_000])
        near.decide(bits: 2_000_000, tolerance: 0.01)
        #expect(near.next.isEmpty)
        var large = film([100_000, 2_000_000, 400_000, 100_000])
        large.decide(bits: 2_000_000, tolerance: 0.01)
        #expect(large.next.map(\.range) == [Self.second(1)] && abs(large.next[0].setting - 1_400_000) < 1)
        // The encoder makes a tenth more than it is asked for.
        large.note { _ in 1_540_000 }
        large.decide(bits: 2_000_000, tolerance: 0.01)
        #expect(large.next.count == 1 && abs(large.next[0].setting - 1_400_000 * 1_400_000 / 1_540_000) < 1)
        large.note { _ in 1_405_000 }
        large.decide(bits: 2_000_000, tolerance: 0.01)
        #expect(large.next.isEmpty && large.bits == 2_005_000)
        var small = film([500_000, 300_000, 200_000])
        small.decide(bits: 2_000_000, tolerance: 0.01)
        #expect(small.next.count == 3, "all of them, and none by more than twice")
    }
}

extension ClosedRange<Double> {
    /// Whether a condition holds for its lower end.
    fileprivate func contains(where condition: (Double) -> Bool) -> Bool { condition(lowerBound) }
}
