/// The two ways to put NAL units one after the other: start codes, as broadcasts and raw files do, and length prefixes, as MP4
/// and Matroska do.
public enum NALPackaging: Sendable, Hashable {
    /// `00 00 00 01` before each unit (H.264 and HEVC annex B).
    case startCodes
    /// A big-endian length of 1 to 4 bytes before each unit; ISO/IEC 14496-15 allows 1, 2 and 4.
    case lengthPrefixes(byteCount: Int)

    /// The four bytes that `.startCodes` puts before each unit. Streams may also use the last three alone; both are read.
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
    /// A damaged sample yields the whole units before the damage: a length that reaches past the end ends it.
    public func units(in bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
        var units: [[UInt8]] = []
        unsafe forEachUnit(in: bytes) { units.append(Array($0)) }
        return units
    }

    /// The same for bytes in an array.
    public func units(in bytes: [UInt8]) -> [[UInt8]] { unsafe bytes.withUnsafeBytes { unsafe units(in: $0) } }

    /// Puts units one after the other; nil when one is too long for its length prefix.
    public func pack(_ units: [[UInt8]]) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(units.reduce(0) { $0 + $1.count + prefixBytes })
        for unit in units {
            guard append(unit.span, to: &bytes) else { return nil }
        }
        return bytes
    }

    /// The same units in another packaging; nil when one is too long for its length prefix.
    public func convert(_ bytes: [UInt8], to other: NALPackaging) -> [UInt8]? {
        var converted: [UInt8] = []
        converted.reserveCapacity(bytes.count + 64)
        var fits = true
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe forEachUnit(in: bytes) { unit in fits = other.append(unit, to: &converted) && fits }
        }
        return fits ? converted : nil
    }

    /// Bytes before each unit.
    var prefixBytes: Int {
        switch self {
        case .startCodes: Self.startCode.count
        case .lengthPrefixes(let size): size
        }
    }

    /// False, and nothing appended, when the unit is too long for its length prefix.
    func append(_ unit: Span<UInt8>, to bytes: inout [UInt8]) -> Bool {
        switch self {
        case .startCodes: bytes += Self.startCode
        case .lengthPrefixes(let size):
            precondition(size >= 1 && size <= 4, "a length prefix has 1 to 4 bytes")
            guard unit.count >> (8 * size) == 0 else { return false }
            for index in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: unit.count >> (8 * index))) }
        }
        bytes.append(contentsOf: unit)
        return true
    }

    /// Calls `body` with each unit of `units(in:)`, without a copy where it can be had.
    func forEachUnit(in bytes: UnsafeRawBufferPointer, _ body: (Span<UInt8>) -> Void) {
        switch self {
        case .startCodes:
            var scanner = NALUnitScanner()
            unsafe scanner.scan(bytes, unit: body, dropped: {})
            scanner.end(unit: body)
        case .lengthPrefixes(let size):
            precondition(size >= 1 && size <= 4, "a length prefix has 1 to 4 bytes")
            var position = 0
            while bytes.count - position >= size {
                var length = 0
                for _ in 0..<size {
                    length = unsafe length << 8 | Int(bytes[position])
                    position += 1
                }
                guard length <= bytes.count - position else { break }
                if length > 0 { unsafe body(Span(_unsafeBytes: bytes[position..<position + length])) }
                position += length
            }
        }
    }
}
