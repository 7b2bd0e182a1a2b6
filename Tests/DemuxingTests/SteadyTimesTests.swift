import TestSupport
import Testing

@testable import Demuxing

/// Which times of a film are believed. Seconds in the tables, microseconds in the code.
@Suite struct SteadyTimesTests {
    /// A sample of a film: its track and its time.
    private typealias Row = (track: Int, time: Double)

    /// 0 and 1 are frames and sound, 2 are subtitles. Samples last as long as said.
    private func placed(_ rows: [Row], length: Double?, lasting: Double = 0.04, readsAhead: Bool = true, from begin: Double? = nil) -> [Double] {
        var times = SteadyTimes(steady: [0, 1], length: length.map { Int64($0 * 1e6) })
        if let begin { times.begin(at: Int64(begin * 1e6)) }
        let stamps = rows.map { SteadyTimes.Stamp(track: $0.track, order: Int64($0.time * 1e6), duration: Int64(lasting * 1e6)) }
        return stamps.indices.map { index in
            let following = readsAhead && times.isDoubtful(stamps[index]) ? stamps[(index + 1)...] : []
            let placement = times.place(stamps[index], following: following, isAll: readsAhead)
            return Double(stamps[index].order + placement.shift) / 1e6
        }
    }

    private func frames(_ times: [Double]) -> [Row] { times.map { (0, $0) } }

    private struct Case: CustomStringConvertible {
        var description: String
        var times: [Double]
        var length: Double?
        var lasting = 0.04
        var readsAhead = true
        var begin: Double?
        var expected: [Double]
    }

    private static let believed: [Case] = [
        Case(description: "a film", times: [0, 0.04, 0.08, 0.12], length: 60, expected: [0, 0.04, 0.08, 0.12]),
        Case(description: "a pause", times: [0, 0.04, 50, 50.04], length: 60, expected: [0, 0.04, 50, 50.04]),
        Case(description: "stills", times: [0, 300, 600, 900], length: 1200, lasting: 0, expected: [0, 300, 600, 900]),
        Case(description: "stills of nine seconds", times: [0, 300, 309, 318], length: 1200, lasting: 0, expected: [0, 300, 309, 318]),
        Case(description: "stills that say how long", times: [0, 300, 600], length: nil, lasting: 300, readsAhead: false, expected: [0, 300, 600]),
        Case(description: "a short pause without a length", times: [0, 0.04, 50, 50.04], length: nil, expected: [0, 0.04, 50, 50.04]),
        Case(description: "after a seek, from before it", times: [580, 580.04], length: 1000, begin: 600, expected: [580, 580.04]),
        Case(description: "after a seek, a pause", times: [580, 640, 640.04], length: 1000, begin: 600, expected: [580, 640, 640.04]),
        Case(description: "a film that begins late", times: [30, 30.04], length: 60, expected: [30, 30.04]),
        Case(description: "a stream that begins anywhere", times: [5000, 5000.04], length: nil, readsAhead: false, expected: [5000, 5000.04]),
        Case(description: "longer than stated", times: [0, 4, 8, 12, 16, 20], length: 1, lasting: 4, expected: [0, 4, 8, 12, 16, 20]),
    ]

    private static let damaged: [Case] = [
        Case(description: "one time, forwards", times: [0, 3600, 0.08, 0.12], length: 7200, expected: [0, 0.04, 0.08, 0.12]),
        Case(
            description: "one time, backwards", times: [3000, 3000.04, 5, 3000.12], length: 7200, begin: 3000,
            expected: [3000, 3000.04, 3000.08, 3000.12]),
        Case(description: "a stretch", times: [0, 3600, 3600.04, 3600.08, 0.16], length: 7200, expected: [0, 0.04, 0.08, 0.12, 0.16]),
        Case(description: "two wrong times", times: [0, 3600, 1800, 0.12], length: 7200, expected: [0, 0.04, 0.08, 0.12]),
        Case(description: "the first ones", times: [3600, 3600.04, 0.08, 0.12], length: 7200, expected: [0, 0.04, 0.08, 0.12]),
        Case(description: "the first ones, no length", times: [3600, 3600.04, 0.08], length: nil, expected: [0, 0.04, 0.08]),
        Case(description: "the first after a seek", times: [3600, 3600.04, 600.08], length: 7200, begin: 600, expected: [600, 600.04, 600.08]),
        Case(description: "outside the film", times: [0, 3600, 3600.04], length: 60, expected: [0, 0.04, 0.08]),
        Case(description: "before the film", times: [0, 0.04, -3600, -3599.96], length: 60, expected: [0, 0.04, 0.08, 0.12]),
        Case(description: "for good, no length", times: [0, 3600, 3600.04], length: nil, expected: [0, 0.04, 0.08]),
        Case(description: "not read ahead, no length", times: [0, 3600, 0.08], length: nil, readsAhead: false, expected: [0, 0.04, 0.08]),
        Case(description: "another film behind it", times: [0, 20, 40, 0, 20], length: 60, lasting: 20, expected: [0, 20, 40, 60, 80]),
        Case(description: "centuries", times: [0, 9e12, 0.08], length: nil, expected: [0, 0.04, 0.08]),
    ]

    @Test(arguments: believed + damaged) private func `a time is believed where the film and its neighbours allow it`(_ row: Case) {
        let times = placed(frames(row.times), length: row.length, lasting: row.lasting, readsAhead: row.readsAhead, from: row.begin)
        #expect(times.elementsEqual(row.expected) { abs($0 - $1) < 1e-3 }, "\(times)")
    }

    @Test func `a recorded screen may stand still between many frames`() {
        let burst = (0..<300).map { Double($0) / 60 }, all = burst + burst.map { $0 + 35 }
        #expect(placed(frames(all), length: 60, lasting: 0) == placed(frames(all), length: 60, lasting: 0, readsAhead: false))
        #expect(placed(frames(all), length: 60, lasting: 0).last == Double(Int64((35 + 299.0 / 60) * 1e6)) / 1e6)
    }

    @Test func `frames and sound that jump together stay together, and subtitles with them`() {
        let rows: [Row] = [(0, 0), (1, 0.01), (2, 0.02), (0, 3600.04), (1, 3600.05), (2, 3600.06), (0, 3600.08), (1, 3600.09)]
        let times = placed(rows, length: nil, readsAhead: false), expected = [0, 0.01, 0.02, 0.04, 0.05, 0.06, 0.08, 0.09]
        #expect(times.elementsEqual(expected) { abs($0 - $1) < 1e-3 }, "\(times)")
    }

    @Test func `where another track has gone, a long pause is believed`() {
        var rows: [Row] = [(0, 0), (1, 0)]
        for number in 1...20 { rows.append((1, Double(number) * 9)) }
        rows.append((0, 180))
        #expect(placed(rows, length: nil, lasting: 9, readsAhead: false).last == 180)
    }

    @Test func `subtitles may be hours apart`() {
        #expect(placed([(0, 0), (2, 0), (2, 3600), (0, 0.04), (2, 5400)], length: nil, readsAhead: false) == [0, 0, 3600, 0.04, 5400])
    }

    @Test(
        arguments: [
            (presentation: 3600, following: [0.08, 0.12], isLost: true), (-3600, [0.08, 0.12], true), (5, [0.08, 0.12], false),
            // A long still: the decode times reach it. None is longer than the film.
            (50, [0.08, 0.12, 50], false), (3600, [0.08, 0.12, 3600], true),
            // The last frame, after a pause.
            (50, [], false), (3600, [], true),
            // Decoding gets there and comes back: the whole stretch is damaged.
            (50, [50.04, 50.08, 0.16], true), (50, [50.04, 50.08, 50.12], false),
        ] as [(Double, [Double], Bool)])
    func `a presentation time far from the decode time counts where decoding reaches it`(presentation: Double, following: [Double], isLost: Bool) {
        func stamp(_ order: Double, _ presentation: Double) -> SteadyTimes.Stamp {
            SteadyTimes.Stamp(track: 0, order: Int64(order * 1e6), presentation: Int64(presentation * 1e6), duration: 40_000)
        }
        var times = SteadyTimes(steady: [0], length: 60_000_000)
        _ = times.place(stamp(0, 0.08), following: [])
        let doubtful = stamp(0.04, presentation)
        #expect(times.isDoubtful(doubtful) == (abs(presentation) > 10))
        let placement = times.place(doubtful, following: following.map { stamp($0, $0) }, isAll: true)
        #expect(placement.losesPresentation == isLost && placement.shift == 0)
    }

    @Test func `no sample lasts longer than the film, and none for hours where nobody says how long that is`() {
        let table: [(length: Int64?, duration: Int64, isLost: Bool)] = [
            (60, 50, false), (60, 3600, true), (nil, 600, false), (nil, 7200, true), (200_000, 80_000, false), (200_000, 90_000, true),
        ]
        for (length, duration, isLost) in table {
            var times = SteadyTimes(steady: [0], length: length.map { $0 * 1_000_000 })
            let placement = times.place(SteadyTimes.Stamp(track: 0, order: 0, duration: duration * 1_000_000), following: [])
            #expect(placement.losesDuration == isLost)
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8]) func `any numbers are placed`(_ seed: UInt64) {
        var dice = Dice(seed: seed)
        func number() -> Int64 {
            Bool.random(using: &dice) ? .random(in: .min ... .max, using: &dice) : .random(in: -9_000_000...9_000_000, using: &dice)
        }
        var times = SteadyTimes(steady: [0, 1], length: Bool.random(using: &dice) ? nil : number())
        for _ in 0..<2000 {
            let stamps = (0..<4).map { _ in
                SteadyTimes.Stamp(track: .random(in: 0...2, using: &dice), order: number(), presentation: number(), duration: number())
            }
            if Int.random(in: 0..<50, using: &dice) == 0 { times.begin(at: number()) }
            let placement = times.place(stamps[0], following: stamps[1...], isAll: Bool.random(using: &dice))
            // Nothing is moved out of the numbers that there are.
            #expect(!stamps[0].order.addingReportingOverflow(placement.shift).overflow, "\(stamps) \(placement)")
        }
    }
}
