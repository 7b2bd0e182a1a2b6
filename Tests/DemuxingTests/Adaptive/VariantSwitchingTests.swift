import Testing

@testable import Demuxing

/// Before each part it is decided which variant it is taken of.
@Suite struct VariantSwitchingTests {
    private static let rates: [Int: Int64] = [0: 800_000, 1: 2_500_000, 2: 5_500_000]

    private static func switching(_ first: Int, _ throughput: Int64) -> VariantSwitching {
        VariantSwitching(rising: [0, 1, 2], bitRates: rates, first: first, throughput: throughput)
    }

    @Test(arguments: [
        // variant, throughput in kb/s, seconds ahead, full, expected
        (0, 3200, 10.0, false, 1), (0, 3200, 9.9, false, 0), (0, 3200, 1.0, true, 1), (0, 3100, 30.0, false, 0), (0, 6900, 10.0, false, 2),
        (2, 6900, 0.0, false, 2), (2, 6800, 0.0, false, 1), (2, 1000, 29.0, false, 0), (2, 1000, 31.0, false, 2), (1, 100, 200.0, false, 1),
        (1, 0, 200.0, false, 0), (0, 0, 0.0, false, 0),
    ])
    func `by throughput and what is in memory`(_ row: (first: Int, kilobits: Int64, ahead: Double, isFull: Bool, expected: Int)) {
        var switching = Self.switching(row.first, row.kilobits * 1000)
        let buffer = VariantSwitching.Buffer(ahead: Int64(row.ahead * 1e6), isFull: row.isFull)
        // The first two parts are never another variant upwards.
        let answers = (0..<3).map { _ in switching.next(buffer, duration: 4_000_000) }
        #expect(answers[2] == row.expected)
        #expect(row.expected <= row.first || answers[1] == row.first)
    }

    @Test func `a part that would come too late is given up, and not one that comes in time`() {
        // 3 MB that come with 1 Mb/s: 24 s.
        for (ahead, elapsed, isGivenUp) in [(20.0, 2_000_000, true), (23.0, 2_000_000, false), (1.0, 900_000, false)] {
            var switching = Self.switching(2, 8_000_000)
            let received = Int(125_000 * Double(elapsed) / 1e6)
            let answer = switching.givesUp(received, of: 3_000_000, elapsed: Int64(elapsed), duration: 4_000_000, ahead: Int64(ahead * 1e6))
            #expect(answer == isGivenUp && switching.current == (isGivenUp ? 0 : 2), "\(ahead)")
        }
        var lowest = Self.switching(0, 8_000_000)
        let answer = lowest.givesUp(1, of: 3_000_000, elapsed: 5_000_000, duration: 4_000_000, ahead: 0)
        #expect(!answer)
    }

    @Test func `a variant that cannot be had gives way to the next one below`() {
        var switching = Self.switching(1, 3_200_000)
        var answer = switching.lost(1)
        #expect(answer && switching.current == 0)
        answer = switching.lost(0)
        #expect(answer && switching.current == 2)
        answer = switching.lost(2)
        #expect(!answer)
    }

    /// A player with a network whose rate is a function of time: what it shows.
    private struct Simulation {
        var stalled = 0.0, variants: [Int] = []
        var switchesUp: Int { zip(variants, variants.dropFirst()).count { $0 < $1 } }
        var switchesDown: Int { zip(variants, variants.dropFirst()).count { $0 > $1 } }

        init(parts: Int, duration: Double, first: Int, latency: Double = 0.05, _ rate: (Double) -> Double) {
            var switching = switching(first, Int64(rate(0))), now = 0.0, ahead = 0.0, hasBegun = false
            func pass(_ seconds: Double) {
                now += seconds
                guard hasBegun else { return }
                stalled += max(seconds - ahead, 0)
                ahead = max(ahead - seconds, 0)
            }
            while variants.count < parts {
                while ahead > 60 { pass(0.1) }
                let variant = switching.next(.init(ahead: Int64(ahead * 1e6)), duration: Int64(duration * 1e6))
                // Parts of a variant are up to a fifth smaller and larger than they should be.
                let size = Double(rates[variant]!) * duration / 8 * [0.8, 1.1, 0.9, 1.2, 1][variants.count % 5]
                pass(latency)
                let began = now
                var got = 0.0, isGivenUp = false
                while got < size, !isGivenUp {
                    pass(0.02)
                    got += rate(now) / 8 * 0.02
                    isGivenUp = switching.givesUp(
                        Int(got), of: Int(size), elapsed: Int64((now - began) * 1e6), duration: Int64(duration * 1e6), ahead: Int64(ahead * 1e6))
                }
                if isGivenUp { continue }
                switching.received(Int(size), elapsed: Int64((now - began) * 1e6))
                variants.append(variant)
                ahead += duration
                hasBegun = true
            }
        }
    }

    @Test(arguments: [1.0, 2.0, 4.0, 6.0], [0, 1, 2])
    func `a network that goes from 8 to 1 to 4 megabits makes no stall, and few changes`(duration: Double, first: Int) {
        let simulation = Simulation(parts: Int(180 / duration), duration: duration, first: first) { $0 < 30 ? 8e6 : $0 < 60 ? 1e6 : 4e6 }
        #expect(simulation.stalled == 0, "\(simulation.stalled)")
        #expect(simulation.switchesUp <= (first == 0 ? 3 : 2) && simulation.switchesDown <= 2, "\(simulation.variants)")
        #expect(simulation.variants.last == 1 && simulation.variants.contains(2))
    }

    @Test func `a network that varies by a third about its mean changes the variant hardly`() {
        let simulation = Simulation(parts: 100, duration: 3, first: 1) { 4e6 * (Int($0 * 2) % 2 == 0 ? 0.67 : 1.33) }
        #expect(simulation.stalled == 0 && simulation.switchesUp + simulation.switchesDown <= 1, "\(simulation.variants)")
    }

    @Test func `the estimate falls soon and rises after a while`() {
        var estimate = ThroughputEstimate(8_000_000)
        #expect(estimate.bitRate == 8_000_000)
        for _ in 0..<3 { estimate.add(125_000, elapsed: 1_000_000) }
        #expect(estimate.bitRate < 3_000_000 && estimate.bitRate > 1_000_000)
        for _ in 0..<3 { estimate.add(1_000_000, elapsed: 1_000_000) }
        #expect(estimate.bitRate < 6_000_000)
        for _ in 0..<60 { estimate.add(1_000_000, elapsed: 1_000_000) }
        #expect(estimate.bitRate > 7_500_000)
        estimate.add(0, elapsed: 5)
        estimate.reset(to: 5)
        #expect(estimate.bitRate == 5)
    }
}
