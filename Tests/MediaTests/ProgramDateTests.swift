import Glibc
import Media
import Testing

/// Dates as senders write them, and which time of a film is which date.
@Suite struct ProgramDateTests {
    private static let second: Int64 = 1_000_000_000

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:01.5Z", 1_500_000_000), ("1969-12-31T23:59:59.999999999Z", -1),
            ("2026-11-27T20:15:00.250Z", 1_795_810_500_250_000_000), ("2026-11-27T21:15:00.250+01:00", 1_795_810_500_250_000_000),
            ("2026-11-27T21:15:00.250+0100", 1_795_810_500_250_000_000), ("2026-11-27T15:15:00,25-05", 1_795_810_500_250_000_000),
            ("2026-11-27t20:15:00.25000000099", 1_795_810_500_250_000_000), ("2024-02-29 12:00:00z", 1_709_208_000_000_000_000),
            ("2000-02-29T00:00:00Z", 951_782_400_000_000_000), ("1900-03-01T00:00:00Z", -2_203_891_200_000_000_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000_000_000),
        ] as [(String, Int64)])
    func `dates of ISO 8601 are read`(_ text: String, _ nanoseconds: Int64) {
        #expect(ProgramDate(iso8601: text)?.nanosecondsSince1970 == nanoseconds)
    }

    @Test(arguments: [
        "", "2026-11-27", "2026-11-27T20:15", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2025-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "2026-11-31T00:00:00Z", "2026-11-27T24:00:00Z", "2026-11-27T20:60:00Z", "2026-11-27T20:15:61Z", "2026-11-27T20:15:00.Z",
        "2026-11-27T20:15:00+24:00", "2026-11-27T20:15:00+01:60", "2026-11-27T20:15:00+1", "2026-11-27T20:15:00ZZ", "2026-11-27T20:15:00Z ",
        "+026-11-27T20:15:00Z", "1699-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "٢٠٢٦-11-27T20:15:00Z", "20261127T201500Z",
    ])
    func `anything else is none`(_ text: String) { #expect(ProgramDate(iso8601: text) == nil) }

    @Test func `each day is written as the system's calendar has it, and read again`() throws {
        // Every 17 days and some, 1701 to 2249.
        for seconds in stride(from: Int64(-8_486_000_000), to: 8_800_000_000, by: 1_500_017) {
            let date = ProgramDate(nanosecondsSince1970: seconds * Self.second + 123_456_789), text = date.description
            var time = time_t(seconds), parts = unsafe tm()
            try #require(unsafe gmtime_r(&time, &parts) != nil)
            let day = unsafe (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
            let written = text.prefix(10).split(separator: "-").compactMap { Int($0) }
            #expect(written == [day.0, day.1, day.2], "\(text)")
            #expect(ProgramDate(iso8601: text)?.nanosecondsSince1970 == seconds * Self.second + 123_000_000, "\(text)")
        }
        #expect(ProgramDate(nanosecondsSince1970: -1).description == "1969-12-31T23:59:59.999Z")
        #expect(ProgramDate(nanosecondsSince1970: .min).description.hasPrefix("1677-09-21"))
    }

    @Test func `this machine's clock counts as time does`() {
        let system = Glibc.time(nil), seconds = Double(ProgramDate.now().nanosecondsSince1970) / 1e9
        #expect(abs(seconds - Double(system)) < 60)
    }

    // MARK: The line

    private static func time(_ seconds: Double) -> MediaTime { MediaTime(seconds: seconds) }
    private static func date(_ seconds: Double) -> ProgramDate { ProgramDate(nanosecondsSince1970: Int64(seconds * 1e9)) }

    /// Ten seconds from 1000 on, then, after an hour's pause, more from 5000 on.
    private static let interrupted: ProgramDateLine = {
        var line = ProgramDateLine()
        line.note(date(1000), at: time(2))
        line.note(date(5000), at: time(12))
        return line
    }()

    @Test(arguments: [(2, 1000), (0, 998), (5.5, 1003.5), (11.75, 1009.75), (12, 5000), (20, 5008)] as [(Double, Double)])
    func `a time has the date that follows from the place before it`(_ time: Double, _ date: Double) {
        #expect(Self.interrupted.date(at: Self.time(time)) == Self.date(date))
    }

    @Test(arguments: [(1000, 2), (999, 1), (1003.5, 5.5), (1010, 12), (3000, 12), (5000, 12), (5008, 20)] as [(Double, Double)])
    func `a date has its time, or that of what comes next`(_ date: Double, _ time: Double) {
        #expect(Self.interrupted.time(of: Self.date(date)) == Self.time(time))
    }

    @Test func `nothing is known of an empty line, nor of times that are none`() {
        var line = ProgramDateLine()
        line.note(Self.date(1), at: .indefinite)
        #expect(line.isEmpty && line.date(at: .zero) == nil && line.time(of: Self.date(0)) == nil)
        #expect(Self.interrupted.date(at: .positiveInfinity) == nil)
    }

    @Test func `what was to be expected says nothing new, and what a later report says counts from there`() {
        var line = ProgramDateLine()
        line.note(Self.date(100), at: .zero)
        let first = line
        for second in 1..<100 { line.note(Self.date(100 + Double(second) + (second % 2 == 0 ? 0.004 : -0.004)), at: Self.time(Double(second))) }
        #expect(line == first)
        line.note(Self.date(300), at: Self.time(50))
        #expect(line.date(at: Self.time(50)) == Self.date(300))
    }

    @Test func `places come in any order, and of very many the oldest are forgotten`() {
        var line = ProgramDateLine()
        line.note(Self.date(50), at: Self.time(5))
        line.note(Self.date(10), at: Self.time(1))
        #expect(line.date(at: Self.time(2)) == Self.date(11) && line.date(at: Self.time(6)) == Self.date(51))
        for number in 0..<5000 { line.note(Self.date(Double(number) * 10), at: Self.time(100 + Double(number))) }
        #expect(line.date(at: Self.time(5099)) == Self.date(49_990))
        // As if the first one that is left had been so before.
        #expect(line.date(at: Self.time(1)) == Self.date(904 * 10 - 1003))
    }
}
