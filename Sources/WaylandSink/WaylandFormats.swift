internal import DisplaySink
internal import Media

/// What a picture's memory is called in Wayland, and whether a compositor would show it in the right colours.
enum WaylandFormats {
    /// The kernel's code for showing pictures of this format.
    static func code(_ format: PixelFormat) -> UInt32? { format.opaqueFourCC?.rawValue }

    /// `wl_shm`'s code: the kernel's, but for the two formats that every compositor takes.
    static func shmCode(_ code: UInt32) -> UInt32 {
        code == FourCC("AR24").rawValue ? 0 : code == FourCC("XR24").rawValue ? 1 : code
    }

    /// How YCbCr is to be read, in numbers of `wp_color_representation_surface_v1`.
    struct Representation: Sendable, Hashable {
        var coefficients: UInt32
        var range: UInt32

        /// nil for what the protocol has no number for.
        ///
        /// - Parameter color: Without gaps.
        init?(_ color: ColorDescription) {
            // H.273's numbers on the left.
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

    /// Where chroma samples sit, in numbers of `wp_color_representation_surface_v1`; nil when the film does not say, and where they sit with
    /// every sample or line of luma.
    static func chromaLocation(_ format: PixelFormat, _ siting: ChromaSiting) -> UInt32? {
        let facts = format.description
        guard facts.model == .yuv, facts.chromaShiftX == 1, facts.chromaShiftY == 1, siting != .unspecified else { return nil }
        return UInt32(siting.rawValue)
    }

    /// What light code values mean, in numbers of `wp_color_manager_v1`.
    struct Light: Sendable, Hashable {
        var primaries: UInt32
        /// The transfer function that says it, and the one next to it.
        var transfer: UInt32
        var otherTransfer: UInt32?
        /// Of the display that the film was graded on.
        var hdr: HDRStaticMetadata?

        /// nil for what needs no word, or has none: compositors take what they are told nothing of for BT.709's primaries and a usual
        /// display's curve. A word would keep such film from being scanned out.
        ///
        /// - Parameter color: Without gaps.
        init?(_ color: ColorDescription, hdr: HDRStaticMetadata?) {
            // H.273's numbers on the left.
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
            // BT.1886; a display of gamma 2.2 is next to it.
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

        /// Coded by PQ or HLG.
        var isHDR: Bool { transfer == 11 || transfer == 13 }
    }

    /// All that a compositor is told of a picture's colors.
    struct Told: Sendable, Hashable {
        /// nil for RGB, and where the compositor cannot be told.
        var representation: Representation?
        /// Only together with `representation`.
        var chromaLocation: UInt32?
        var light: Light?
    }

    /// Why the compositor would get the colours of a picture wrong if it read the memory itself; nil when it would not, or not so that a
    /// copy would be worth it.
    ///
    /// A compositor that can be told how YCbCr is to be read is told. The others take all of it for limited range and for one of the two
    /// usual matrices; those that know one only know that of BT.601.
    ///
    /// - Parameters:
    ///   - color: Without gaps.
    ///   - understood: What the compositor can be told.
    ///   - isExact: Take BT.709 for an obstacle too where it cannot be told.
    static func colorObstacle(
        _ format: PixelFormat, _ color: ColorDescription, understood: Set<Representation>, isExact: Bool
    ) -> String? {
        guard format.description.model == .yuv else { return nil }
        if let representation = Representation(color), understood.contains(representation) { return nil }
        if color.range == .full { return "the compositor takes YUV for limited range and the film has full range" }
        switch color.matrix {
        case 5, 6: return nil
        case 1, 4, 7: return isExact ? "the compositor may take the film's YUV for BT.601's" : nil
        case let matrix: return "the compositor does not know the film's color matrix \(matrix)"
        }
    }
}
