/// A setting of a camera with its range: exposure, white balance, focus, gain, zoom.
public struct CaptureControl: Sendable, Hashable {
    /// How a setting is set.
    public enum Kind: Sendable, Hashable {
        /// A number of the range.
        case integer
        /// 0 or 1.
        case boolean
        /// The number of an item.
        case menu
        /// Any value does it once.
        case button
        /// Single bits of a number.
        case bits
    }

    /// One choice of a menu.
    public struct Item: Sendable, Hashable {
        /// What the control is set to.
        public var value: Int64
        /// The driver's words.
        public var name: String

        /// Makes a choice.
        public init(value: Int64, name: String) {
            self.value = value
            self.name = name
        }
    }

    /// V4L2's number (`V4L2_CID_…`).
    public var identifier: UInt32
    /// The driver's words.
    public var name: String
    /// How it is set.
    public var kind: Kind
    /// The values that it takes. Not all are items of a menu.
    public var range: ClosedRange<Int64>
    /// Between two values.
    public var step: Int64
    /// What the driver begins with.
    public var defaultValue: Int64
    /// The choices of a menu; empty for all others.
    public var items: [Item]
    /// Whether it can be set.
    public var isWritable: Bool
    /// Whether another control, such as automatic exposure, decides at present.
    public var isInactive: Bool

    /// Whether its number has 64 bits.
    let isWide: Bool

    /// Makes a control; without items, of 32 bits, that can be set.
    package init(
        identifier: UInt32, name: String, kind: Kind, range: ClosedRange<Int64>, step: Int64 = 1, defaultValue: Int64, items: [Item] = [],
        isWritable: Bool = true, isInactive: Bool = false, isWide: Bool = false
    ) {
        self.identifier = identifier
        self.name = name
        self.kind = kind
        self.range = range
        self.step = step
        self.defaultValue = defaultValue
        self.items = items
        self.isWritable = isWritable
        self.isInactive = isInactive
        self.isWide = isWide
    }

    /// The next value that the control takes, for any number.
    public func nearest(_ value: Int64) -> Int64 {
        let bounded = min(max(value, range.lowerBound), range.upperBound)
        guard kind == .integer, step > 1 else { return bounded }
        let offset = (bounded - range.lowerBound).quotientAndRemainder(dividingBy: step)
        let rounded = range.lowerBound + (offset.quotient + (offset.remainder * 2 >= step ? 1 : 0)) * step
        return rounded > range.upperBound ? rounded - step : rounded
    }
}
