extension MediaTime {
    /// What to do when a fraction falls between two units of a timescale: the six methods of `CMTimeRoundingMethod`.
    public enum Rounding: Sendable, Hashable, CaseIterable {
        /// To the nearest unit; a tie goes away from zero.
        case halfAwayFromZero
        /// To the unit nearer to zero.
        case towardZero
        /// To the unit farther from zero.
        case awayFromZero
        /// As QuickTime did: toward zero into a coarser timescale, away from zero into a finer one; a negative time never becomes zero.
        case quickTime
        /// To the later unit.
        case towardPositiveInfinity
        /// To the earlier unit.
        case towardNegativeInfinity
    }

    /// Sum. Exact whenever the sum is a fraction that `MediaTime` can hold; else rounded to nanoseconds (half away from zero),
    /// with `hasBeenRounded` set. Too large for nanoseconds in 64 bits: an infinity of its sign.
    ///
    /// Invalid when an operand is, or for opposite infinities; infinite when one operand is; else indefinite when one operand is.
    public static func + (a: MediaTime, b: MediaTime) -> MediaTime {
        guard a.isNumeric, b.isNumeric else { return special(a, b) }
        let rounded = a.hasBeenRounded || b.hasBeenRounded
        if a.timescale == b.timescale {
            let (sum, overflow) = a.value.addingReportingOverflow(b.value)
            if !overflow { return MediaTime(sum, a.timescale, rounded: rounded) }
        }
        let (x, y) = (Int128(a.timescale), Int128(b.timescale))
        return make(Int128(a.value) * y + Int128(b.value) * x, x * y, common: leastCommon(a.timescale, b.timescale), rounded: rounded)
    }

    /// Difference, by the rules of the sum.
    public static func - (a: MediaTime, b: MediaTime) -> MediaTime {
        guard a.isNumeric, b.isNumeric else { return special(a, -b) }
        let rounded = a.hasBeenRounded || b.hasBeenRounded
        if a.timescale == b.timescale {
            let (difference, overflow) = a.value.subtractingReportingOverflow(b.value)
            if !overflow { return MediaTime(difference, a.timescale, rounded: rounded) }
        }
        let (x, y) = (Int128(a.timescale), Int128(b.timescale))
        return make(Int128(a.value) * y - Int128(b.value) * x, x * y, common: leastCommon(a.timescale, b.timescale), rounded: rounded)
    }

    /// The same distance from zero on the other side. Infinities change sign; invalid and indefinite times stay as they are.
    public static prefix func - (time: MediaTime) -> MediaTime {
        switch time.kind {
        case .positiveInfinity: .negativeInfinity
        case .negativeInfinity: .positiveInfinity
        case .invalid, .indefinite: time
        case .numeric where time.value == .min:
            make(-Int128(time.value), Int128(time.timescale), common: time.timescale, rounded: time.hasBeenRounded)
        case .numeric: MediaTime(-time.value, time.timescale, rounded: time.hasBeenRounded)
        }
    }

    /// Replaces `a` by the sum, by the rules of `+`.
    public static func += (a: inout MediaTime, b: MediaTime) { a = a + b }
    /// Replaces `a` by the difference, by the rules of `-`.
    public static func -= (a: inout MediaTime, b: MediaTime) { a = a - b }

    /// Distance from zero.
    public var magnitude: MediaTime { kind == .negativeInfinity || (isNumeric && value < 0) ? -self : self }

    /// This time `factor` times over; exact, or an infinity when the product is too large. An infinity times zero is invalid.
    public func multiplied(by factor: some BinaryInteger) -> MediaTime {
        guard isNumeric else { return scaledSpecial(sign: Int128(factor.signum())) }
        // A factor beyond 64 bits makes any time but zero too large.
        return Self.make(Int128(value) * Int128(Int64(clamping: factor)), Int128(timescale), common: timescale, rounded: hasBeenRounded)
    }

    /// This time times `numerator / denominator`: exact where the product can be held, else rounded to nanoseconds by `rounding`.
    /// A denominator of 0 gives `.invalid`.
    public func multiplied(by numerator: Int32, over denominator: Int32, rounding: Rounding = .halfAwayFromZero) -> MediaTime {
        guard denominator != 0 else { return .invalid }
        let sign: Int128 = denominator < 0 ? -1 : 1
        guard isNumeric else { return scaledSpecial(sign: Int128(numerator.signum()) * sign) }
        return Self.make(
            Int128(value) * Int128(numerator) * sign, Int128(timescale) * Int128(denominator) * sign, common: timescale,
            rounded: hasBeenRounded, rounding: rounding)
    }

    /// This time times a fraction such as a frame duration.
    public func multiplied(by ratio: Ratio, rounding: Rounding = .halfAwayFromZero) -> MediaTime {
        multiplied(by: ratio.numerator, over: ratio.denominator, rounding: rounding)
    }

    /// This time times a floating-point number such as a playback rate. In this time's timescale where that is exact, else in
    /// nanoseconds, off by at most one and a half units; NaN gives `.invalid`, too large a product an infinity.
    public func multiplied(by factor: Double) -> MediaTime {
        guard !factor.isNaN else { return .invalid }
        guard isNumeric else { return scaledSpecial(sign: factor > 0 ? 1 : factor < 0 ? -1 : 0) }
        if factor.isInfinite { return value == 0 ? .invalid : (value > 0) == (factor > 0) ? .positiveInfinity : .negativeInfinity }
        if value == 0 || factor == 0 { return MediaTime(0, timescale, rounded: hasBeenRounded) }
        let direct = Self.product(value, factor)
        if direct.exact, let value = direct.value { return MediaTime(value, timescale, rounded: hasBeenRounded) }
        let fine = converted(to: Self.nanosecondScale)
        let rounded = fine.isNumeric ? Self.product(fine.value, factor).value : direct.value
        guard let rounded else { return (value > 0) == (factor > 0) ? .positiveInfinity : .negativeInfinity }
        return MediaTime(rounded, fine.isNumeric ? Self.nanosecondScale : timescale, rounded: true)
    }

    /// The same time in units of `1 / timescale` seconds, rounded by `rounding` where it falls between two units; an infinity
    /// when the value does not fit in 64 bits. Times that are no numbers stay what they are.
    public func converted(to timescale: Int32, rounding: Rounding = .halfAwayFromZero) -> MediaTime {
        guard isNumeric, timescale != self.timescale else { return self }
        guard timescale > 0 else { return .invalid }
        let finer = timescale > self.timescale
        let (quotient, exact) = Self.divide(Int128(value) * Int128(timescale), by: Int128(self.timescale), rounding, finer: finer)
        guard let value = Int64(exactly: quotient) else { return quotient > 0 ? .positiveInfinity : .negativeInfinity }
        return MediaTime(value, timescale, rounded: hasBeenRounded || !exact)
    }

    /// Whole nanoseconds; nil when this is no number or more than 64 bits hold (292 years).
    public func nanoseconds(rounding: Rounding = .halfAwayFromZero) -> Int64? {
        let time = converted(to: Self.nanosecondScale, rounding: rounding)
        return time.isNumeric ? time.value : nil
    }

    /// A span of host time as media time.
    public init(_ span: HostSpan) { self.init(nanoseconds: span.nanoseconds) }

    static let nanosecondScale: Int32 = 1_000_000_000
}

// MARK: - Exact fractions

extension MediaTime {
    /// `numerator / denominator` (above 0): in units of `common` when that is exact, else as the reduced fraction, else in rounded nanoseconds.
    private static func make(
        _ numerator: Int128, _ denominator: Int128, common: Int32?, rounded: Bool, rounding: Rounding = .halfAwayFromZero
    ) -> MediaTime {
        if let common, let value = exactValue(numerator, denominator, common) { return MediaTime(value, common, rounded: rounded) }
        let divisor = greatestCommonDivisor(numerator.magnitude, denominator.magnitude)
        let (n, d) = (numerator / Int128(divisor), denominator / Int128(divisor))
        if let value = Int64(exactly: n), let scale = Int32(exactly: d) { return MediaTime(value, scale, rounded: rounded) }
        // n has at most 96 bits and d at most 62: whole seconds first, so that the nanoseconds of the rest fit.
        let whole = n / d
        guard whole.magnitude <= 9_300_000_000 else { return n > 0 ? .positiveInfinity : .negativeInfinity }
        let (fraction, exact) = divide((n - whole * d) * Int128(nanosecondScale), by: d, rounding, finer: false)
        guard let value = Int64(exactly: whole * Int128(nanosecondScale) + fraction) else {
            return n > 0 ? .positiveInfinity : .negativeInfinity
        }
        return MediaTime(value, nanosecondScale, rounded: rounded || !exact)
    }

    private static func exactValue(_ numerator: Int128, _ denominator: Int128, _ scale: Int32) -> Int64? {
        let (scaled, overflow) = numerator.multipliedReportingOverflow(by: Int128(scale))
        guard !overflow, scaled % denominator == 0 else { return nil }
        return Int64(exactly: scaled / denominator)
    }

    /// Quotient by a positive divisor, and whether it is exact.
    static func divide(_ n: Int128, by d: Int128, _ rounding: Rounding, finer: Bool) -> (Int128, exact: Bool) {
        let (quotient, remainder) = n.quotientAndRemainder(dividingBy: d)
        guard remainder != 0 else { return (quotient, true) }
        let away = quotient + remainder.signum()
        let result: Int128 =
            switch rounding {
            case .towardZero: quotient
            case .awayFromZero: away
            case .halfAwayFromZero: remainder.magnitude * 2 >= d.magnitude ? away : quotient
            case .towardPositiveInfinity: remainder > 0 ? away : quotient
            case .towardNegativeInfinity: remainder < 0 ? away : quotient
            case .quickTime: finer || (quotient == 0 && n < 0) ? away : quotient
            }
        return (result, false)
    }

    /// `value * factor` to the nearest whole number; nil beyond 64 bits. Both are finite and not zero.
    private static func product(_ value: Int64, _ factor: Double) -> (value: Int64?, exact: Bool) {
        // factor = mantissa * 2^exponent with a mantissa of 53 bits, so mantissa * value has at most 117.
        let mantissa = Int128((factor.significand * 0x1p52).rounded()) * (factor < 0 ? -1 : 1)
        let exponent = Int(factor.exponent) - 52
        let wide = mantissa * Int128(value)
        if exponent >= 0 {
            guard exponent < 64 else { return (nil, false) }
            let (shifted, overflow) = wide.multipliedReportingOverflow(by: Int128(1) << exponent)
            guard !overflow, let result = Int64(exactly: shifted) else { return (nil, false) }
            return (result, true)
        }
        guard exponent > -126 else { return (0, false) }
        let (quotient, exact) = divide(wide, by: Int128(1) << -exponent, .halfAwayFromZero, finer: false)
        return (Int64(exactly: quotient), exact)
    }

    private static func leastCommon(_ a: Int32, _ b: Int32) -> Int32? {
        Int32(exactly: Int64(a) / Int64(greatestCommonDivisor(UInt128(a), UInt128(b))) * Int64(b))
    }

    package static func greatestCommonDivisor(_ a: UInt128, _ b: UInt128) -> UInt128 {
        var (a, b) = (a, b)
        while b != 0 {
            // Most operands fit in a word, where division is one instruction.
            if let x = UInt64(exactly: a), let y = UInt64(exactly: b) { return UInt128(greatestCommonDivisor(x, y)) }
            (a, b) = (b, a % b)
        }
        return max(a, 1)
    }

    private static func greatestCommonDivisor(_ a: UInt64, _ b: UInt64) -> UInt64 {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }

    /// Sum of two times of which at least one is no number.
    private static func special(_ a: MediaTime, _ b: MediaTime) -> MediaTime {
        if a.kind == .invalid || b.kind == .invalid { return .invalid }
        if a.isInfinite, b.isInfinite { return a.kind == b.kind ? a : .invalid }
        if a.isInfinite { return a }
        return b.isInfinite ? b : .indefinite
    }

    private var isInfinite: Bool { kind == .positiveInfinity || kind == .negativeInfinity }

    /// A time that is no number, multiplied by something of the given sign.
    private func scaledSpecial(sign: Int128) -> MediaTime {
        guard isInfinite else { return self }
        return sign == 0 ? .invalid : sign > 0 ? self : -self
    }
}
