public import FrameExport
internal import Media
internal import SurfacePool

/// How samples of luma and chroma become red, green and blue, as a shader takes it: `rgb = matrix * (sample - offset)`.
///
/// Samples are 0…1 of the greatest code value. The result is coded light: the transfer curve (`ColorDescription.transfer`) is the renderer's.
/// Source: ITU-T H.273 8.3.
public struct YCbCrConversion: Sendable, Hashable {
    /// Column by column, as `glUniformMatrix3fv` takes it: what luma adds to red, green and blue, then Cb, then Cr.
    public var matrix: [Float]
    /// Of luma, Cb and Cr.
    public var offset: [Float]

    /// By the frame's tags, gaps filled as for every other output; nil for formats that are RGB.
    public init?(_ frame: FrameDescription) {
        let facts = frame.pixelFormat.description
        guard facts.model == .yuv || facts.model == .gray else { return nil }
        var color = frame.attributes.color.resolved(width: frame.visible.width, height: frame.visible.height)
        if facts.impliesFullRange { color.range = .full }
        if facts.model == .gray { color.matrix = 1 }
        self.init(color, bitDepth: facts.bitDepth)
    }

    /// - Parameter color: With no gaps.
    init(_ color: ColorDescription, bitDepth: Int) {
        let greatest = Double((1 << bitDepth) - 1), step = Double(1 << (bitDepth - 8))
        let isLimited = color.range != .full
        let luma = isLimited ? greatest / (219 * step) : 1
        let chroma = isLimited ? greatest / (224 * step) : 1
        let black = isLimited ? 16 * step / greatest : 0, middle = 128 * step / greatest
        let red, blue: Double
        switch color.matrix {
        case 0:
            // RGB in the planes of luma (green), Cb (blue) and Cr (red).
            matrix = [0, luma, 0, 0, 0, luma, luma, 0, 0].map { Float($0) }
            offset = [Float](repeating: Float(black), count: 3)
            return
        case 8:
            // YCgCo: the sample of Cb is Cg, that of Cr is Co.
            matrix = [luma, luma, luma, -chroma, chroma, -chroma, chroma, 0, -chroma].map { Float($0) }
            offset = [Float(black), Float(middle), Float(middle)]
            return
        case 1: (red, blue) = (0.2126, 0.0722)
        case 4: (red, blue) = (0.30, 0.11)
        case 7: (red, blue) = (0.212, 0.087)
        case 9, 10: (red, blue) = (0.2627, 0.0593)
        default: (red, blue) = (0.299, 0.114)
        }
        let green = 1 - red - blue
        matrix = [
            luma, luma, luma, 0, -2 * (1 - blue) * blue / green * chroma, 2 * (1 - blue) * chroma, 2 * (1 - red) * chroma,
            -2 * (1 - red) * red / green * chroma, 0,
        ].map { Float($0) }
        offset = [Float(black), Float(middle), Float(middle)]
    }
}
