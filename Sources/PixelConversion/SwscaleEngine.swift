internal import Media

/// Converts quickly, for display: any pixel format to packed RGB of any size, by the film's own matrix and range.
///
/// libswscale's errors do not show on a display: version 5.1's 10-bit RGB is off by up to 3.5 code values, 8-bit RGB of colours outside the
/// gamut by more, and its fast paths ignore the siting of chroma. For computing with the pixels, use zimg.
///
/// Thread-safety: one thread at a time.
final class SwscaleEngine: ConversionEngine {
    private let scaler = Swscaler()

    func canConvert(_ source: PixelFormat, to target: PixelFormat) -> Bool {
        target.description.model == .rgb && target.description.planes.count == 1 && Swscaler.canRead(PixelFormatTable.shared.number(of: source))
            && Swscaler.canWrite(PixelFormatTable.shared.number(of: target))
    }

    /// Pixels that share a byte or a chroma sample cannot be separated: the rectangle begins at the first of them.
    func aligned(_ rect: PixelRect, of format: PixelFormat) -> PixelRect {
        let facts = format.description
        let widestShift = max(facts.chromaShiftX, facts.planes.lazy.map(\.horizontalShift).max() ?? 0)
        let unitX = facts.planes[0].bitsPerSample < 8 ? 8 : 1 << widestShift
        let unitY = 1 << facts.chromaShiftY
        let left = rect.x / unitX * unitX, top = rect.y / unitY * unitY
        return PixelRect(x: left, y: top, width: rect.x + rect.width - left, height: rect.y + rect.height - top)
    }

    func convert(_ plan: ConversionPlan, from source: ImagePlanes, to target: ImagePlanes) throws(PixelConversionError) {
        guard scaler.convertForDisplay(plan, Self.moved(source, plan.source.format), Self.moved(target, plan.target.format)) else {
            throw .noConversion(from: plan.source.format.rawValue, to: plan.target.format.rawValue)
        }
    }

    /// The planes from the first pixel to convert on.
    private static func moved(_ image: ImagePlanes, _ format: PixelFormat) -> ImagePlanes {
        var moved = image
        for (index, plane) in format.description.planes.enumerated() where index < image.pitches.count {
            let row = image.top >> plane.verticalShift, column = (image.left >> plane.horizontalShift) * plane.bitsPerSample / 8
            unsafe moved.planes[index] = image.planes[index] + row * image.pitches[index] + column
        }
        return moved
    }
}
