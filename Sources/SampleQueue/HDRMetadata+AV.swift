internal import CAV
package import Media

extension HDRStaticMetadata {
    /// Mastering display (SMPTE ST 2086) and content light level (CTA-861.3) as libavutil writes them, in the units of HEVC's SEI messages.
    ///
    /// - Parameters:
    ///   - mastering: an `AVMasteringDisplayMetadata`, or nil.
    ///   - light: an `AVContentLightMetadata`, or nil.
    ///   - known: what is known already, for values that neither gives.
    /// - Returns: nil when both are nil.
    package init?(mastering: UnsafeRawPointer?, light: UnsafeRawPointer?, known: HDRStaticMetadata? = nil) {
        if unsafe mastering == nil && light == nil { return nil }
        let nowhere = Chromaticity(x: 0, y: 0)
        self = known ?? HDRStaticMetadata(red: nowhere, green: nowhere, blue: nowhere, white: nowhere, maximumLuminance: 0, minimumLuminance: 0)
        if let display = unsafe mastering?.load(as: AVMasteringDisplayMetadata.self) {
            if display.has_primaries != 0 {
                red = Self.point(display.display_primaries.0)
                green = Self.point(display.display_primaries.1)
                blue = Self.point(display.display_primaries.2)
                white = Self.point(display.white_point)
            }
            if display.has_luminance != 0 {
                maximumLuminance = Self.units(display.max_luminance, 10_000)
                minimumLuminance = Self.units(display.min_luminance, 10_000)
            }
        }
        if let level = unsafe light?.load(as: AVContentLightMetadata.self) {
            maximumContentLightLevel = UInt16(clamping: level.MaxCLL)
            maximumFrameAverageLightLevel = UInt16(clamping: level.MaxFALL)
        }
    }

    private static func units(_ ratio: AVRational, _ scale: Double) -> UInt32 {
        guard ratio.den != 0 else { return 0 }
        return UInt32(clamping: Int((Double(ratio.num) / Double(ratio.den) * scale).rounded()))
    }

    private static func point(_ pair: (AVRational, AVRational)) -> Chromaticity {
        Chromaticity(x: UInt16(clamping: units(pair.0, 50_000)), y: UInt16(clamping: units(pair.1, 50_000)))
    }
}
