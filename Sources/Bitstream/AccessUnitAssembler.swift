internal import Media

/// One frame's NAL units and what they say about it.
struct AccessUnit: Sendable {
    /// The units, packed.
    var bytes: [UInt8] = []
    var hasPicture = false
    /// Decoding can begin here: an instantaneous refresh, a random access picture or a recovery point.
    var isSync = false
    /// No later frame refers to it.
    var isDroppable = true
    /// One field of a frame.
    var isField = false
    /// A part was too long and is missing.
    var isDamaged = false
    /// What the sequence parameter set in force says; the fallback until one has come.
    var format: VideoFormat?
    /// The sets in force.
    var sets: ParameterSets?
}

/// Decides where one access unit ends and the next begins (H.264 7.4.1.2.3 and 7.4.1.2.4, HEVC 7.4.2.4.4).
///
/// A pure value: units in, whole access units out. Where a frame begins is written in the terms of parameter sets that came
/// before, so it keeps these.
struct AccessUnitAssembler: Sendable {
    let codec: NALCodec
    let packaging: NALPackaging
    /// Every parameter set in force, by its number; the raw units for `ParameterSets`.
    var sets: ParameterSets
    var current = AccessUnit()
    var h264 = H264State()
    var hevc = HEVCState()
    /// What the frame's sequence parameter set says.
    var format: VideoFormat?

    /// The parts of an access unit beyond this are dropped: 64 MiB is several times what any level allows for a frame.
    static let maximumBytes = 64 << 20
    /// A longer unit is no parameter set: a configuration record has no room for it.
    static let maximumSetBytes = 65_535
    /// Bytes made ready for the next access unit, so that it need not grow step by step; longer ones are rare.
    private static let largestReserve = 1 << 20

    init(codec: NALCodec, packaging: NALPackaging) {
        self.codec = codec
        self.packaging = packaging
        sets = ParameterSets(codec: codec, sequence: [], picture: [])
    }

    /// Takes the next NAL unit; the result is the access unit that ended before it.
    mutating func add(_ unit: Span<UInt8>) -> AccessUnit? { codec == .h264 ? addH264(unit) : addHEVC(unit) }

    /// A unit that should stand here is missing.
    mutating func addMissing() { current.isDamaged = true }

    /// The stream is over: the last access unit.
    mutating func finish() -> AccessUnit? {
        appendUndecided()
        return end()
    }

    mutating func append(_ unit: Span<UInt8>) {
        guard current.bytes.count + packaging.prefixBytes + unit.count <= Self.maximumBytes, packaging.append(unit, to: &current.bytes) else {
            current.isDamaged = true
            return
        }
    }

    /// Closes the current access unit; nil, and nothing closed, while it has no frame.
    mutating func end() -> AccessUnit? {
        guard current.hasPicture else { return nil }
        current.format = format
        current.sets = sets
        let ended = current
        current = AccessUnit()
        current.bytes.reserveCapacity(min(ended.bytes.count, Self.largestReserve))
        h264.beginAccessUnit()
        hevc.isBehindVideo = false
        return ended
    }

    /// Puts `unit` in the place of the set with the same number.
    static func replace(_ list: inout [[UInt8]], _ unit: [UInt8], _ isSame: ([UInt8]) -> Bool) {
        if list.contains(unit) { return }
        if let index = list.firstIndex(where: isSame) { list[index] = unit } else { list.append(unit) }
    }
}
