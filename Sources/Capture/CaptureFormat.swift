public import Media

/// A format that a camera offers, with its sizes and rates.
public struct CaptureFormat: Sendable, Hashable {
    /// Sizes of frames; one where smallest and largest are equal.
    public struct Sizes: Sendable, Hashable {
        /// The smallest frame, in pixels.
        public var smallest: PixelSize
        /// The largest frame, in pixels.
        public var largest: PixelSize
        /// By how much both sides may grow from the smallest on.
        public var step: PixelSize
        /// The rates at the largest size, the highest first.
        public var rates: [Rates]

        /// Describes sizes, and the rates that they come with.
        public init(smallest: PixelSize, largest: PixelSize, step: PixelSize = PixelSize(width: 1, height: 1), rates: [Rates]) {
            self.smallest = smallest
            self.largest = largest
            self.step = step
            self.rates = rates
        }

        /// Whether frames of `size` can be had.
        public func contains(_ size: PixelSize) -> Bool {
            func fits(_ value: Int, _ low: Int, _ high: Int, _ step: Int) -> Bool {
                (low...max(low, high)).contains(value) && (value - low) % max(step, 1) == 0
            }
            return fits(size.width, smallest.width, largest.width, step.width) && fits(size.height, smallest.height, largest.height, step.height)
        }
    }

    /// Rates in frames a second; one where both are equal.
    public struct Rates: Sendable, Hashable {
        /// Frames a second at least.
        public var lowest: Ratio
        /// Frames a second at most.
        public var highest: Ratio

        /// Describes a range of rates.
        public init(lowest: Ratio, highest: Ratio) {
            self.lowest = lowest
            self.highest = highest
        }
    }

    /// The driver's code: four characters, `YUYV`.
    public var code: FourCC
    /// The driver's words for it.
    public var name: String
    /// How the pixels lie; nil for compressed formats and for those that this library cannot read.
    public var pixelFormat: PixelFormat?
    /// The codec of compressed frames, which are decoded; nil for pixels and for what this library cannot read.
    public var codec: VideoCodec?
    /// In the driver's order.
    public var sizes: [Sizes]

    /// Describes a format by the driver's code; what it stands for follows.
    public init(code: FourCC, name: String, sizes: [Sizes]) {
        self.code = code
        self.name = name
        self.sizes = sizes
        switch CaptureEncoding(code) {
        case .pixels(let format): pixelFormat = format
        case .compressed(let codec): self.codec = codec
        case .unknown: break
        }
    }

    /// Whether a session can deliver it.
    public var isReadable: Bool { pixelFormat != nil || codec != nil }

    /// One line for people: `NV12 640x360 at 60, 30; 1280x720 at 30`.
    public var summary: String { sizes.isEmpty ? "\(code)" : "\(code) \(sizesSummary)" }

    /// The same without the code.
    package var sizesSummary: String {
        sizes.map { sizes in
            let size = sizes.smallest == sizes.largest ? "\(sizes.largest)" : "\(sizes.smallest) to \(sizes.largest)"
            let rates = sizes.rates.map { $0.lowest == $0.highest ? Self.text($0.highest) : "\(Self.text($0.lowest)) to \(Self.text($0.highest))" }
            return rates.isEmpty ? size : "\(size) at \(rates.joined(separator: ", "))"
        }.joined(separator: "; ")
    }

    /// Frames a second with at most two digits behind the point.
    static func text(_ rate: Ratio) -> String {
        let hundredths = Int((rate.doubleValue * 100).rounded())
        let rest = hundredths % 100
        return rest == 0 ? "\(hundredths / 100)" : "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest % 10 == 0 ? rest / 10 : rest)"
    }
}
