internal import DisplaySink
internal import Media

/// Maps pixel formats and colors to Wayland's, and decides whether a compositor would show a frame in the right colors.
enum WaylandFormats {
    /// The kernel's code to show frames of this format.
    static func code(_ format: PixelFormat) -> UInt32? { format.opaqueFourCC?.rawValue }

    /// `wl_shm`'s code: the kernel's, except for the two formats that every compositor supports.
    static func shmCode(_ code: UInt32) -> UInt32 {
        code == FourCC("AR24").rawValue ? 0 : code == FourCC("XR24").rawValue ? 1 : code
    }

    /// Matrix and range of YCbCr, as values of `wp_color_representation_surface_v1`.
    struct Representation: Sendable, Hashable {
        var coefficients: UInt32
        var range: UInt32

        /// Nil when the protocol has no value for it.
        ///
        /// - Parameter color: With every property resolved.
        init?(_ color: ColorDescription) {
            // The cases are code points of ITU-T H.273.
            switch color.matrix {
            case 1: coefficients = 2
            case 4: coefficients = 3
            case 5, 6: coefficients = 4
            case 7: coefficients = 5
            case 9: coefficients = 6
            default: return nil
            }
            range = color.range == .full ? 1 : 2
        }

        init(coefficients: UInt32, range: UInt32) {
            self.coefficients = coefficients
            self.range = range
        }
    }

    /// The chroma siting as a value of `wp_color_representation_surface_v1`; nil when it is unspecified or chroma is not subsampled both ways.
    static func chromaLocation(_ format: PixelFormat, _ siting: ChromaSiting) -> UInt32? {
        let facts = format.description
        guard facts.model == .yuv, facts.chromaShiftX == 1, facts.chromaShiftY == 1, siting != .unspecified else { return nil }
        return UInt32(siting.rawValue)
    }

    /// Primaries and transfer function, as values of `wp_color_manager_v1`, and mastering metadata.
    struct ImageDescription: Sendable, Hashable {
        var primaries: UInt32
        /// The transfer function, and a similar one for compositors without the first.
        var transfer: UInt32
        var otherTransfer: UInt32?
        /// The mastering display.
        var hdr: HDRStaticMetadata?

        /// Nil for colors that the protocol does not name, and for BT.709-like standard dynamic range, which compositors assume without a
        /// description; setting one would prevent scan-out.
        ///
        /// - Parameter color: With every property resolved.
        init?(_ color: ColorDescription, hdr: HDRStaticMetadata?) {
            // The cases are code points of ITU-T H.273.
            switch color.primaries {
            case 1: primaries = 1
            case 5: primaries = 3
            case 6, 7: primaries = 4
            case 9: primaries = 6
            case 11: primaries = 8
            case 12: primaries = 9
            default: return nil
            }
            switch color.transfer {
            // BT.1886, similar to gamma 2.2.
            case 1, 6, 14, 15: (transfer, otherTransfer) = (1, 2)
            case 4: transfer = 2
            case 5: transfer = 3
            case 7: transfer = 4
            case 13: (transfer, otherTransfer) = (9, 2)
            case 16: transfer = 11
            case 18: transfer = 13
            default: return nil
            }
            self.hdr = hdr
            if primaries <= 4, !isHDR { return nil }
        }

        /// PQ or HLG.
        var isHDR: Bool { transfer == 11 || transfer == 13 }
    }

    /// Everything that is set on a surface about a frame's colors.
    struct Colors: Sendable, Hashable {
        /// Nil for RGB, and when the compositor does not support it.
        var representation: Representation?
        /// Set only together with `representation`.
        var chromaLocation: UInt32?
        var imageDescription: ImageDescription?
    }

    /// Why the compositor would show wrong colors if it read the frame's memory; nil when it would not, or when the error is not worth a copy.
    ///
    /// A compositor with color-representation is told matrix and range. The others assume limited range and BT.601, or guess between BT.601 and
    /// BT.709.
    ///
    /// - Parameters:
    ///   - color: With every property resolved.
    ///   - understood: The representations that the compositor supports.
    ///   - isExact: Whether an unsupported BT.709 matrix counts as an obstacle.
    static func colorObstacle(
        _ format: PixelFormat, _ color: ColorDescription, understood: Set<Representation>, isExact: Bool
    ) -> String? {
        guard format.description.model == .yuv else { return nil }
        if let representation = Representation(color), understood.contains(representation) { return nil }
        if color.range == .full { return "the compositor treats YUV as limited range, but the film has full range" }
        switch color.matrix {
        case 5, 6: return nil
        case 1, 4, 7: return isExact ? "the compositor may treat the film's YUV as BT.601" : nil
        case let matrix: return "the compositor does not know the film's color matrix \(matrix)"
        }
    }
}
