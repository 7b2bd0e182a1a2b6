public import Media

/// What frames are converted to. What is left open stays as it is in the source.
public struct ConversionTarget: Sendable, Hashable {
    /// How pixels are interpolated when the size changes. Subsampled chroma is always interpolated linearly.
    /// Only `PixelTransferSession.Engine.exact` has a choice; `.fast` is bilinear.
    public enum Filter: Sendable, Hashable, CaseIterable { case nearest, bilinear, bicubic, lanczos }

    /// The pixel format of the converted frames.
    public var format: PixelFormat
    /// nil keeps the size of the visible part.
    public var size: PixelSize?
    /// Visible parts with more pixels than this are made smaller, in their shape, where `size` is nil; nil: none are.
    public var mostPixels: Int?
    /// H.273's matrix coefficients for a YUV format; nil keeps the source's, or takes the usual ones for the size when the source is RGB.
    public var matrix: UInt8?
    /// `.unspecified` keeps the source's range; it means limited from RGB to YUV, and full to RGB.
    public var range: ColorRange
    /// `.unspecified` keeps the source's siting, or takes left.
    public var chromaSiting: ChromaSiting
    /// How pixels are interpolated when the size changes.
    public var filter: Filter
    /// Frames with alpha are laid over black, as displays show them, where `format` is RGB of full range without alpha. False leaves their alpha out,
    /// as FFmpeg does. A format with alpha keeps it in any case: straight, as in the source.
    public var liesOverBlack = false
    /// How frames in high dynamic range become standard dynamic range, always by `.exact`; nil keeps their primaries and transfer curve. For RGB of
    /// full range only.
    public var toneMapping: ToneMapping?

    /// Makes a target; a size and colours that are left out stay as they are in the source, as the properties say.
    public init(
        format: PixelFormat, size: PixelSize? = nil, matrix: UInt8? = nil, range: ColorRange = .unspecified,
        chromaSiting: ChromaSiting = .unspecified, filter: Filter = .bicubic, toneMapping: ToneMapping? = nil
    ) {
        self.format = format
        self.size = size
        self.matrix = matrix
        self.range = range
        self.chromaSiting = chromaSiting
        self.filter = filter
        self.toneMapping = toneMapping
    }

    /// 7680 × 4320: no monitor has more. What is made of a frame for a display has no more, whatever size the film says its frames have: four of
    /// them in 32 bits take 531 MB.
    package static let mostDisplayPixels = 7680 * 4320

    /// The size of a converted frame whose visible part has the size `visible`.
    func size(of visible: PixelSize) -> PixelSize {
        if let size { return size }
        let pixels = visible.width * visible.height
        guard let mostPixels, pixels > mostPixels else { return visible }
        // The short side first: where it is cut off at one pixel, the long one is, too.
        let scale = (Double(mostPixels) / Double(pixels)).squareRoot()
        let short = max(Int(Double(min(visible.width, visible.height)) * scale), 1)
        let long = max(min(Int(Double(max(visible.width, visible.height)) * scale), mostPixels / short), 1)
        return visible.width < visible.height ? PixelSize(width: short, height: long) : PixelSize(width: long, height: short)
    }

    /// The colours of a converted frame.
    ///
    /// - Parameters:
    ///   - source: The frame's colours before, with every value known.
    ///   - sourceModel: What its code values stand for.
    func color(from source: ColorDescription, _ sourceModel: PixelFormat.Model, size: PixelSize) -> ColorDescription {
        var color = source
        let facts = format.description
        if facts.model == .rgb {
            color.matrix = 0
            color.range = range == .unspecified ? .full : range
            return color
        }
        if let matrix {
            color.matrix = matrix
        } else if source.matrix == 0 {
            color.matrix = ColorDescription(primaries: source.primaries).resolved(width: size.width, height: size.height).matrix
        }
        color.range = facts.impliesFullRange && facts.model == .yuv ? .full : range
        if color.range == .unspecified { color.range = sourceModel == .rgb ? .limited : source.range }
        if chromaSiting != .unspecified { color.chromaSiting = chromaSiting }
        return color
    }
}
