internal import Media

/// What an HEVC video parameter set says (7.3.2.1) about the rate of the frames, for streams whose sequence parameter sets do not say it.
struct HEVCVideoParameters: Sendable, Hashable {
    var identifier: Int
    var usability = VideoUsability()

    var frameRate: Ratio { usability.frameRateOfPictures }

    /// nil when the bytes are no such set.
    /// - Parameter unit: the whole NAL unit, type 32.
    init?(unit: [UInt8]) {
        guard unit.count >= 3, NALCodec.hevc.type(of: unit) == HEVCUnitType.video else { return nil }
        var bits = BitReader(unit: unit.span, headerBytes: 2)
        identifier = Int(bits.bits(4))
        bits.skip(8)
        let temporalLayers = min(Int(bits.bits(3)), 6) + 1
        bits.skip(17)
        bits.skip(96)
        Self.skipSubLayers(temporalLayers, &bits)
        for _ in 0..<(bits.bit() ? temporalLayers : 1) { for _ in 0..<3 { _ = bits.unsigned() } }
        let layers = Int(bits.bits(6)) + 1
        bits.skip(bits.unsigned(atMost: 1023) * layers)
        // The rest is optional for us: a set that breaks off in it is used nevertheless.
        if bits.bit() { usability.readTick(&bits) }
    }

    /// `profile_tier_level` (7.3.3) behind the general part, as sequence parameter sets have it too.
    static func skipSubLayers(_ temporalLayers: Int, _ bits: inout BitReader) {
        guard temporalLayers > 1 else { return }
        let present = (1..<temporalLayers).map { _ in (bits.bit(), bits.bit()) }
        bits.skip(2 * (9 - temporalLayers))
        for (hasProfile, hasLevel) in present { bits.skip((hasProfile ? 88 : 0) + (hasLevel ? 8 : 0)) }
    }
}
