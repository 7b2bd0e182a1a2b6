internal import Media

/// What parameter sets say about showing the frames: the part of VUI that H.264 (E.1.1) and HEVC (E.2.1) share in meaning.
struct VideoUsability: Sendable, Hashable {
    var pixelAspect = Ratio.unknown
    var color = ColorDescription.unspecified
    /// Seconds in a tick: `num_units_in_tick / time_scale`; unknown when not said.
    var tick = Ratio.unknown

    /// Table E-1 of both standards: width and height of a pixel by `aspect_ratio_idc`.
    private static let aspects: [(Int32, Int32)] = [
        (1, 1), (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11), (64, 33),
        (160, 99), (4, 3), (3, 2), (2, 1),
    ]

    /// Reads from `aspect_ratio_info_present_flag` to the chroma sample location, which both standards write alike.
    mutating func readAspectAndColor(_ bits: inout BitReader) {
        if bits.bit() {
            let index = Int(bits.bits(8))
            if index == 255 {
                let width = Int32(bits.bits(16)), height = Int32(bits.bits(16))
                if width > 0, height > 0 { pixelAspect = Ratio(width, height) }
            } else if index < Self.aspects.count {
                pixelAspect = Ratio(Self.aspects[index].0, Self.aspects[index].1)
            }
        }
        if bits.bit() { bits.skip(1) }  // overscan
        if bits.bit() {
            bits.skip(3)  // video_format
            color.range = bits.bit() ? .full : .limited
            if bits.bit() {
                color.primaries = UInt8(bits.bits(8))
                color.transfer = UInt8(bits.bits(8))
                color.matrix = UInt8(bits.bits(8))
            }
        }
        if bits.bit() {
            let top = bits.unsigned(atMost: 5)
            _ = bits.unsigned(atMost: 5)
            color.chromaSiting = ChromaSiting(rawValue: UInt8(top + 1)) ?? .unspecified
        }
    }

    /// `num_units_in_tick`, `time_scale`.
    mutating func readTick(_ bits: inout BitReader) {
        let units = bits.bits(32), scale = bits.bits(32)
        guard units > 0, scale > 0, !bits.isExhausted else { return }
        let common = Self.greatestCommonDivisor(units, scale)
        if let numerator = Int32(exactly: units / common), let denominator = Int32(exactly: scale / common) {
            tick = Ratio(numerator, denominator)
        }
    }

    /// Frames a second where a tick is a frame's time, as in HEVC (E.3.1).
    var frameRateOfPictures: Ratio { tick.isKnown ? Ratio(tick.denominator, tick.numerator) : .unknown }

    private static func greatestCommonDivisor(_ a: UInt32, _ b: UInt32) -> UInt32 {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }
}
