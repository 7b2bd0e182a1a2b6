/// A point or span of media time, kept as an exact fraction: a film at 24000/1001 frames a second has frame
/// times that no binary floating-point number holds.
///
/// `value / timescale` seconds. Besides numbers there are four other values, as in Core Media's `CMTime`: *invalid*
/// (unknown), *indefinite* (impossible to know, such as the length of a live stream) and the two
/// infinities (open ends of ranges, and the result of arithmetic that overflowed).
///
/// Thread-safety: a value.
public struct MediaTime: Sendable {
    /// What a time is besides its fraction.
    public enum Kind: UInt8, Sendable { case invalid, numeric, indefinite, positiveInfinity, negativeInfinity }

    /// Numerator; meaningful when `isNumeric`.
    public let value: Int64
    /// Units in a second, above zero when `isNumeric`.
    public let timescale: Int32
    /// Whether this is a number or one of the four other values.
    public let kind: Kind
    /// True when a conversion or an operation could not be exact. It is inherited by results.
    public let hasBeenRounded: Bool

    @usableFromInline
    init(_ value: Int64, _ timescale: Int32, kind: Kind = .numeric, rounded: Bool = false) {
        self.value = value
        self.timescale = timescale
        self.kind = kind
        self.hasBeenRounded = rounded
    }

    /// `value / timescale` seconds. A timescale below 1 gives `.invalid`.
    public init(value: Int64, timescale: Int32) {
        self = timescale > 0 ? MediaTime(value, timescale) : .invalid
    }

    /// A number that another process has calculated, rounded or not.
    package init(value: Int64, timescale: Int32, hasBeenRounded: Bool) {
        self = timescale > 0 ? MediaTime(value, timescale, rounded: hasBeenRounded) : .invalid
    }

    /// The fraction of `timescale` nearest to `seconds` (ties away from zero); infinities for infinite or
    /// unrepresentable input, `.invalid` for NaN.
    public init(seconds: Double, timescale: Int32 = 1_000_000_000) {
        guard !seconds.isNaN, timescale > 0 else { self = .invalid; return }
        let scaled = (seconds * Double(timescale)).rounded(.toNearestOrAwayFromZero)
        guard let value = Int64(exactly: scaled) else {
            self = seconds > 0 ? .positiveInfinity : .negativeInfinity
            return
        }
        self.init(value, timescale, rounded: Double(value) / Double(timescale) != seconds)
    }

    /// A whole number of nanoseconds.
    public init(nanoseconds: Int64) { self.init(nanoseconds, 1_000_000_000) }

    /// The number 0: where a film begins.
    public static let zero = MediaTime(0, 1)
    /// An unknown time, such as that of a sample without a time stamp; the counterpart of `kCMTimeInvalid`.
    public static let invalid = MediaTime(0, 0, kind: .invalid)
    /// A time that cannot be known, such as the length of a live stream; the counterpart of `kCMTimeIndefinite`.
    public static let indefinite = MediaTime(0, 0, kind: .indefinite)
    /// Later than every number: the open end of a range.
    public static let positiveInfinity = MediaTime(0, 0, kind: .positiveInfinity)
    /// Earlier than every number: the open beginning of a range.
    public static let negativeInfinity = MediaTime(0, 0, kind: .negativeInfinity)

    /// Whether this is a number, with `value` and `timescale`.
    public var isNumeric: Bool { kind == .numeric }
    /// Whether this is anything but `.invalid`; indefinite and infinite times are valid.
    public var isValid: Bool { kind != .invalid }

    /// Seconds as a floating-point number: for people and for ratios, not for bookkeeping. NaN when neither a number nor infinite.
    public var seconds: Double {
        switch kind {
        case .numeric: Double(value) / Double(timescale)
        case .positiveInfinity: .infinity
        case .negativeInfinity: -.infinity
        case .invalid, .indefinite: .nan
        }
    }
}
