internal import Media

/// One picture's NAL units and what they say about it.
struct AccessUnit: Sendable {
    var units: [[UInt8]] = []
    var hasPicture = false
    /// Decoding can begin here: an instantaneous refresh, a random access picture or a recovery point.
    var isSync = false
    /// No later picture refers to it.
    var isDroppable = true
    /// One field of a frame.
    var isField = false
    /// What the sequence parameter set in force says; the fallback until one has come.
    var format: VideoFormat?
    /// The sets in force.
    var sets: ParameterSets?
}

/// Decides where one access unit ends and the next begins (H.264 7.4.1.2.3 and 7.4.1.2.4, HEVC 7.4.2.4.4).
///
/// A pure value: units in, whole access units out. The packaging of a slice needs the parameter sets that came before, so
/// it keeps these.
struct AccessUnitAssembler: Sendable {
    let codec: NALCodec
    /// Every parameter set in force, by its number; the raw units for `ParameterSets`.
    private(set) var sets: ParameterSets
    private var current = AccessUnit()
    /// Bytes in the current unit.
    private var byteCount = 0
    /// Units that belong to the next access unit if the next slice begins one.
    private var undecided: [[UInt8]] = []
    private var format: VideoFormat?

    private var sequences: [Int: H264SequenceParameters] = [:]
    private var pictures: [Int: H264PictureParameters] = [:]
    /// Whose facts `format` holds.
    private var described: H264SequenceParameters?
    private var lastSlice: H264SliceHeader?
    private var hasFirstMacroblock = false

    private var hevcSequences: [Int: HEVCSequenceParameters] = [:]
    private var hevcPictures: [Int: Int] = [:]
    private var describedHEVC: HEVCSequenceParameters?
    private var isBehindVideo = false

    /// The parts of an access unit beyond this are dropped: 128 MiB is more than any level's picture.
    private static let maximumBytes = 128 << 20

    init(codec: NALCodec) {
        self.codec = codec
        sets = ParameterSets(codec: codec, sequence: [], picture: [])
    }

    /// Takes the next NAL unit; the result is the access unit that ended before it.
    mutating func add(_ unit: [UInt8]) -> AccessUnit? {
        unit.count <= codec.headerBytes && codec == .hevc ? nil : codec == .h264 ? addH264(unit) : addHEVC(unit)
    }

    /// The stream is over: the last access unit.
    mutating func finish() -> AccessUnit? {
        for unit in undecided { append(unit) }
        undecided = []
        return end()
    }

    private mutating func append(_ unit: [UInt8]) {
        guard byteCount + unit.count <= Self.maximumBytes else { return }
        byteCount += unit.count
        current.units.append(unit)
    }

    /// Closes the current access unit; nil, and nothing closed, while it has no picture.
    private mutating func end() -> AccessUnit? {
        guard current.hasPicture else { return nil }
        current.format = format
        current.sets = sets
        defer {
            current = AccessUnit()
            byteCount = 0
            lastSlice = nil
            hasFirstMacroblock = false
            isBehindVideo = false
        }
        return current
    }

    // MARK: H.264

    private mutating func addH264(_ unit: [UInt8]) -> AccessUnit? {
        switch codec.type(of: unit) {
        case H264UnitType.slice, H264UnitType.partitionA, H264UnitType.idr: return addSlice(unit)
        case H264UnitType.prefix:
            // It precedes every slice of a layered stream; the slice decides.
            guard current.hasPicture else { break }
            if undecided.count < 64 { undecided.append(unit) }
            return nil
        case H264UnitType.sei...H264UnitType.delimiter, H264UnitType.prefix + 1...H264UnitType.lastReserved:
            let ended = end()
            keepH264(unit)
            append(unit)
            return ended
        default: break
        }
        append(unit)
        return nil
    }

    private mutating func addSlice(_ unit: [UInt8]) -> AccessUnit? {
        let header = H264SliceHeader(unit: unit, pictures: pictures, sequences: sequences)
        let ended = begins(header, unit) ? end() : nil
        for unit in undecided { append(unit) }
        undecided = []
        append(unit)
        current.hasPicture = true
        guard let header, header.redundancy == 0 else { return ended }
        lastSlice = header
        if header.firstMacroblock == 0, header.colorPlane == 0 { hasFirstMacroblock = true }
        if header.isIDR { current.isSync = true }
        if header.isReference { current.isDroppable = false }
        if header.isField { current.isField = true }
        if let sequence = sequences[header.sequence], sequence != described {
            described = sequence
            format = VideoFormat(sequence)
        }
        return ended
    }

    private func begins(_ header: H264SliceHeader?, _ unit: [UInt8]) -> Bool {
        guard current.hasPicture else { return false }
        guard let header else {
            // Without its parameter sets only the place of the slice speaks: first_mb_in_slice 0 is written as one bit.
            return unit.count > 1 && unit[1] & 0x80 != 0
        }
        guard header.redundancy == 0 else { return false }
        guard let lastSlice else { return header.firstMacroblock == 0 }
        // Encoders that repeat idr_pic_id make pictures that look alike; but none has two beginnings.
        return header.beginsPicture(after: lastSlice)
            || (header.firstMacroblock == 0 && header.colorPlane == 0 && hasFirstMacroblock)
    }

    private mutating func keepH264(_ unit: [UInt8]) {
        switch codec.type(of: unit) {
        case H264UnitType.sequence:
            guard let facts = H264SequenceParameters(unit: unit) else { return }
            sequences[facts.identifier] = facts
            replace(&sets.sequence, unit) { H264SequenceParameters(unit: $0)?.identifier == facts.identifier }
        case H264UnitType.picture:
            guard let facts = H264PictureParameters(unit: unit) else { return }
            pictures[facts.identifier] = facts
            replace(&sets.picture, unit) { H264PictureParameters(unit: $0)?.identifier == facts.identifier }
        case H264UnitType.sei:
            if Self.hasRecoveryPoint(unit) { current.isSync = true }
        default: break
        }
    }

    /// Whether an SEI unit holds a recovery point message (D.1.8), where open groups of pictures begin.
    private static func hasRecoveryPoint(_ unit: [UInt8]) -> Bool {
        var bits = BitReader(unit: unit, headerBytes: 1)
        while bits.bitsLeft >= 24 {
            var numbers = [0, 0]
            for index in 0..<2 {
                var byte = bits.bits(8)
                while byte == 255 {
                    numbers[index] += 255
                    byte = bits.bits(8)
                }
                numbers[index] += Int(byte)
            }
            if numbers[0] == 6 { return true }
            bits.skip(numbers[1] * 8)
        }
        return false
    }

    // MARK: HEVC

    private mutating func addHEVC(_ unit: [UInt8]) -> AccessUnit? {
        let type = codec.type(of: unit)
        let layer = (unit[0] & 1) << 5 | unit[1] >> 3
        guard layer == 0 else {
            append(unit)
            return nil
        }
        switch type {
        case 0...HEVCUnitType.lastVideo:
            let isFirst = unit[2] & 0x80 != 0
            let ended = isFirst ? end() : nil
            append(unit)
            describeHEVC(unit, type: type, isFirst: isFirst)
            return ended
        case HEVCUnitType.video...HEVCUnitType.delimiter, HEVCUnitType.prefixSEI, 41...44, 48...55:
            let ended = isBehindVideo ? end() : nil
            keepHEVC(unit, type: type)
            append(unit)
            return ended
        default:
            append(unit)
            return nil
        }
    }

    private mutating func describeHEVC(_ unit: [UInt8], type: UInt8, isFirst: Bool) {
        current.hasPicture = true
        isBehindVideo = true
        guard isFirst else { return }
        current.isSync = type >= HEVCUnitType.firstRandomAccess && type <= HEVCUnitType.lastRandomAccess
        var bits = BitReader(unit: unit, headerBytes: 2, limit: 16)
        bits.skip(current.isSync ? 2 : 1)
        let sequence = hevcPictures[Int(bits.unsigned())].flatMap { hevcSequences[$0] }
        // Sub-layer non-reference pictures have even types below 16; only those of the highest layer are needed by nobody.
        let layer = Int(unit[1] & 7)
        current.isDroppable = type < 16 && type & 1 == 0 && layer == sequence?.temporalLayers
        if let sequence, sequence != describedHEVC {
            describedHEVC = sequence
            format = VideoFormat(sequence)
        }
    }

    private mutating func keepHEVC(_ unit: [UInt8], type: UInt8) {
        switch type {
        case HEVCUnitType.video:
            replace(&sets.video, unit) { $0.count > 2 && $0[2] >> 4 == unit[2] >> 4 }
        case HEVCUnitType.sequence:
            guard let facts = HEVCSequenceParameters(unit: unit) else { return }
            hevcSequences[facts.identifier] = facts
            replace(&sets.sequence, unit) { HEVCSequenceParameters(unit: $0)?.identifier == facts.identifier }
        case HEVCUnitType.picture:
            var bits = BitReader(unit: unit, headerBytes: 2, limit: 16)
            let identifier = bits.unsigned(atMost: 63), sequence = bits.unsigned(atMost: 15)
            guard !bits.isExhausted else { return }
            hevcPictures[identifier] = sequence
            replace(&sets.picture, unit) {
                var bits = BitReader(unit: $0, headerBytes: 2, limit: 16)
                return bits.unsigned(atMost: 63) == identifier
            }
        default: break
        }
    }

    /// Puts `unit` in the place of the set with the same number.
    private func replace(_ list: inout [[UInt8]], _ unit: [UInt8], _ isSame: ([UInt8]) -> Bool) {
        if list.contains(unit) { return }
        if let index = list.firstIndex(where: isSame) { list[index] = unit } else { list.append(unit) }
    }
}
