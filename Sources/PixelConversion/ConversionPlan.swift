package import Media

/// Everything that the arithmetic of a conversion depends on, except the pixels.
package struct ConversionPlan: Hashable, Sendable {
    /// One side of the conversion.
    package struct Side: Hashable, Sendable {
        package var format: PixelFormat
        /// Without gaps.
        package var color: ColorDescription
        /// Pixels to convert.
        package var size: PixelSize
    }

    package var source: Side
    package var target: Side
    package var filter: ConversionTarget.Filter
    /// What becomes of the source's alpha.
    var alpha = AlphaTreatment.kept
    /// How light is mapped to standard dynamic range; nil: it is not.
    var lightMapping: LightMapping?
}

extension PixelFormat.Description {
    /// Neither gray nor a palette.
    package var hasColorAndAlpha: Bool { hasAlpha && (model == .yuv || model == .rgb) }
}

extension PixelFormat {
    /// The same without the plane of alpha; nil where there is no such format, or no alpha.
    package var withoutAlpha: PixelFormat? { rawValue.hasPrefix("yuva") ? PixelFormat(rawValue: "yuv" + rawValue.dropFirst(4)) : nil }
}

/// What a conversion does with alpha.
enum AlphaTreatment: Hashable, Sendable {
    /// It is copied into targets with alpha, and left out of others.
    case kept
    /// The frame is laid over black.
    case overBlack

    /// How frames of `format` are shown in frames without alpha.
    ///
    /// - Parameter takesPackedRGB: Also packed RGB is laid over black. Displays show it as it is, in place.
    init(_ format: PixelFormat, on target: PixelFormat, takesPackedRGB: Bool) {
        let facts = format.description, other = target.description
        let isSource = facts.hasAlpha && facts.model != .palette && (takesPackedRGB || facts.model != .rgb || facts.planes.count > 1)
        self = isSource && other.model == .rgb && !other.hasAlpha ? .overBlack : .kept
    }
}

/// Where the planes of an image lie, lent for one conversion.
@safe
package struct ImagePlanes: @unchecked Sendable {
    package var planes: [UnsafeMutableRawPointer]
    /// Bytes from one row to the next, of each plane.
    package var pitches: [Int]
    /// The first pixel to convert. Chroma that it shares with its neighbours begins at its own sample; a pixel between two chroma samples is
    /// taken to begin at the first.
    package var left: Int
    package var top: Int

    /// No planes.
    init() { unsafe self.init(planes: [], pitches: []) }

    package init(planes: [UnsafeMutableRawPointer], pitches: [Int], left: Int = 0, top: Int = 0) {
        unsafe self.planes = planes
        self.pitches = pitches
        self.left = left
        self.top = top
    }
}

/// The arithmetic behind a `PixelTransferSession`.
///
/// Thread-safety: one thread at a time.
package protocol ConversionEngine: AnyObject {
    /// Whether frames of one format can be converted to another.
    func canConvert(_ source: PixelFormat, to target: PixelFormat) -> Bool
    /// The smallest rectangle around `rect` that begins where a conversion can begin.
    func aligned(_ rect: PixelRect, of format: PixelFormat) -> PixelRect
    /// Writes what lies in `source` to `target`.
    func convert(_ plan: ConversionPlan, from source: ImagePlanes, to target: ImagePlanes) throws(PixelConversionError)
}
