package import Media

/// The colours that a V4L2 format states, as the driver's numbers.
package struct CaptureColor: Sendable, Hashable {
    /// `enum v4l2_colorspace`.
    package var colorspace: UInt32
    /// `enum v4l2_ycbcr_encoding`; 0: as the colour space says.
    package var ycbcr: UInt32
    /// `enum v4l2_quantization`; 0: as the colour space says.
    package var quantization: UInt32
    /// `enum v4l2_xfer_func`; 0: as the colour space says.
    package var transfer: UInt32

    package init(colorspace: UInt32, ycbcr: UInt32 = 0, quantization: UInt32 = 0, transfer: UInt32 = 0) {
        self.colorspace = colorspace
        self.ycbcr = ycbcr
        self.quantization = quantization
        self.transfer = transfer
    }

    /// The same in the numbers of H.273. The defaults are those of the kernel's `V4L2_MAP_XFER_FUNC_DEFAULT`, `V4L2_MAP_YCBCR_ENC_DEFAULT`
    /// and `V4L2_MAP_QUANTIZATION_DEFAULT`. Chroma sits left, as MPEG-2 has it, and in the middle for JPEG; V4L2 does not state it.
    package func description(for format: PixelFormat) -> ColorDescription {
        guard let space = Self.spaces[colorspace] else { return .unspecified }
        let model = format.description.model
        let matrix = model == .rgb ? 0 : Self.matrices[ycbcr] ?? space.matrix
        let range: ColorRange =
            switch quantization {
            case 1: .full
            case 2: .limited
            default: model != .yuv || colorspace == Self.jpeg ? .full : .limited
            }
        return ColorDescription(
            primaries: space.primaries, transfer: Self.transfers[transfer] ?? space.transfer, matrix: matrix, range: range,
            chromaSiting: model != .yuv ? .unspecified : colorspace == Self.jpeg ? .center : .left)
    }

    /// `V4L2_COLORSPACE_JPEG`.
    static let jpeg: UInt32 = 7

    /// By `v4l2_colorspace`. OPRGB's primaries and curve have no number in H.273.
    private static let spaces: [UInt32: (primaries: UInt8, transfer: UInt8, matrix: UInt8)] = [
        1: (6, 6, 6),  // SMPTE 170M
        2: (7, 7, 7),  // SMPTE 240M
        3: (1, 1, 1),  // Rec. 709
        5: (4, 6, 6),  // 470 System M
        6: (5, 6, 6),  // 470 System BG
        7: (1, 13, 6),  // JPEG: sRGB with BT.601's matrix
        8: (1, 13, 6),  // sRGB
        9: (2, 2, 6),  // opRGB
        10: (9, 1, 9),  // BT.2020
        12: (11, 17, 1),  // DCI-P3
    ]
    /// By `v4l2_ycbcr_encoding`.
    private static let matrices: [UInt32: UInt8] = [1: 6, 2: 1, 3: 6, 4: 1, 5: 6, 6: 9, 7: 10, 8: 7]
    /// By `v4l2_xfer_func`.
    private static let transfers: [UInt32: UInt8] = [1: 1, 2: 13, 3: 2, 4: 7, 5: 8, 6: 17, 7: 16]
}
