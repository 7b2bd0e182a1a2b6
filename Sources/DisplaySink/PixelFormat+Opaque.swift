package import Media

extension PixelFormat {
    /// The kernel's code to show frames of this format without alpha: film is opaque, and displays assume premultiplied alpha.
    package var opaqueFourCC: FourCC? {
        switch self {
        case .bgra: FourCC("XR24")
        case .rgba: FourCC("XB24")
        case .argb: FourCC("BX24")
        case .abgr: FourCC("RX24")
        // Displays treat formats with one component as red.
        case .gray: nil
        default: fourCC
        }
    }
}
