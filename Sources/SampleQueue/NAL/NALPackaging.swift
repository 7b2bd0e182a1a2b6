/// The two ways to put NAL units one after the other: start codes, as broadcasts and raw files do, and length prefixes, as MP4
/// and Matroska do.
public enum NALPackaging: Sendable, Hashable {
    /// `00 00 00 01` before each unit (H.264 and HEVC annex B).
    case startCodes
    /// A big-endian length of 1, 2 or 4 bytes before each unit (ISO/IEC 14496-15).
    case lengthPrefixes(byteCount: Int)

    public static let startCode: [UInt8] = [0, 0, 0, 1]

    /// The packaging of samples with this configuration record (`avcC`, `hvcC`); start codes for anything else.
    public init(configuration: [UInt8], codec: NALCodec) {
        let place = codec == .h264 ? 4 : 21
        if configuration.count > place, configuration[0] == 1 {
            self = .lengthPrefixes(byteCount: Int(configuration[place] & 3) + 1)
        } else {
            self = .startCodes
        }
    }

    /// The units of a sample, without start codes or lengths.
    ///
    /// A damaged sample yields what is whole: a length that reaches past the end ends it.
    public func units(in bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
        var units: [[UInt8]] = []
        switch self {
        case .startCodes:
            var scanner = NALUnitScanner()
            unsafe scanner.append(bytes) { units.append($0) }
            scanner.finish { units.append($0) }
        case .lengthPrefixes(let size):
            var position = 0
            while bytes.count - position >= size {
                var length = 0
                for _ in 0..<size {
                    length = unsafe length << 8 | Int(bytes[position])
                    position += 1
                }
                guard length <= bytes.count - position else { break }
                if length > 0 { unsafe units.append(Array(bytes[position..<position + length])) }
                position += length
            }
        }
        return units
    }

    public func units(in bytes: [UInt8]) -> [[UInt8]] { unsafe bytes.withUnsafeBytes { unsafe units(in: $0) } }

    /// Puts units one after the other; nil when one is too long for its length prefix.
    public func pack(_ units: [[UInt8]]) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(units.reduce(0) { $0 + $1.count + 4 })
        for unit in units {
            guard append(unit, to: &bytes) else { return nil }
        }
        return bytes
    }

    /// The same units in another packaging; nil when one is too long for its length prefix.
    public func convert(_ bytes: [UInt8], to other: NALPackaging) -> [UInt8]? { other.pack(units(in: bytes)) }

    func append(_ unit: [UInt8], to bytes: inout [UInt8]) -> Bool {
        switch self {
        case .startCodes: bytes += Self.startCode
        case .lengthPrefixes(let size):
            precondition(size >= 1 && size <= 4, "a length prefix has 1 to 4 bytes")
            guard unit.count >> (8 * size) == 0 else { return false }
            for index in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: unit.count >> (8 * index))) }
        }
        bytes += unit
        return true
    }
}
