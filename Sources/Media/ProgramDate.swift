internal import Glibc

/// A moment of civil time: when a frame of a live film or of a recording of one was made, as its sender says.
///
/// Senders say it by `EXT-X-PROGRAM-DATE-TIME` (RFC 8216, 4.3.2.6), by RTCP sender reports (RFC 3550, 6.4.1), and by the times of DASH manifests that
/// grow. The counterpart of the dates of `AVPlayerItem`.
///
/// Thread-safety: a value.
public struct ProgramDate: Sendable, Hashable, Comparable {
    /// Nanoseconds since 1970-01-01 00:00 UTC, without leap seconds, as CLOCK_REALTIME counts them.
    public var nanosecondsSince1970: Int64

    /// Creates a date from CLOCK_REALTIME's count.
    public init(nanosecondsSince1970: Int64) { self.nanosecondsSince1970 = nanosecondsSince1970 }

    /// The time of this machine's clock (CLOCK_REALTIME).
    public static func now() -> ProgramDate { ProgramDate(nanosecondsSince1970: systemTime(CLOCK_REALTIME).nanoseconds) }

    /// Whether `a` comes before `b`.
    public static func < (a: ProgramDate, b: ProgramDate) -> Bool { a.nanosecondsSince1970 < b.nanosecondsSince1970 }

    /// The date so much later, or earlier; the date itself where `span` is not numeric. It wraps around beyond 292 years, without a check.
    public static func + (date: ProgramDate, span: MediaTime) -> ProgramDate {
        ProgramDate(nanosecondsSince1970: date.nanosecondsSince1970 &+ (span.nanoseconds() ?? 0))
    }

    /// How much later `a` is than `b`. It wraps around beyond 292 years, without a check.
    public static func - (a: ProgramDate, b: ProgramDate) -> MediaTime {
        MediaTime(nanoseconds: a.nanosecondsSince1970 &- b.nanosecondsSince1970)
    }
}

// MARK: Text

extension ProgramDate: CustomStringConvertible {
    private static let second: Int64 = 1_000_000_000, day: Int64 = 86_400

    /// Reads a date and a time of ISO 8601 as HLS, DASH and RFC 3339 write it: `2026-11-27T20:15:00.250Z`, or with an offset in place of the `Z`
    /// (`+01:00`, `+0100`, `+01`). Without either it is UTC. Of the decimals nine count. nil for anything else, and for years before 1700 and after
    /// 2250.
    public init?(iso8601 text: some StringProtocol) {
        var rest = Array(text.utf8)[...]
        func digits(_ count: Int) -> Int64? {
            guard rest.count >= count, rest.prefix(count).allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        func take(_ characters: String) -> UInt8? { rest.first.flatMap { characters.utf8.contains($0) ? rest.removeFirst() : nil } }
        guard let year = digits(4), take("-") != nil, let month = digits(2), take("-") != nil, let day = digits(2), take("Tt ") != nil,
            let hour = digits(2), take(":") != nil, let minute = digits(2), take(":") != nil, let second = digits(2)
        else { return nil }
        var fraction: Int64 = 0
        if take(".,") != nil {
            let decimals = rest.prefix { (0x30...0x39).contains($0) }
            guard !decimals.isEmpty else { return nil }
            rest = rest.dropFirst(decimals.count)
            fraction = (0..<9).reduce(0) { $0 * 10 + ($1 < decimals.count ? Int64(decimals[decimals.startIndex + $1] - 0x30) : 0) }
        }
        var offset: Int64 = 0
        if let sign = take("+-") {
            guard let hours = digits(2), hours < 24 else { return nil }
            var minutes: Int64 = 0
            if take(":") != nil || !rest.isEmpty {
                guard let number = digits(2), number < 60 else { return nil }
                minutes = number
            }
            offset = (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
        } else {
            _ = take("Zz")
        }
        // A leap second is the one that follows it.
        guard rest.isEmpty, (1700...2250).contains(year), (1...12).contains(month), (1...Self.days(in: month, year)).contains(day), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        let seconds = Self.days(to: year, month, day) * Self.day + hour * 3600 + minute * 60 + second - offset
        self.init(nanosecondsSince1970: seconds * Self.second + fraction)
    }

    /// In UTC, to the millisecond below: `2026-11-27T20:15:00.250Z`.
    public var description: String {
        let (seconds, rest) = Self.divide(nanosecondsSince1970, Self.second), (days, time) = Self.divide(seconds, Self.day)
        let (year, month, day) = Self.date(days)
        func text(_ number: Int64, _ count: Int) -> String { String(repeating: "0", count: max(count - String(number).count, 0)) + String(number) }
        let clock = "\(text(time / 3600, 2)):\(text(time / 60 % 60, 2)):\(text(time % 60, 2)).\(text(rest / 1_000_000, 3))"
        return "\(text(year, 4))-\(text(month, 2))-\(text(day, 2))T\(clock)Z"
    }

    /// The time of day where this machine is, in whole seconds: `21:15:00`.
    package var localClockText: String {
        var seconds = time_t(Self.divide(nanosecondsSince1970, Self.second).quotient), parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return "" }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }

    // MARK: The Gregorian calendar

    /// With a remainder that is not below zero.
    private static func divide(_ number: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func days(in month: Int64, _ year: Int64) -> Int64 {
        month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days from 1970 to a date.
    private static func days(to year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let before = year - 1
        // Of the years from 1 on; 719,162 days come before 1970.
        let years = before * 365 + before / 4 - before / 100 + before / 400 - 719_162
        return years + (1..<month).reduce(0) { $0 + days(in: $1, year) } + day - 1
    }

    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // Near enough that a step or two lead there.
        var year = 1971 + divide(days, 365).quotient
        while self.days(to: year, 1, 1) > days { year -= 1 }
        var month: Int64 = 1
        while month < 12, self.days(to: year, month + 1, 1) <= days { month += 1 }
        return (year, month, days - self.days(to: year, month, 1) + 1)
    }
}
