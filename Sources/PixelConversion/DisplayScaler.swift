package import Media
package import SurfacePool

/// Converts frames to `bgr0` of any size, by the film's own matrix and range, into memory that the caller owns: for displays that provide the
/// memory themselves. Frames in YUV with alpha are laid over black.
///
/// Thread-safety: one thread at a time.
package final class DisplayScaler {
    private let engine = SwscaleEngine()
    private lazy var mapper = ZimgEngine(threads: 0)
    /// How frames in high dynamic range become standard dynamic range; nil: they are shown as if they were.
    package var toneMapping: ToneMapping?
    package static let format = PixelFormat.bgr0

    package init() {}

    /// The smallest rectangle around a frame's visible part at which a conversion can begin.
    package func part(of frame: borrowing VideoFrame) -> PixelRect { engine.aligned(frame.visible, of: frame.pixelFormat) }

    /// Writes `part` of a frame, scaled to `size`. False when neither libswscale nor, for tone mapping and alpha, zimg can do it.
    package func convert(
        _ frame: borrowing VideoFrame, _ part: PixelRect, to size: PixelSize, at base: UnsafeMutableRawPointer, pitch: Int
    ) -> Bool {
        let format = frame.pixelFormat, color = frame.resolvedColor
        let mapping = toneMapping.flatMap { LightMapping(color, frame.attributes.hdr, $0) }
        let alpha = AlphaTreatment(format, on: Self.format, takesPackedRGB: false)
        let engine: any ConversionEngine = mapping == nil && alpha == .kept ? engine : mapper
        guard engine.canConvert(format, to: Self.format) else { return false }
        var shown = color
        if alpha == .overBlack { (shown.matrix, shown.range) = (0, .full) }
        let plan = ConversionPlan(
            source: .init(format: format, color: color, size: part.size), target: .init(format: Self.format, color: shown, size: size),
            filter: .bilinear, alpha: alpha, lightMapping: mapping)
        let target = unsafe ImagePlanes(planes: [base], pitches: [pitch])
        do throws(PixelConversionError) {
            try frame.surface.withImagePlanes(left: part.x, top: part.y) { planes throws(PixelConversionError) in
                try engine.convert(plan, from: planes, to: target)
            }
            return true
        } catch {
            return false
        }
    }
}

extension VideoFrame {
    /// The colours without gaps.
    var resolvedColor: ColorDescription { attributes.color.resolved(for: pixelFormat, size: visible.size) }
}

extension Surface {
    /// Lends the planes for reading; the caller holds a use.
    func withImagePlanes(
        left: Int, top: Int, _ body: (ImagePlanes) throws(PixelConversionError) -> Void
    ) throws(PixelConversionError) {
        try unsafe withUnsafeBytes { bytes throws(PixelConversionError) in
            let base = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress!)
            try body(
                unsafe ImagePlanes(
                    planes: (0..<layout.planeCount).map { unsafe base + layout.plane($0).offset },
                    pitches: (0..<layout.planeCount).map { layout.plane($0).pitch }, left: left, top: top))
        }
    }
}
