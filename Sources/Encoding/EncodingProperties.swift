public import Media

/// How an encoder weighs quality, size, delay and time. What is left nil stays as the encoder has it.
///
/// `CompressionSession.supportedProperties` says which of these an encoder has. A session that is given another cannot be made.
/// The counterpart of Video Toolbox's compression properties.
public struct EncodingProperties: Sendable, Hashable {
    /// Bits a second, on average.
    public var averageBitRate: Int?
    /// The most bits in any stretch of so many seconds.
    public var rateLimit: RateLimit?
    /// Constant quality, from 0 (worst) to 1 (best). The scale is the encoder's own; equal numbers of two encoders do not look the same.
    public var quality: Double?
    /// Frames from one key frame to the next, at most; 1 makes every frame a key frame.
    public var keyFrameInterval: Int?
    /// Seconds from one key frame to the next, at most, counted in frames of the expected rate.
    public var keyFrameIntervalDuration: MediaTime?
    /// Whether samples may stand in another order than frames are shown (B-frames).
    public var allowsReordering: Bool?
    /// The encoder's name of the profile: `high`, `main10`, ProRes' `hq` and `4444`.
    public var profile: String?
    /// The codec's level as people write it: `4.1`.
    public var level: String?
    /// Encode as fast as the film plays and put every sample out as soon as possible, at the price of quality.
    public var isRealTime: Bool?
    /// Frames a second that the rate control reckons with; nil takes that of the format, and 25 where it states none.
    public var expectedFrameRate: Ratio?
    /// Threads of the encoder; nil or 0 lets it choose.
    public var threads: Int?
    /// Frames that the encoder may hold back before the first sample comes.
    public var maximumDelay: Int?

    /// A limit of the rate over a window.
    public struct RateLimit: Sendable, Hashable {
        /// The most bits in the window.
        public var bits: Int
        /// The window's length in seconds.
        public var seconds: Double

        /// Makes a limit; both are above zero.
        public init(bits: Int, seconds: Double) {
            self.bits = bits
            self.seconds = seconds
        }
    }

    /// Leaves everything to the encoder.
    public init() {}
}

/// One of the `EncodingProperties`, by name.
public enum EncodingProperty: String, Sendable, Hashable, CaseIterable {
    case averageBitRate, rateLimit, quality, keyFrameInterval, keyFrameIntervalDuration, allowsReordering, profile, level, isRealTime
    case expectedFrameRate, threads, maximumDelay
}

/// What an encoder says of a property that it has.
public struct EncodingPropertyDescription: Sendable, Hashable {
    /// What its values are.
    public enum Kind: Sendable, Hashable {
        /// A whole number.
        case integer
        /// A number.
        case number
        /// Yes or no.
        case flag
        /// Seconds.
        case time
        /// One of these words.
        case choice([String])
        /// A text.
        case text
    }

    /// The property.
    public let property: EncodingProperty
    /// What its values are.
    public let kind: Kind
    /// The smallest and the largest value; nil for values that are no numbers.
    public let range: ClosedRange<Double>?
    /// The encoder's own value, as a text; nil where the encoder decides by the film.
    public let defaultValue: String?
    /// Whether `CompressionSession.setProperties` follows a change without a key frame; other changes begin with one.
    public let changesWithoutKeyFrame: Bool

    init(
        _ property: EncodingProperty, _ kind: Kind, _ range: ClosedRange<Double>? = nil, default defaultValue: String? = nil,
        changesWithoutKeyFrame: Bool = false
    ) {
        self.property = property
        self.kind = kind
        self.range = range
        self.defaultValue = defaultValue
        self.changesWithoutKeyFrame = changesWithoutKeyFrame
    }
}

extension EncodingProperties {
    /// The properties that are set, with their values as numbers; words and limits count as NaN.
    var set: [(property: EncodingProperty, number: Double)] {
        var all: [(EncodingProperty, Double)] = []
        func add(_ property: EncodingProperty, _ number: Double?) { if let number { all.append((property, number)) } }
        add(.averageBitRate, averageBitRate.map(Double.init))
        add(.rateLimit, rateLimit.map { Double($0.bits) / $0.seconds })
        add(.quality, quality)
        add(.keyFrameInterval, keyFrameInterval.map(Double.init))
        add(.keyFrameIntervalDuration, keyFrameIntervalDuration?.seconds)
        add(.allowsReordering, allowsReordering.map { $0 ? 1 : 0 })
        add(.profile, profile.map { _ in .nan })
        add(.level, level.map { _ in .nan })
        add(.isRealTime, isRealTime.map { $0 ? 1 : 0 })
        add(.expectedFrameRate, expectedFrameRate?.doubleValue)
        add(.threads, threads.map(Double.init))
        add(.maximumDelay, maximumDelay.map(Double.init))
        return all
    }

    /// - Throws: `.unsupportedProperty` with a sentence that names the property and what the encoder has.
    func check(against descriptions: [EncodingPropertyDescription], encoder: String) throws(EncodingError) {
        for (property, number) in set {
            guard let description = descriptions.first(where: { $0.property == property }) else {
                let names = descriptions.map(\.property.rawValue).joined(separator: ", ")
                throw EncodingError(.unsupportedProperty, "the encoder \(encoder) has no property \(property.rawValue); it has \(names)")
            }
            if let range = description.range, !range.contains(number) {
                throw EncodingError(
                    .unsupportedProperty,
                    "\(property.rawValue) of the encoder \(encoder) is from \(range.lowerBound) to \(range.upperBound), not \(number)")
            }
            if case .choice(let words) = description.kind, property == .profile, let profile, !words.contains(profile) {
                throw EncodingError(
                    .unsupportedProperty, "the encoder \(encoder) has no profile \(profile); it has \(words.joined(separator: ", "))")
            }
        }
        if averageBitRate != nil, quality != nil {
            throw EncodingError(.unsupportedProperty, "an encoder keeps either a rate or a quality, not both")
        }
    }
}
