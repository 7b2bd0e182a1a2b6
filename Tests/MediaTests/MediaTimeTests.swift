import TestSupport
import Testing

@testable import Media

/// A reference that cannot overflow on what these tests feed it: a fraction of 128-bit numbers, compared by whole part and rest.
private struct Rational: Equatable {
    var n: Int128, d: Int128
    init(_ n: Int128, _ d: Int128) {
        var (a, b) = (n.magnitude, d.magnitude)
        while b != 0 { (a, b) = (b, a % b) }
        let divisor = Int128(max(a, 1))
        (self.n, self.d) = (n / divisor, d / divisor)
    }
    init(_ time: MediaTime) { self.init(Int128(time.value), Int128(time.timescale)) }
    static func + (a: Rational, b: Rational) -> Rational { Rational(a.n * b.d + b.n * a.d, a.d * b.d) }
    var floor: Int128 { n / d - (n % d < 0 ? 1 : 0) }
}

private struct Times: Sequence, IteratorProtocol {
    static let scales: [Int32] = [
        1, 2, 3, 24, 25, 30, 1000, 1001, 24000, 30000, 44100, 48000, 90000, 600, 1_000_000, 1_000_000_000, 2_147_483_647, 2_147_483_629,
    ]
    static let values: [Int64] = [0, 1, -1, 2, 1001, -1001, 90000, 1_000_000_007, .max, .min, .max - 1, .min + 1, 1 << 53, (1 << 53) + 1]
    var generator = Dice(seed: 1)
    mutating func next() -> MediaTime? {
        let scale =
            Bool.random(using: &generator) ? Self.scales.randomElement(using: &generator)! : Int32.random(in: 1...Int32.max, using: &generator)
        let value =
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: Self.values.randomElement(using: &generator)!
            case 1: Int64.random(in: -1000...1000, using: &generator)
            case 2: Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &generator)
            default: Int64.random(in: .min ... .max, using: &generator)
            }
        return MediaTime(value: value, timescale: scale)
    }
}

@Suite struct MediaTimeTests {
    private let infinities: [MediaTime] = [.negativeInfinity, .positiveInfinity]

    @Test func `equal fractions are equal and hash alike`() {
        let half = [MediaTime(value: 1, timescale: 2), MediaTime(value: 2, timescale: 4), MediaTime(value: 500, timescale: 1000)]
        for a in half { for b in half { #expect(a == b && a.hashValue == b.hashValue && !(a < b)) } }
        #expect(MediaTime.zero == MediaTime(value: 0, timescale: 90000))
        #expect(Set(half).count == 1)
        // Neighbours that a Double cannot tell apart.
        #expect(MediaTime(value: .max, timescale: 1000) > MediaTime(value: .max - 1, timescale: 1000))
        #expect(MediaTime(value: .max, timescale: 2_147_483_647) > MediaTime(value: .max - 2, timescale: 2_147_483_647))
    }

    @Test func `the order is CMTimeCompare's`() {
        let ordered: [MediaTime] = [
            .negativeInfinity, MediaTime(value: .min, timescale: 1), MediaTime(value: -1, timescale: 3), .zero,
            MediaTime(value: 1, timescale: 3), MediaTime(value: .max, timescale: 1), .indefinite, .positiveInfinity, .invalid,
        ]
        for (i, a) in ordered.enumerated() {
            for (j, b) in ordered.enumerated() { #expect((a < b) == (i < j) && (a == b) == (i == j), "\(a) \(b)") }
        }
    }

    @Test func `comparison and addition agree with exact rationals`() {
        var times = Times(), inexact = 0
        for _ in 0..<20_000 {
            let a = times.next()!, b = times.next()!
            let (x, y) = (Rational(a), Rational(b))
            #expect((a < b) == (x.n * y.d < y.n * x.d))
            #expect((a == b) == (x == y))
            let sum = a + b, exact = x + y
            if sum.isNumeric {
                if sum.hasBeenRounded {
                    inexact += 1
                    #expect(sum.timescale == 1_000_000_000)
                    // Nearest nanosecond: value - 1/2 <= exact * 1e9 <= value + 1/2, by whole seconds to stay in range.
                    let whole = exact.floor, rest = Rational(exact.n - whole * exact.d, exact.d)
                    let distance = (Int128(sum.value) - whole * 1_000_000_000) * rest.d - rest.n * 1_000_000_000
                    #expect(distance.magnitude * 2 <= rest.d.magnitude, "\(a.value)/\(a.timescale) + \(b.value)/\(b.timescale)")
                } else {
                    #expect(Rational(sum) == exact)
                }
                // Int64.min has no negative of its own timescale.
                let difference = -a - b
                #expect(a - (-b) == sum && -difference == sum || [a, b, sum, difference].contains { $0.value == .min })
            } else {
                #expect(sum.kind == (exact.n > 0 ? .positiveInfinity : .negativeInfinity))
                #expect(exact.floor.magnitude >= 9_223_372_035)
            }
        }
        #expect(inexact > 0)
    }

    @Test func `sums keep the timescale that both can be told in`() {
        let sum = MediaTime(value: 1, timescale: 24000) + MediaTime(value: 1, timescale: 48000)
        #expect(sum.value == 3 && sum.timescale == 48000)
        let film = (1...240).reduce(MediaTime.zero) { time, _ in time + MediaTime(value: 1001, timescale: 24000) }
        #expect(film.value == 240 * 1001 && film.timescale == 24000 && !film.hasBeenRounded)
    }

    @Test func `overflow is an infinity of its sign`() {
        let most = MediaTime(value: .max, timescale: 1), least = MediaTime(value: .min, timescale: 1)
        #expect(most + most == .positiveInfinity && least + least == .negativeInfinity)
        #expect(least - most == .negativeInfinity && -least == .positiveInfinity)
        #expect(most.multiplied(by: 2) == .positiveInfinity && most.multiplied(by: -2) == .negativeInfinity)
        #expect(most.multiplied(by: 1e10) == .positiveInfinity && most.multiplied(by: 3, over: 2) == .positiveInfinity)
        #expect(most.converted(to: 2) == .positiveInfinity && least.converted(to: 2) == .negativeInfinity)
        #expect(most.nanoseconds() == nil)
        // In halves the sum is 2^63, one too many; in whole seconds it fits.
        #expect(MediaTime(value: .max, timescale: 2) + MediaTime(value: 1, timescale: 2) == MediaTime(value: 1 << 62, timescale: 1))
    }

    @Test func `times that are no numbers add as CMTimeAdd has it`() {
        let one = MediaTime(value: 1, timescale: 1)
        #expect(one + .invalid == .invalid && .positiveInfinity + .invalid == .invalid)
        #expect(one + .positiveInfinity == .positiveInfinity && one - .positiveInfinity == .negativeInfinity)
        #expect(MediaTime.positiveInfinity - .positiveInfinity == .invalid)
        #expect(one + .indefinite == .indefinite && .positiveInfinity + .indefinite == .positiveInfinity)
        #expect(MediaTime.positiveInfinity.multiplied(by: -3) == .negativeInfinity)
        #expect(MediaTime.positiveInfinity.multiplied(by: 0) == .invalid && MediaTime.indefinite.multiplied(by: 2) == .indefinite)
        #expect(MediaTime.negativeInfinity.multiplied(by: -0.5) == .positiveInfinity && one.multiplied(by: .nan) == .invalid)
        #expect(one.multiplied(by: 1, over: 0) == .invalid && one.converted(to: 0) == .invalid)
        #expect(MediaTime(value: 1, timescale: 0) == .invalid)
    }

    @Test(
        arguments: [
            (.halfAwayFromZero, [2, 3, 3, -2, -3, -3, 0, 0]), (.towardZero, [2, 2, 2, -2, -2, -2, 0, 0]),
            (.awayFromZero, [3, 3, 3, -3, -3, -3, 1, -1]), (.towardPositiveInfinity, [3, 3, 3, -2, -2, -2, 1, 0]),
            (.towardNegativeInfinity, [2, 2, 2, -3, -3, -3, 0, -1]), (.quickTime, [2, 2, 2, -2, -2, -2, 0, -1]),
        ] as [(MediaTime.Rounding, [Int64])])
    func `conversion rounds as told`(rounding: MediaTime.Rounding, expected: [Int64]) {
        for (milliseconds, seconds) in zip([2400, 2500, 2600, -2400, -2500, -2600, 400, -400] as [Int64], expected) {
            let time = MediaTime(value: milliseconds, timescale: 1000).converted(to: 1, rounding: rounding)
            #expect(time.value == seconds && time.hasBeenRounded, "\(milliseconds) ms")
        }
        let exact = MediaTime(value: 2000, timescale: 1000).converted(to: 1, rounding: rounding)
        #expect(exact.value == 2 && !exact.hasBeenRounded)
    }

    @Test func `QuickTime's way rounds away from zero into a finer timescale`() {
        #expect(MediaTime(value: 1, timescale: 3).converted(to: 10, rounding: .quickTime).value == 4)
        #expect(MediaTime(value: -1, timescale: 3).converted(to: 10, rounding: .quickTime).value == -4)
        #expect(MediaTime(value: 9, timescale: 10).converted(to: 3, rounding: .quickTime).value == 2)
    }

    @Test func `every rounding is a neighbour of the exact value on the right side`() {
        var times = Times()
        for _ in 0..<5_000 {
            let time = times.next()!, scale = times.next()!.timescale
            let wide = Int128(time.value) * Int128(scale), d = Int128(time.timescale)
            for rounding in MediaTime.Rounding.allCases {
                let result = time.converted(to: scale, rounding: rounding)
                guard result.isNumeric else {
                    #expect((wide / d).magnitude >= UInt128(Int64.max))
                    continue
                }
                let error = Int128(result.value) * d - wide
                #expect(error.magnitude < d.magnitude || scale == time.timescale)
                #expect((error != 0) == result.hasBeenRounded)
                switch rounding {
                case .halfAwayFromZero: #expect(error.magnitude * 2 <= d.magnitude)
                case .towardPositiveInfinity: #expect(error >= 0)
                case .towardNegativeInfinity: #expect(error <= 0)
                case .towardZero: #expect(wide >= 0 ? error <= 0 : error >= 0)
                case .awayFromZero: #expect(wide >= 0 ? error >= 0 : error <= 0)
                case .quickTime: break
                }
            }
        }
    }

    @Test func `products`() {
        let frame = MediaTime(value: 1001, timescale: 24000)
        #expect(frame.multiplied(by: 24000) == MediaTime(value: 1001, timescale: 1))
        #expect(frame.multiplied(by: 3, over: 2) == MediaTime(value: 3003, timescale: 48000))
        #expect(frame.multiplied(by: Ratio(24000, 1001)) == MediaTime(value: 1, timescale: 1))
        #expect(frame.multiplied(by: 1, over: -1) == -frame)
        #expect(MediaTime(value: 10, timescale: 1).multiplied(by: 0.5).timescale == 1)
        #expect(MediaTime(value: 1, timescale: 1).multiplied(by: 0.5) == MediaTime(value: 1, timescale: 2))
        #expect(MediaTime(value: 7, timescale: 1).multiplied(by: 0.1) == MediaTime(value: 7, timescale: 10))
        #expect(MediaTime(value: .max, timescale: 1000).multiplied(by: 1.0) == MediaTime(value: .max, timescale: 1000))
        #expect(MediaTime(value: 5, timescale: 1).multiplied(by: 1e-300) == .zero)
        #expect(MediaTime(value: 5, timescale: 1).multiplied(by: .leastNonzeroMagnitude) == .zero)
        var generator = Dice(seed: 1)
        for _ in 0..<2_000 {
            let value = Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &generator)
            let factor = Double.random(in: -4...4, using: &generator)
            let product = MediaTime(value: value, timescale: 90000).multiplied(by: factor)
            #expect((product.seconds - Double(value) / 90000 * factor).magnitude <= 1e-8 + (Double(value) / 90000).magnitude * 1e-15)
        }
    }

    @Test(
        arguments: [
            (62_345, 1000, "00:01:02.345"), (0, 1, "00:00:00.000"), (-40, 1000, "-00:00:00.040"), (3600 * 100 + 61, 1, "100:01:01.000"),
            (1001, 24000, "00:00:00.042"), (59_999_600, 1_000_000, "00:01:00.000"), (-1, 1_000_000, "00:00:00.000"),
        ] as [(Int64, Int32, String)])
    func `printing`(value: Int64, timescale: Int32, text: String) {
        #expect(MediaTime(value: value, timescale: timescale).description == text)
    }

    @Test func `seconds in and out`() {
        #expect(MediaTime(seconds: 1.5).seconds == 1.5 && MediaTime(seconds: 0.1, timescale: 10) == MediaTime(value: 1, timescale: 10))
        #expect(MediaTime(seconds: .infinity) == .positiveInfinity && MediaTime(seconds: -1e300) == .negativeInfinity)
        #expect(MediaTime(seconds: .nan) == .invalid && MediaTime.indefinite.seconds.isNaN)
        #expect(MediaTime(HostSpan.milliseconds(-3)) == MediaTime(value: -3, timescale: 1000))
        #expect(MediaTime(value: 1, timescale: 3).nanoseconds() == 333_333_333)
        #expect(MediaTime(value: 1, timescale: 3).nanoseconds(rounding: .awayFromZero) == 333_333_334)
    }
}

@Suite struct MediaTimeRangeTests {
    private func s(_ n: Int64) -> MediaTime { MediaTime(value: n, timescale: 1) }
    private func range(_ a: Int64, _ b: Int64) -> MediaTimeRange { MediaTimeRange(start: s(a), end: s(b)) }

    @Test func `a range holds its start but not its end`() {
        let range = MediaTimeRange(start: s(1), duration: s(2))
        #expect(range.contains(s(1)) && range.contains(MediaTime(value: 5, timescale: 2)) && !range.contains(s(3)) && !range.contains(s(0)))
        #expect(range.end == s(3) && range.duration == s(2) && !range.contains(.invalid))
        #expect(range.clamp(s(9)) == s(3) && range.clamp(s(0)) == s(1))
    }

    @Test func `open ends`() {
        let live = MediaTimeRange(start: s(5), duration: .positiveInfinity)
        #expect(live.contains(s(1 << 40)) && !live.contains(s(4)) && live.duration == .positiveInfinity && !live.isEmpty)
        #expect(MediaTimeRange.all.contains(s(-9)) && MediaTimeRange.all.contains(live) && MediaTimeRange.all.duration == .positiveInfinity)
        #expect(live.intersection(range(0, 7)) == range(5, 7))
        #expect(MediaTimeRange(start: .negativeInfinity, duration: .positiveInfinity) == .all)
    }

    @Test func `intersections and unions`() {
        #expect(range(0, 5).intersection(range(3, 9)) == range(3, 5))
        #expect(range(0, 2).intersection(range(3, 9)).isEmpty)
        #expect(range(0, 2).union(range(3, 9)) == range(0, 9))
        #expect(range(0, 2).union(range(7, 7)) == range(0, 2) && range(7, 7).union(range(0, 2)) == range(0, 2))
    }

    @Test func `a range turned round or without known ends is empty`() {
        #expect(range(5, 3).isEmpty && range(5, 3).duration == .zero)
        #expect(MediaTimeRange(start: s(1), duration: s(-4)).isEmpty)
        let unknown = MediaTimeRange(start: .zero, duration: .indefinite)
        #expect(!unknown.isValid && unknown.isEmpty && !unknown.contains(s(0)))
        #expect(MediaTimeRange(start: .zero, duration: .invalid).isEmpty)
    }
}
