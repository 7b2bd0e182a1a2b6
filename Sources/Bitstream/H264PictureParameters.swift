/// What an H.264 picture parameter set says about reading slice headers (7.3.2.2).
struct H264PictureParameters: Sendable, Hashable {
    var identifier: Int
    var sequence: Int
    /// `bottom_field_pic_order_in_frame_present_flag`.
    var hasBottomOrder: Bool
    var hasRedundantPictures = false

    /// - Parameter unit: the whole NAL unit, type 8.
    init?(unit: [UInt8]) {
        guard unit.count >= 2, unit[0] & 0x1f == H264UnitType.picture else { return nil }
        var bits = BitReader(unit: unit.span, headerBytes: 1)
        identifier = bits.unsigned(atMost: 255)
        sequence = bits.unsigned(atMost: 31)
        bits.skip(1)
        hasBottomOrder = bits.bit()
        Self.skipSliceGroups(&bits)
        _ = bits.unsigned(atMost: 31)
        _ = bits.unsigned(atMost: 31)
        bits.skip(3)
        for _ in 0..<3 { _ = bits.signed() }
        bits.skip(2)
        hasRedundantPictures = bits.bit()
        guard !bits.isExhausted else { return nil }
    }

    private static func skipSliceGroups(_ bits: inout BitReader) {
        let groups = bits.unsigned(atMost: 7)
        guard groups > 0 else { return }
        switch bits.unsigned(atMost: 6) {
        case 0: for _ in 0...groups { _ = bits.unsigned() }
        case 2: for _ in 0..<2 * groups { _ = bits.unsigned() }
        case 3...5:
            bits.skip(1)
            _ = bits.unsigned()
        case 6:
            // One number for each map unit; 2²⁰ is more than a frame of any level has.
            let units = bits.unsigned(atMost: 1 << 20) + 1
            bits.skip(units * (groups > 3 ? 3 : groups > 1 ? 2 : 1))
        default: break
        }
    }
}

/// The beginning of an H.264 slice header (7.3.3): what shows that a new frame or field begins.
struct H264SliceHeader: Sendable, Hashable {
    var unitType: UInt8
    var isReference: Bool
    var firstMacroblock: UInt32
    var pictureParameters: Int
    var sequence: Int
    var colorPlane: UInt32 = 0
    var frameNumber: UInt32 = 0
    var isField = false
    var isBottomField = false
    var idrIdentifier: UInt32 = 0
    var orderCount: UInt32 = 0
    var bottomDelta: Int32 = 0
    var deltas: [Int32] = [0, 0]
    var redundancy: UInt32 = 0

    var isIDR: Bool { unitType == H264UnitType.idr }

    /// nil when the sets it refers to have not been seen, or when it is damaged.
    init?(unit: Span<UInt8>, pictures: [Int: H264PictureParameters], sequences: [Int: H264SequenceParameters]) {
        guard unit.count > 0 else { return nil }
        unitType = unit[0] & 0x1f
        isReference = unit[0] & 0x60 != 0
        // 48 bytes hold every field below at its longest.
        var bits = BitReader(unit: unit, headerBytes: 1, limit: 48)
        firstMacroblock = bits.unsigned()
        _ = bits.unsigned()
        pictureParameters = bits.unsigned(atMost: 255)
        guard !bits.isExhausted, let picture = pictures[pictureParameters], let stream = sequences[picture.sequence] else { return nil }
        sequence = picture.sequence
        if stream.hasSeparateColorPlanes { colorPlane = bits.bits(2) }
        frameNumber = bits.bits(stream.frameNumberBits)
        if !stream.isFrameOnly {
            isField = bits.bit()
            if isField { isBottomField = bits.bit() }
        }
        if isIDR { idrIdentifier = bits.unsigned() }
        if stream.orderCountType == 0 {
            orderCount = bits.bits(stream.orderCountBits)
            if picture.hasBottomOrder, !isField { bottomDelta = bits.signed() }
        } else if stream.orderCountType == 1, !stream.isDeltaAlwaysZero {
            deltas[0] = bits.signed()
            if picture.hasBottomOrder, !isField { deltas[1] = bits.signed() }
        }
        if picture.hasRedundantPictures { redundancy = bits.unsigned() }
        guard !bits.isExhausted else { return nil }
    }

    /// Whether this slice belongs to another primary coded picture than `previous` (7.4.1.2.4).
    func beginsPicture(after previous: H264SliceHeader) -> Bool {
        frameNumber != previous.frameNumber || pictureParameters != previous.pictureParameters || sequence != previous.sequence
            || isField != previous.isField || isBottomField != previous.isBottomField || isReference != previous.isReference
            || isIDR != previous.isIDR || (isIDR && idrIdentifier != previous.idrIdentifier) || orderCount != previous.orderCount
            || bottomDelta != previous.bottomDelta || deltas != previous.deltas
    }
}
