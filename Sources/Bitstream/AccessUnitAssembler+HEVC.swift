internal import Media

/// What is remembered of an HEVC stream to describe its frames.
struct HEVCState: Sendable {
    var videos: [Int: HEVCVideoParameters] = [:]
    var sequences: [Int: HEVCSequenceParameters] = [:]
    /// The number of each picture parameter set's sequence parameter set.
    var pictures: [Int: Int] = [:]
    /// The sets that the format was made from.
    var described: Description?
    /// A slice of the current access unit has come.
    var isBehindVideo = false

    struct Description: Sendable, Hashable {
        var sequence: HEVCSequenceParameters
        var video: HEVCVideoParameters?
    }
}

extension AccessUnitAssembler {
    mutating func addHEVC(_ unit: Span<UInt8>) -> AccessUnit? {
        // Half a header has no meaning. A whole header without a payload has one: it ends a sequence.
        guard unit.count >= codec.headerBytes else { return nil }
        let type = codec.type(of: unit)
        let layer = (unit[0] & 1) << 5 | unit[1] >> 3
        guard layer == 0 else {
            append(unit)
            return nil
        }
        switch type {
        case 0...HEVCUnitType.lastVideo where unit.count > codec.headerBytes:
            let isFirst = unit[2] & 0x80 != 0
            let ended = isFirst ? end() : nil
            append(unit)
            describeHEVC(unit, type: type, isFirst: isFirst)
            return ended
        case HEVCUnitType.video...HEVCUnitType.delimiter, HEVCUnitType.prefixSEI, 41...44, 48...55:
            let ended = hevc.isBehindVideo ? end() : nil
            if unit.count <= Self.maximumSetBytes { keepHEVC(unit, type: type) }
            append(unit)
            return ended
        default:
            append(unit)
            return nil
        }
    }

    private mutating func describeHEVC(_ unit: Span<UInt8>, type: UInt8, isFirst: Bool) {
        current.hasPicture = true
        hevc.isBehindVideo = true
        guard isFirst else { return }
        current.isSync = type >= HEVCUnitType.firstRandomAccess && type <= HEVCUnitType.lastRandomAccess
        var bits = BitReader(unit: unit, headerBytes: 2, limit: 16)
        bits.skip(current.isSync ? 2 : 1)
        let sequence = hevc.pictures[Int(bits.unsigned())].flatMap { hevc.sequences[$0] }
        // Sub-layer non-reference pictures have even types below 16; no other frame needs those of the highest layer.
        let layer = Int(unit[1] & 7)
        current.isDroppable = type < 16 && type & 1 == 0 && layer == sequence?.temporalLayers
        guard let sequence else { return }
        let description = HEVCState.Description(sequence: sequence, video: hevc.videos[sequence.videoIdentifier])
        if description != hevc.described {
            hevc.described = description
            format = VideoFormat(sequence, description.video)
        }
    }

    private mutating func keepHEVC(_ unit: Span<UInt8>, type: UInt8) {
        switch type {
        case HEVCUnitType.video:
            let unit = Array(unit)
            guard let facts = HEVCVideoParameters(unit: unit) else { return }
            hevc.videos[facts.identifier] = facts
            Self.replace(&sets.video, unit) { HEVCVideoParameters(unit: $0)?.identifier == facts.identifier }
        case HEVCUnitType.sequence:
            let unit = Array(unit)
            guard let facts = HEVCSequenceParameters(unit: unit) else { return }
            hevc.sequences[facts.identifier] = facts
            Self.replace(&sets.sequence, unit) { HEVCSequenceParameters(unit: $0)?.identifier == facts.identifier }
        case HEVCUnitType.picture:
            guard let numbers = Self.numbers(ofPictureSet: unit) else { return }
            hevc.pictures[numbers.picture] = numbers.sequence
            Self.replace(&sets.picture, Array(unit)) { Self.numbers(ofPictureSet: $0.span)?.picture == numbers.picture }
        default: break
        }
    }

    /// `pps_pic_parameter_set_id`, `pps_seq_parameter_set_id` (7.3.2.3).
    private static func numbers(ofPictureSet unit: Span<UInt8>) -> (picture: Int, sequence: Int)? {
        var bits = BitReader(unit: unit, headerBytes: 2, limit: 16)
        let picture = bits.unsigned(atMost: 63), sequence = bits.unsigned(atMost: 15)
        return bits.isExhausted ? nil : (picture, sequence)
    }
}
