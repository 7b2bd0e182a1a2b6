import Encoding
import Glibc
import Testing

@Suite struct RateSearchTests {
    /// Encoders whose rate is `scale` times what they are asked for to the power of `slope`.
    @Test(arguments: [
        // As asked for, but too much.
        (1.06, 1.0, 1), (0.86, 1.0, 1),
        // Changes by less than it is asked to, as libvpx with little to encode.
        (1.06, 0.4, 2), (1.2, 0.3, 3), (1.06, 1.6, 2),
    ])
    func `a rate is met in few passes`(scale: Double, slope: Double, passes: Int) {
        var requested = 100_000.0, trials: [RateSearch.Trial] = []
        func made(_ requested: Double) -> Double { 100_000 * scale * pow(requested / 100_000, slope) }
        for _ in 0..<passes {
            trials.append(RateSearch.Trial(requested: requested, made: made(requested)))
            requested = RateSearch.next(trials, wanted: 100_000)
        }
        let off = abs(made(requested) / 100_000 - 1)
        #expect(off < 0.01, "\(off) after \(passes) corrections")
    }

    @Test func `passes that tell nothing move the rate by no more than a half`() {
        typealias Trial = RateSearch.Trial
        #expect(RateSearch.next([Trial(requested: 100, made: 1000)], wanted: 100) == 50)
        #expect(RateSearch.next([Trial(requested: 100, made: 10)], wanted: 100) == 200)
        // The encoder cannot spend less: asked for less, it made the same.
        #expect(RateSearch.next([Trial(requested: 100, made: 150), Trial(requested: 67, made: 150)], wanted: 100) == 33.5)
        // Asked for less, it made more.
        #expect(RateSearch.next([Trial(requested: 100, made: 110), Trial(requested: 90, made: 111)], wanted: 100) >= 45)
        #expect(RateSearch.next([Trial(requested: 100, made: 110), Trial(requested: 100, made: 110)], wanted: 100) > 90)
    }
}
