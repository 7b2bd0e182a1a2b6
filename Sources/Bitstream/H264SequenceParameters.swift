internal import Media

/// What an H.264 sequence parameter set says (7.3.2.1.1): the size and look of the frames, and how their slice headers are written.
struct H264SequenceParameters: Sendable, Hashable {
    var identifier = 0
    var profile: UInt8 = 0
    /// `constraint_set0_flag` in the highest bit.
    var constraints: UInt8 = 0
    var level: UInt8 = 0
    var chromaFormat = 1
    var hasSeparateColorPlanes = false
    var lumaDepth = 8
    var chromaDepth = 8
    var frameNumberBits = 4
    var orderCountType = 0
    var orderCountBits = 4
    var isDeltaAlwaysZero = false
    var referenceFrames = 0
    var isFrameOnly = true
    var codedSize = PixelSize(width: 0, height: 0)
    var visible = PixelRect(x: 0, y: 0, width: 0, height: 0)
    var usability = VideoUsability()
    /// `max_num_reorder_frames`, where said.
    var statedReorderDepth: Int?

    /// nil when the bytes are no such set, or one that no decoder could follow.
    /// - Parameter unit: the whole NAL unit, type 7.
    init?(unit: [UInt8]) {
        guard unit.count >= 4, unit[0] & 0x1f == H264UnitType.sequence else { return nil }
        var bits = BitReader(unit: unit.span, headerBytes: 1)
        profile = UInt8(bits.bits(8))
        constraints = UInt8(bits.bits(8))
        level = UInt8(bits.bits(8))
        identifier = bits.unsigned(atMost: 31)
        if Self.profilesWithChroma.contains(profile) { readChroma(&bits) }
        frameNumberBits = bits.unsigned(atMost: 12) + 4
        orderCountType = bits.unsigned(atMost: 2)
        if orderCountType == 0 {
            orderCountBits = bits.unsigned(atMost: 12) + 4
        } else if orderCountType == 1 {
            isDeltaAlwaysZero = bits.bit()
            _ = bits.signed()
            _ = bits.signed()
            for _ in 0..<bits.unsigned(atMost: 255) { _ = bits.signed() }
        }
        referenceFrames = bits.unsigned(atMost: 32)
        bits.skip(1)
        readSize(&bits)
        guard !bits.isExhausted, visible.width > 0, visible.height > 0 else { return nil }
        // The rest is optional for us: a set that breaks off in it is used nevertheless.
        if bits.bit() { readUsability(&bits) }
    }

    private static let profilesWithChroma: Set<UInt8> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

    private mutating func readChroma(_ bits: inout BitReader) {
        chromaFormat = bits.unsigned(atMost: 3)
        if chromaFormat == 3 { hasSeparateColorPlanes = bits.bit() }
        lumaDepth = bits.unsigned(atMost: 6) + 8
        chromaDepth = bits.unsigned(atMost: 6) + 8
        bits.skip(1)
        guard bits.bit() else { return }
        for list in 0..<(chromaFormat == 3 ? 12 : 8) where bits.bit() {
            var last: Int32 = 8, next: Int32 = 8
            for _ in 0..<(list < 6 ? 16 : 64) {
                if next != 0 { next = (last &+ bits.signed()) & 0xff }
                if next != 0 { last = next }
            }
        }
    }

    private mutating func readSize(_ bits: inout BitReader) {
        // 16384: more than any level allows, and far from overflow.
        let columns = bits.unsigned(atMost: 16383) + 1, rows = bits.unsigned(atMost: 16383) + 1
        isFrameOnly = bits.bit()
        if !isFrameOnly { bits.skip(1) }
        bits.skip(1)
        codedSize = PixelSize(width: columns * 16, height: rows * 16 * (isFrameOnly ? 1 : 2))
        visible = PixelRect(codedSize)
        guard bits.bit() else { return }
        let hasChroma = chromaFormat != 0 && !hasSeparateColorPlanes
        let stepX = hasChroma && chromaFormat < 3 ? 2 : 1
        let stepY = (hasChroma && chromaFormat == 1 ? 2 : 1) * (isFrameOnly ? 1 : 2)
        let limit = 1 << 20
        let left = bits.unsigned(atMost: limit) * stepX, right = bits.unsigned(atMost: limit) * stepX
        let top = bits.unsigned(atMost: limit) * stepY, bottom = bits.unsigned(atMost: limit) * stepY
        // A crop of everything is an error of the encoder's; players show the whole frame then.
        if left + right < codedSize.width, top + bottom < codedSize.height {
            visible = PixelRect(x: left, y: top, width: codedSize.width - left - right, height: codedSize.height - top - bottom)
        }
    }

    private mutating func readUsability(_ bits: inout BitReader) {
        usability.readAspectAndColor(&bits)
        if bits.bit() {
            usability.readTick(&bits)
            bits.skip(1)
        }
        let hasNALTiming = bits.bit()
        if hasNALTiming { Self.skipBufferTiming(&bits) }
        let hasVideoTiming = bits.bit()
        if hasVideoTiming { Self.skipBufferTiming(&bits) }
        if hasNALTiming || hasVideoTiming { bits.skip(1) }
        bits.skip(1)
        guard bits.bit() else { return }
        bits.skip(1)
        for _ in 0..<4 { _ = bits.unsigned() }
        let depth = bits.unsigned(atMost: 16)
        _ = bits.unsigned(atMost: 16)
        if !bits.isExhausted { statedReorderDepth = depth }
    }

    /// `hrd_parameters` (E.1.2).
    private static func skipBufferTiming(_ bits: inout BitReader) {
        let count = bits.unsigned(atMost: 31) + 1
        bits.skip(8)
        for _ in 0..<count {
            _ = bits.unsigned()
            _ = bits.unsigned()
            bits.skip(1)
        }
        bits.skip(20)
    }

    /// Frames a second: two ticks a frame (E.2.1).
    var frameRate: Ratio {
        let tick = usability.tick
        guard tick.isKnown else { return .unknown }
        let (doubled, overflow) = tick.numerator.multipliedReportingOverflow(by: 2)
        if tick.denominator % 2 == 0 { return Ratio(tick.denominator / 2, tick.numerator) }
        return overflow ? .unknown : Ratio(tick.denominator, doubled)
    }

    /// Frames that a decoder has to hold back to be sure of their order: as stated, else all that fit the level's buffer (A.3.1).
    var reorderDepth: Int {
        if let statedReorderDepth { return statedReorderDepth }
        // Decoding order is the order of showing (8.2.1.3). Not so in Baseline as such: it has no B slices, but frames may change places.
        if orderCountType == 2 { return 0 }
        // Intra-only profiles signal it by a constraint.
        if constraints & 0x10 != 0, [44, 100, 110, 122, 244].contains(profile) { return 0 }
        let macroblocks = codedSize.width / 16 * (codedSize.height / 16)
        return min(max(maximumBufferedMacroblocks / max(macroblocks, 1), 1), 16)
    }

    /// `MaxDpbMbs` of table A-1.
    private var maximumBufferedMacroblocks: Int {
        switch level {
        case 9, 10: 396
        case 11: profile != 100 && constraints & 0x10 != 0 ? 396 : 900
        case 12, 13, 20: 2376
        case 21: 4752
        case 22, 30: 8100
        case 31: 18000
        case 32: 20480
        case 40, 41: 32768
        case 42: 34816
        case 50: 110_400
        case 51, 52: 184_320
        default: 696_320
        }
    }
}
