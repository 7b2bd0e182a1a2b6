package import Media

/// Where a layer's frame lies in the result, in whole chroma samples: all sides are even numbers of pixels.
package struct LayerPlace: Equatable, Sendable {
    /// The whole frame, which may reach beyond the result.
    package let frame: PixelRect
    /// The part of it that is shown, in pixels of the result; empty where nothing is.
    package let shown: PixelRect

    /// - Parameters:
    ///   - source: The frame's visible size.
    ///   - target: The size of the result.
    ///   - scale: Pixels of the result for one of the render size.
    init(
        _ source: PixelSize, aspect: Ratio, in target: PixelSize, scale: Double, fit: LayerFit, transform: LayerTransform, crop: LayerCrop
    ) {
        var (x, y, width, height) = (0.0, 0.0, Double(source.width) * scale, Double(source.height) * scale)
        if aspect.isKnown { width *= aspect.doubleValue }
        let (targetWidth, targetHeight) = (Double(target.width), Double(target.height))
        switch fit {
        case .none: break
        case .fit:
            let factor = min(targetWidth / width, targetHeight / height)
            (width, height) = (width * factor, height * factor)
            (x, y) = ((targetWidth - width) / 2, (targetHeight - height) / 2)
        case .stretch: (width, height) = (targetWidth, targetHeight)
        }
        x = x * transform.scaleX + transform.x * scale
        y = y * transform.scaleY + transform.y * scale
        (width, height) = (width * transform.scaleX, height * transform.scaleY)
        frame = Self.even(x, y, x + width, y + height)
        let part = Self.even(
            Double(frame.x) + crop.left * Double(frame.width), Double(frame.y) + crop.top * Double(frame.height),
            Double(frame.x) + crop.right * Double(frame.width), Double(frame.y) + crop.bottom * Double(frame.height))
        let (left, top) = (max(part.x, 0), max(part.y, 0))
        let (right, bottom) = (min(part.x + part.width, target.width), min(part.y + part.height, target.height))
        shown = PixelRect(x: left, y: top, width: max(right - left, 0), height: max(bottom - top, 0))
    }

    private static func even(_ left: Double, _ top: Double, _ right: Double, _ bottom: Double) -> PixelRect {
        func round(_ value: Double) -> Int { Int((value / 2).rounded()) * 2 }
        return PixelRect(x: round(left), y: round(top), width: round(right) - round(left), height: round(bottom) - round(top))
    }
}

extension PixelSize {
    /// With the sides exchanged where a frame lies on its side.
    func turned(_ isSideways: Bool) -> PixelSize { isSideways ? PixelSize(width: height, height: width) : self }
}

extension Ratio {
    /// The shape of the pixels of a frame that lies on its side, as a viewer sees it.
    func turned(_ isSideways: Bool) -> Ratio { isSideways && isKnown ? Ratio(denominator, numerator) : self }
}
