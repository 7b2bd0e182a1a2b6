public import Media

/// What a program wants of a camera; what it leaves out, the library chooses.
public struct CaptureRequest: Sendable, Hashable {
    /// The driver's code of the format, such as `NV12`.
    public var code: FourCC?
    /// The size of the frames, in pixels.
    public var size: PixelSize?
    /// Frames a second.
    public var rate: Ratio?

    /// Asks for these; by default for nothing in particular.
    public init(code: FourCC? = nil, size: PixelSize? = nil, rate: Ratio? = nil) {
        self.code = code
        self.size = size
        self.rate = rate
    }

    /// What is set on the device.
    package struct Choice: Sendable, Hashable {
        package var code: FourCC
        package var size: PixelSize
        /// Nil: as the driver has it.
        package var rate: Ratio?

        package init(code: FourCC, size: PixelSize, rate: Ratio? = nil) {
            self.code = code
            self.size = size
            self.rate = rate
        }
    }

    /// Formats that displays take as they are come first, then those of fewer bytes, those that must be copied, and those that must be decoded.
    private static let preferred = [
        "NV12", "NV21", "YU12", "NV16", "YUYV", "UYVY", "P010", "422P", "XR24", "BGR4", "RGB3", "BGR3", "NM12", "NM21", "YM12", "NM16", "YM16",
        "GREY",
    ]
    private static let decoded = ["MJPG", "JPEG", "H264", "HEVC"]
    /// 1920x1080 in pixels: a larger size must be asked for.
    private static let usual = 1920 * 1080
    /// 1280x720 in pixels: frames that need no decoding are preferred if they are as large.
    private static let sufficient = 1280 * 720
    /// Frames a second that people take for fluent.
    private static let fluent = 24.0

    /// The format, the size and the rate that fit the request best; nil where none fits it.
    ///
    /// A format and a size that are asked for are kept. Without a size, it is the largest up to 1920x1080 that comes at the rate asked for, else at
    /// 24 frames a second or more. The rate becomes the nearest that the camera has. Compressed frames are taken where the camera gives no others, or
    /// others only slower or smaller than 1280x720.
    ///
    /// - Parameters:
    ///   - present: The size that is set on the device, which stands for those that a driver does not list.
    ///   - hasSignal: Whether that is the size of what comes in at the device's input, such as a television's signal. It is taken where the device
    ///     can scale to any size and none is asked for.
    package func choose(from formats: [CaptureFormat], present: PixelSize? = nil, hasSignal: Bool = false) -> Choice? {
        let readable = formats.filter { $0.isReadable && (code == nil || $0.code == code) }
        let pixels = first(of: readable.filter { $0.codec == nil }, Self.preferred, present, hasSignal)
        let compressed = first(of: readable.filter { $0.codec != nil }, Self.decoded, present, hasSignal)
        guard let pixels, let compressed else { return pixels?.choice ?? compressed?.choice }
        func value(_ found: Found) -> Int { (found.isFast ? 1 << 42 : 0) + min(found.choice.size.width * found.choice.size.height, Self.sufficient) }
        return value(compressed) > value(pixels) ? compressed.choice : pixels.choice
    }

    private typealias Found = (choice: Choice, isFast: Bool)

    /// The best of the first format, by its place in `order`, that fits.
    private func first(of formats: [CaptureFormat], _ order: [String], _ present: PixelSize?, _ hasSignal: Bool) -> Found? {
        func rank(_ format: CaptureFormat) -> Int { order.firstIndex(of: format.code.description) ?? order.count }
        let ordered = formats.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
        for format in ordered {
            if format.sizes.isEmpty, let size = size ?? present { return (Choice(code: format.code, size: size, rate: rate), true) }
            let candidates = format.sizes.compactMap { sizes -> (sizes: CaptureFormat.Sizes, size: PixelSize)? in
                if let size { return sizes.contains(size) ? (sizes, size) : nil }
                if hasSignal, let present, sizes.contains(present) { return (sizes, present) }
                return (sizes, sizes.smallest == sizes.largest ? sizes.largest : Self.usualSize(in: sizes))
            }
            guard let best = candidates.max(by: { score($0.sizes, $0.size) < score($1.sizes, $1.size) }) else { continue }
            return (Choice(code: format.code, size: best.size, rate: nearestRate(in: best.sizes)), isFast(best.sizes))
        }
        return nil
    }

    /// 1280x720 where a camera takes any size, or the size nearest to it.
    private static func usualSize(in sizes: CaptureFormat.Sizes) -> PixelSize {
        func side(_ wanted: Int, _ low: Int, _ high: Int, _ step: Int) -> Int {
            let bounded = min(max(wanted, low), max(low, high))
            return low + (bounded - low) / max(step, 1) * max(step, 1)
        }
        return PixelSize(
            width: side(1280, sizes.smallest.width, sizes.largest.width, sizes.step.width),
            height: side(720, sizes.smallest.height, sizes.largest.height, sizes.step.height))
    }

    /// Better is greater: fast enough, not too large, large.
    private func score(_ sizes: CaptureFormat.Sizes, _ size: PixelSize) -> Int {
        let pixels = size.width * size.height
        return (isFast(sizes) ? 1 << 42 : 0) + (pixels <= Self.usual ? (1 << 41) + pixels : (1 << 40) - pixels)
    }

    private func isFast(_ sizes: CaptureFormat.Sizes) -> Bool {
        let wanted = rate.map { $0.doubleValue * 0.99 } ?? Self.fluent
        return sizes.rates.isEmpty || sizes.rates.contains { $0.highest.doubleValue >= wanted }
    }

    private func nearestRate(in sizes: CaptureFormat.Sizes) -> Ratio? {
        guard let rate, rate.isKnown else { return nil }
        let wanted = rate.doubleValue
        let nearest = sizes.rates.map { rates -> Ratio in
            if rates.lowest.doubleValue > wanted { return rates.lowest }
            return rates.highest.doubleValue < wanted ? rates.highest : rate
        }
        return nearest.min { abs($0.doubleValue - wanted) < abs($1.doubleValue - wanted) } ?? rate
    }
}
