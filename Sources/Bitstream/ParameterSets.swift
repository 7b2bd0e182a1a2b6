public import Media

/// The parameter sets of an H.264 or HEVC stream: what a decoder must have read before its first frame.
///
/// They travel in three ways: among the frames of a start-code stream, in the configuration record of a container (`avcC`,
/// `hvcC`), and, digested, in a `VideoFormat`. This type translates in every direction. Thread-safety: a value.
public struct ParameterSets: Sendable, Hashable {
    /// The codec of the units, which decides how they are read.
    public var codec: NALCodec
    /// Video parameter sets, as whole NAL units without start code or length. HEVC only.
    public var video: [[UInt8]]
    /// Sequence parameter sets, as whole NAL units.
    public var sequence: [[UInt8]]
    /// Picture parameter sets, as whole NAL units.
    public var picture: [[UInt8]]

    /// Takes sets that are known already, as whole NAL units. It checks nothing.
    public init(codec: NALCodec, video: [[UInt8]] = [], sequence: [[UInt8]], picture: [[UInt8]]) {
        self.codec = codec
        self.video = video
        self.sequence = sequence
        self.picture = picture
    }

    /// The sets among NAL units; other units are passed over.
    public init(codec: NALCodec, units: [[UInt8]]) {
        self.init(codec: codec, sequence: [], picture: [])
        for unit in units { add(unit) }
    }

    /// The sets of a configuration record or of start-code bytes; nil when there is no sequence parameter set in them.
    public init?(codec: NALCodec, configuration: [UInt8]) {
        if configuration.first == 1 {
            self.init(codec: codec, units: Self.units(ofRecord: configuration, codec))
        } else {
            self.init(codec: codec, units: NALPackaging.startCodes.units(in: configuration))
        }
        if sequence.isEmpty { return nil }
    }

    /// The sets that a format carries; nil for other codecs and for formats that carry none.
    public init?(_ format: VideoFormat) {
        guard let codec = NALCodec(format.codec) else { return nil }
        self.init(codec: codec, configuration: format.configuration)
    }

    /// The sets in the order of use.
    public var units: [[UInt8]] { video + sequence + picture }

    /// The sets as the beginning of a start-code stream.
    public var startCodeBytes: [UInt8] { NALPackaging.startCodes.pack(units) ?? [] }

    /// The sets as a `VideoFormat` carries them beside samples in `packaging`: start-code bytes, or a configuration record. Nil where no
    /// record can be made.
    public func configuration(for packaging: NALPackaging) -> [UInt8]? {
        switch packaging {
        case .startCodes: startCodeBytes
        case .lengthPrefixes: configurationRecord
        }
    }

    mutating func add(_ unit: [UInt8]) {
        switch (codec, codec.type(of: unit)) {
        case (.h264, H264UnitType.sequence), (.hevc, HEVCUnitType.sequence): if !sequence.contains(unit) { sequence.append(unit) }
        case (.h264, H264UnitType.picture), (.hevc, HEVCUnitType.picture): if !picture.contains(unit) { picture.append(unit) }
        case (.hevc, HEVCUnitType.video): if !video.contains(unit) { video.append(unit) }
        default: break
        }
    }

    /// The units in an `avcC` (ISO/IEC 14496-15, 5.3.3.1) or `hvcC` (8.3.3.1) record, as far as it is whole.
    private static func units(ofRecord record: [UInt8], _ codec: NALCodec) -> [[UInt8]] {
        var rest = record.dropFirst(codec == .h264 ? 5 : 22)
        var units: [[UInt8]] = []
        func number(_ bytes: Int) -> Int? {
            guard rest.count >= bytes else { return nil }
            defer { rest = rest.dropFirst(bytes) }
            return rest.prefix(bytes).reduce(0) { $0 << 8 | Int($1) }
        }
        func take(_ count: Int) -> Bool {
            for _ in 0..<count {
                guard let length = number(2), length <= rest.count else { return false }
                if length > 0 { units.append(Array(rest.prefix(length))) }
                rest = rest.dropFirst(length)
            }
            return true
        }
        if codec == .h264 {
            if let count = number(1), take(count & 0x1f), let pictures = number(1) { _ = take(pictures) }
        } else if let arrays = number(1) {
            for _ in 0..<arrays { guard number(1) != nil, let count = number(2), take(count) else { break } }
        }
        return units
    }

    /// The configuration record (`avcC`, `hvcC`) that a container would hold, for samples with four-byte lengths; nil when
    /// the sequence parameter set cannot be understood or too many sets are there for it.
    public var configurationRecord: [UInt8]? { codec == .h264 ? h264Record : hevcRecord }

    private var h264Record: [UInt8]? {
        guard let first = sequence.first, let facts = H264SequenceParameters(unit: first), sequence.count < 32, picture.count < 256,
            let sequences = Self.listed(sequence), let pictures = Self.listed(picture)
        else { return nil }
        var record: [UInt8] = [1, facts.profile, facts.constraints, facts.level, 0xff, 0xe0 | UInt8(sequence.count)]
        record += sequences
        record.append(UInt8(picture.count))
        record += pictures
        if ![66, 77, 88].contains(facts.profile) {
            record += [0xfc | UInt8(facts.chromaFormat), 0xf8 | UInt8(facts.lumaDepth - 8), 0xf8 | UInt8(facts.chromaDepth - 8), 0]
        }
        return record
    }

    private var hevcRecord: [UInt8]? {
        guard let first = sequence.first, let facts = HEVCSequenceParameters(unit: first) else { return nil }
        var record: [UInt8] = [1]
        record += facts.profileTierLevel
        // The record states nothing about segmentation, parallelism or frame rate.
        record += [0xf0, 0, 0xfc, 0xfc | UInt8(facts.chromaFormat), 0xf8 | UInt8(facts.lumaDepth - 8), 0xf8 | UInt8(facts.chromaDepth - 8)]
        record += [0, 0, UInt8(facts.temporalLayers) << 3 | (facts.isTemporallyNested ? 4 : 0) | 3]
        let arrays = [(HEVCUnitType.video, video), (HEVCUnitType.sequence, sequence), (HEVCUnitType.picture, picture)].filter { !$0.1.isEmpty }
        record.append(UInt8(arrays.count))
        for (type, units) in arrays {
            guard units.count < 65536, let listed = Self.listed(units) else { return nil }
            // Not marked complete: samples may bring sets of their own.
            record += [type, UInt8(units.count >> 8), UInt8(units.count & 0xff)]
            record += listed
        }
        return record
    }

    private static func listed(_ units: [[UInt8]]) -> [UInt8]? { NALPackaging.lengthPrefixes(byteCount: 2).pack(units) }
}
