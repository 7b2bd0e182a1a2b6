internal import Media

/// What is remembered of an H.264 stream to tell its frames apart.
struct H264State: Sendable {
    var sequences: [Int: H264SequenceParameters] = [:]
    var pictures: [Int: H264PictureParameters] = [:]
    /// The sequence parameter set that the format was made from.
    var described: H264SequenceParameters?
    var lastSlice: H264SliceHeader?
    var hasFirstMacroblock = false
    /// Packed units that belong to the next access unit if the next slice begins one.
    var undecided: [UInt8] = []

    mutating func beginAccessUnit() {
        lastSlice = nil
        hasFirstMacroblock = false
    }
}

extension AccessUnitAssembler {
    /// The most bytes of prefix units before one slice; a unit has 4 bytes or a few more.
    private static let maximumUndecidedBytes = 4096
    /// Supplemental information is searched no further.
    private static let searchedBytes = 65_536

    mutating func addH264(_ unit: Span<UInt8>) -> AccessUnit? {
        switch codec.type(of: unit) {
        case H264UnitType.slice, H264UnitType.partitionA, H264UnitType.idr: return addSlice(unit)
        case H264UnitType.prefix:
            // It precedes every slice of a layered stream; the slice decides.
            guard current.hasPicture else { break }
            if h264.undecided.count + unit.count > Self.maximumUndecidedBytes || !packaging.append(unit, to: &h264.undecided) { addMissing() }
            return nil
        case H264UnitType.sei...H264UnitType.delimiter, H264UnitType.prefix + 1...H264UnitType.lastReserved:
            let ended = end()
            appendUndecided()
            keepH264(unit)
            append(unit)
            return ended
        default: break
        }
        append(unit)
        return nil
    }

    mutating func appendUndecided() {
        guard !h264.undecided.isEmpty else { return }
        if current.bytes.count + h264.undecided.count <= Self.maximumBytes { current.bytes += h264.undecided } else { addMissing() }
        h264.undecided.removeAll(keepingCapacity: true)
    }

    private mutating func addSlice(_ unit: Span<UInt8>) -> AccessUnit? {
        let header = H264SliceHeader(unit: unit, pictures: h264.pictures, sequences: h264.sequences)
        let ended = begins(header, unit) ? end() : nil
        appendUndecided()
        append(unit)
        current.hasPicture = true
        guard let header, header.redundancy == 0 else { return ended }
        h264.lastSlice = header
        if header.firstMacroblock == 0, header.colorPlane == 0 { h264.hasFirstMacroblock = true }
        if header.isIDR { current.isSync = true }
        if header.isReference { current.isDroppable = false }
        if header.isField { current.isField = true }
        if let sequence = h264.sequences[header.sequence], sequence != h264.described {
            h264.described = sequence
            format = VideoFormat(sequence)
        }
        return ended
    }

    private func begins(_ header: H264SliceHeader?, _ unit: Span<UInt8>) -> Bool {
        guard current.hasPicture else { return false }
        guard let header else {
            // Without its parameter sets only the place of the slice is known: first_mb_in_slice 0 is written as one bit.
            return unit.count > 1 && unit[1] & 0x80 != 0
        }
        guard header.redundancy == 0 else { return false }
        guard let lastSlice = h264.lastSlice else { return header.firstMacroblock == 0 }
        // Two frames look alike when an encoder repeats idr_pic_id; a second first slice shows that a new frame begins.
        return header.beginsPicture(after: lastSlice)
            || (header.firstMacroblock == 0 && header.colorPlane == 0 && h264.hasFirstMacroblock)
    }

    private mutating func keepH264(_ unit: Span<UInt8>) {
        switch codec.type(of: unit) {
        case H264UnitType.sequence where unit.count <= Self.maximumSetBytes:
            let unit = Array(unit)
            guard let facts = H264SequenceParameters(unit: unit) else { return }
            h264.sequences[facts.identifier] = facts
            Self.replace(&sets.sequence, unit) { H264SequenceParameters(unit: $0)?.identifier == facts.identifier }
        case H264UnitType.picture where unit.count <= Self.maximumSetBytes:
            let unit = Array(unit)
            guard let facts = H264PictureParameters(unit: unit) else { return }
            h264.pictures[facts.identifier] = facts
            Self.replace(&sets.picture, unit) { H264PictureParameters(unit: $0)?.identifier == facts.identifier }
        case H264UnitType.sei:
            if Self.hasRecoveryPoint(unit) { current.isSync = true }
        default: break
        }
    }

    /// Whether an SEI unit holds a recovery point message (D.1.8), where open groups of frames begin.
    private static func hasRecoveryPoint(_ unit: Span<UInt8>) -> Bool {
        var bits = BitReader(unit: unit, headerBytes: 1, limit: searchedBytes)
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
}
