extension MediaTime {
    /// A time as people type it: seconds (`90`, `90.5`), minutes and seconds (`1:30`), or hours, minutes and seconds (`00:01:30.250`), with
    /// decimals, of which nine count. A leading minus is understood. nil for anything else.
    public init?(clockText text: some StringProtocol) {
        let isNegative = text.hasPrefix("-")
        let parts = (isNegative ? text.dropFirst() : text[...]).split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let last = parts.last else { return nil }
        let decimals = last.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        var seconds: Int64 = 0
        for (index, part) in (parts.dropLast() + [decimals[0][...]]).enumerated() {
            guard (1...9).contains(part.utf8.count), let number = Self.digits(part), index == 0 || number < 60 else { return nil }
            seconds = seconds * 60 + number
        }
        var fraction: Int64 = 0
        if decimals.count == 2 {
            // Scripts print numbers with more digits.
            guard (1...40).contains(decimals[1].utf8.count), decimals[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Self.digits(decimals[1].prefix(9))
            else { return nil }
            fraction = (min(decimals[1].utf8.count, 9)..<9).reduce(number) { value, _ in value * 10 }
        }
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow, nanoseconds <= .max - fraction else { return nil }
        self.init(nanoseconds: isNegative ? -(nanoseconds + fraction) : nanoseconds + fraction)
    }

    /// A number of ASCII digits only; `Int64.init` would take a sign.
    private static func digits(_ text: some StringProtocol) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }

    /// A position as a viewer reads it, in whole seconds: `7:05`, `1:02:03`. Zero for what is negative or not numeric.
    package var clockText: String { Self.clockText(seconds: Int(max(nanoseconds() ?? 0, 0) / 1_000_000_000)) }

    /// The same of a number of seconds, which must not be negative.
    package static func clockText(seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = seconds / 60 % 60
        return seconds < 3600 ? "\(minutes):\(two(seconds % 60))" : "\(seconds / 3600):\(two(minutes)):\(two(seconds % 60))"
    }
}
