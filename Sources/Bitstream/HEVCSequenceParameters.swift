internal import Media

/// What an HEVC sequence parameter set says (7.3.2.2) about size and look of the frames and their order.
struct HEVCSequenceParameters: Sendable, Hashable {
    var identifier = 0
    var videoIdentifier = 0
    /// `general_profile_space` to `general_level_idc`: 12 bytes, which a configuration record repeats.
    var profileTierLevel: [UInt8] = []
    var temporalLayers = 1
    var isTemporallyNested = false
    var chromaFormat = 1
    var lumaDepth = 8
    var chromaDepth = 8
    var codedSize = PixelSize(width: 0, height: 0)
    var visible = PixelRect(x: 0, y: 0, width: 0, height: 0)
    var reorderDepth = 0
    var usability = VideoUsability()

    var profile: UInt8 { profileTierLevel[0] & 0x1f }
    var level: UInt8 { profileTierLevel[11] }
    var frameRate: Ratio { usability.frameRateOfPictures }

    /// nil when the bytes are no such set, or one that no decoder could follow.
    /// - Parameter unit: the whole NAL unit, type 33.
    init?(unit: [UInt8]) {
        guard unit.count >= 3, NALCodec.hevc.type(of: unit) == HEVCUnitType.sequence else { return nil }
        var bits = BitReader(unit: unit.span, headerBytes: 2)
        videoIdentifier = Int(bits.bits(4))
        temporalLayers = min(Int(bits.bits(3)), 6) + 1
        isTemporallyNested = bits.bit()
        profileTierLevel = (0..<12).map { _ in UInt8(bits.bits(8)) }
        HEVCVideoParameters.skipSubLayers(temporalLayers, &bits)
        identifier = bits.unsigned(atMost: 15)
        readSize(&bits)
        lumaDepth = bits.unsigned(atMost: 8) + 8
        chromaDepth = bits.unsigned(atMost: 8) + 8
        let orderBits = bits.unsigned(atMost: 12) + 4
        for _ in 0..<(bits.bit() ? temporalLayers : 1) {
            _ = bits.unsigned(atMost: 15)
            reorderDepth = bits.unsigned(atMost: 15)
            _ = bits.unsigned()
        }
        guard !bits.isExhausted, visible.width > 0, visible.height > 0 else { return nil }
        // The rest is optional for us: a set that breaks off in it is used nevertheless.
        readToUsability(&bits, orderBits: orderBits)
    }

    private mutating func readSize(_ bits: inout BitReader) {
        chromaFormat = bits.unsigned(atMost: 3)
        let hasSeparatePlanes = chromaFormat == 3 && bits.bit()
        // 65535: eight times the highest level's side, and far from overflow.
        codedSize = PixelSize(width: bits.unsigned(atMost: 65535), height: bits.unsigned(atMost: 65535))
        visible = PixelRect(codedSize)
        guard bits.bit() else { return }
        let stepX = (chromaFormat == 1 || chromaFormat == 2) && !hasSeparatePlanes ? 2 : 1
        let stepY = chromaFormat == 1 ? 2 : 1
        let limit = 1 << 20
        let left = bits.unsigned(atMost: limit) * stepX, right = bits.unsigned(atMost: limit) * stepX
        let top = bits.unsigned(atMost: limit) * stepY, bottom = bits.unsigned(atMost: limit) * stepY
        if left + right < codedSize.width, top + bottom < codedSize.height {
            visible = PixelRect(x: left, y: top, width: codedSize.width - left - right, height: codedSize.height - top - bottom)
        }
    }

    private mutating func readToUsability(_ bits: inout BitReader, orderBits: Int) {
        for _ in 0..<6 { _ = bits.unsigned() }
        if bits.bit(), bits.bit() { Self.skipScalingLists(&bits) }
        bits.skip(2)
        if bits.bit() {
            bits.skip(8)
            _ = bits.unsigned()
            _ = bits.unsigned()
            bits.skip(1)
        }
        guard Self.skipReferenceSets(&bits) else { return }
        if bits.bit() {
            let count = bits.unsigned(atMost: 32)
            bits.skip(count * (orderBits + 1))
        }
        bits.skip(2)
        guard bits.bit(), !bits.isExhausted else { return }
        usability.readAspectAndColor(&bits)
        bits.skip(3)
        if bits.bit() { for _ in 0..<4 { _ = bits.unsigned() } }
        if bits.bit() { usability.readTick(&bits) }
    }

    /// `scaling_list_data` (7.3.4).
    private static func skipScalingLists(_ bits: inout BitReader) {
        for size in 0..<4 {
            for _ in 0..<(size == 3 ? 2 : 6) {
                guard bits.bit() else {
                    _ = bits.unsigned()
                    continue
                }
                if size > 1 { _ = bits.signed() }
                for _ in 0..<min(64, 1 << (4 + size * 2)) { _ = bits.signed() }
            }
        }
    }

    /// `num_short_term_ref_pic_sets` and the sets (7.3.7); false when they make no sense.
    private static func skipReferenceSets(_ bits: inout BitReader) -> Bool {
        // Number of reference pictures in each set (NumDeltaPocs), on which the next one's syntax depends; at most 16 by the buffer's size.
        var previous = 0
        for index in 0..<bits.unsigned(atMost: 64) {
            if index > 0, bits.bit() {
                bits.skip(1)
                _ = bits.unsigned()
                var kept = 0
                for _ in 0...previous {
                    let isUsed = bits.bit()
                    if isUsed || bits.bit() { kept += 1 }
                }
                previous = kept
            } else {
                let negative = bits.unsigned(atMost: 16), positive = bits.unsigned(atMost: 16)
                for _ in 0..<negative + positive {
                    _ = bits.unsigned()
                    bits.skip(1)
                }
                previous = negative + positive
            }
            if bits.isExhausted || previous > 32 { return false }
        }
        return !bits.isExhausted
    }
}
