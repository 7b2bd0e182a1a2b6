public import Media

/// What pictures are to become. What is left open stays as it is.
public struct PictureTarget: Sendable, Hashable {
    /// How pixels between pixels are found when the size changes. (Coarser chroma is always interpolated linearly.)
    public enum Filter: Sendable, Hashable, CaseIterable { case nearest, bilinear, bicubic, lanczos }

    public var format: PixelFormat
    /// nil keeps the size of what is meant to be seen.
    public var size: PixelSize?
    /// H.273's matrix coefficients for a YUV format; nil keeps the source's, or takes what is usual for the size when the source is RGB.
    public var matrix: UInt8?
    /// `.unspecified` keeps the source's range; from RGB to YUV it is limited, to RGB full.
    public var range: ColorRange
    /// `.unspecified` keeps the source's, or takes left.
    public var chromaSiting: ChromaSiting
    public var filter: Filter

    public init(
        format: PixelFormat, size: PixelSize? = nil, matrix: UInt8? = nil, range: ColorRange = .unspecified,
        chromaSiting: ChromaSiting = .unspecified, filter: Filter = .bicubic
    ) {
        self.format = format
        self.size = size
        self.matrix = matrix
        self.range = range
        self.chromaSiting = chromaSiting
        self.filter = filter
    }

    /// The colours that a picture has when it has become this.
    ///
    /// - Parameters:
    ///   - source: The picture's, without gaps.
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
