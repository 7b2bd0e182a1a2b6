internal import Media

/// What a picture's memory is called in Wayland, and whether a compositor would show it in the right colours.
enum WaylandFormats {
    /// The kernel's code for showing pictures of this format, alpha left out: film is opaque, and a compositor would take
    /// its alpha for multiplied in.
    static func code(_ format: PixelFormat) -> UInt32? {
        switch format {
        case .bgra: FourCC("XR24").rawValue
        case .rgba: FourCC("XB24").rawValue
        case .argb: FourCC("BX24").rawValue
        case .abgr: FourCC("RX24").rawValue
        // Compositors take one-component formats for red.
        case .gray: nil
        default: format.fourCC?.rawValue
        }
    }

    /// `wl_shm`'s code: the kernel's, but for the two formats that every compositor takes.
    static func shmCode(_ code: UInt32) -> UInt32 {
        code == FourCC("AR24").rawValue ? 0 : code == FourCC("XR24").rawValue ? 1 : code
    }

    /// Why a compositor, which nobody tells how the picture is coded, would get the colours of this one wrong; nil when it would not.
    ///
    /// Compositors take YUV for limited range and for one of the two usual matrices; those that know one only know that of BT.601.
    ///
    /// - Parameter isExact: Take BT.709 for an obstacle too.
    static func colorObstacle(_ format: PixelFormat, _ color: ColorDescription, size: PixelSize, isExact: Bool) -> String? {
        let facts = format.description
        guard facts.model == .yuv else { return nil }
        if facts.impliesFullRange || color.range == .full { return "the compositor takes YUV for limited range and the film has full range" }
        switch color.resolved(width: size.width, height: size.height).matrix {
        case 5, 6: return nil
        case 1, 4, 7: return isExact ? "the compositor may take the film's YUV for BT.601's" : nil
        case let matrix: return "the compositor does not know the film's color matrix \(matrix)"
        }
    }
}
