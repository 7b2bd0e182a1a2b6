extension MediaTime: Comparable, Hashable {
    /// Equal as fractions: 1/2 equals 2/4, rounded or not. Each kind that is no number equals itself.
    public static func == (a: MediaTime, b: MediaTime) -> Bool {
        guard a.kind == .numeric, b.kind == .numeric else { return a.kind == b.kind }
        if a.timescale == b.timescale { return a.value == b.value }
        return Int128(a.value) * Int128(b.timescale) == Int128(b.value) * Int128(a.timescale)
    }

    /// A total order, that of `CMTimeCompare`: negative infinity, numbers, indefinite, positive infinity, invalid. Exact.
    public static func < (a: MediaTime, b: MediaTime) -> Bool {
        guard a.kind == .numeric, b.kind == .numeric else { return a.rank < b.rank }
        if a.timescale == b.timescale { return a.value < b.value }
        return Int128(a.value) * Int128(b.timescale) < Int128(b.value) * Int128(a.timescale)
    }

    /// Hashes the reduced fraction, so that 1/2 and 2/4 hash alike.
    public func hash(into hasher: inout Hasher) {
        guard isNumeric else { return hasher.combine(kind) }
        let divisor = Self.greatestCommonDivisor(UInt128(value.magnitude), UInt128(timescale))
        hasher.combine(Int128(value) / Int128(divisor))
        hasher.combine(Int128(timescale) / Int128(divisor))
    }

    private var rank: Int {
        switch kind {
        case .negativeInfinity: 0
        case .numeric: 1
        case .indefinite: 2
        case .positiveInfinity: 3
        case .invalid: 4
        }
    }
}

extension MediaTime: CustomStringConvertible {
    /// Hours, minutes, seconds and milliseconds (nearest): `00:01:02.345`, `-00:00:00.040`; or the kind, when it is no number.
    public var description: String {
        switch kind {
        case .invalid: return "invalid"
        case .indefinite: return "indefinite"
        case .positiveInfinity: return "+infinity"
        case .negativeInfinity: return "-infinity"
        case .numeric: break
        }
        let (milliseconds, _) = Self.divide(Int128(value) * 1000, by: Int128(timescale), .halfAwayFromZero, finer: false)
        let total = milliseconds.magnitude
        func padded(_ number: UInt128, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return (milliseconds < 0 ? "-" : "") + padded(total / 3_600_000, 2) + ":" + padded(total / 60_000 % 60, 2) + ":"
            + padded(total / 1000 % 60, 2) + "." + padded(total % 1000, 3)
    }
}
