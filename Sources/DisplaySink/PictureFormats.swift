package import Media

extension PixelFormat {
    /// The kernel's code for showing pictures of this format, alpha left out: film is opaque, and a display would take its alpha for
    /// multiplied in.
    package var opaqueFourCC: FourCC? {
        switch self {
        case .bgra: FourCC("XR24")
        case .rgba: FourCC("XB24")
        case .argb: FourCC("BX24")
        case .abgr: FourCC("RX24")
        // Displays take one-component formats for red.
        case .gray: nil
        default: fourCC
        }
    }
}
