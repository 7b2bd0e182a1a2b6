import Media
import Testing

@Suite struct ClockTextTests {
    @Test(
        arguments: [
            ("0", 0), ("90", 90_000_000_000), ("90.5", 90_500_000_000), ("1:30", 90_000_000_000), ("00:01:30.250", 90_250_000_000),
            ("100:00:00", 360_000_000_000_000), ("0.000000001", 1), ("-5", -5_000_000_000), ("90:00", 5_400_000_000_000),
            ("0.034333333333333334", 34_333_333),
            ("1.00000000099", 1_000_000_000),
        ] as [(String, Int64)])
    func `times are read as people type them`(_ text: String, _ nanoseconds: Int64) {
        #expect(MediaTime(clockText: text) == MediaTime(nanoseconds: nanoseconds))
    }

    @Test(arguments: [
        "", "-", ":", "1:", ":30", "1:60", "1:2:3:4", "1.", ".5", "1.2.3", "+1", "1e3", "0x10", "1:-2", "1.00000000x1", "9999999999", "nan", " 1",
        "١",
    ])
    func `anything else is refused`(_ text: String) {
        #expect(MediaTime(clockText: text) == nil)
    }
}
