/// Reads numbers of any width from bytes, most significant bit first. It is safe on hostile bytes.
///
/// Behind the last bit it reads zeros and sets `isExhausted`; every loop over a number that was read must have
/// a bound of its own. A pure value.
struct BitReader {
    private let bytes: [UInt8]
    /// Bits already read.
    private(set) var position = 0
    /// A read went past the end: what was read is not to be trusted.
    private(set) var isExhausted = false

    /// Plain bytes.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The payload of a NAL unit: without its header and its emulation prevention bytes (H.264 7.3.1, HEVC 7.3.1.1).
    /// - Parameter limit: at most so many bytes are unpacked; a slice header needs few.
    init(unit: Span<UInt8>, headerBytes: Int, limit: Int = .max) { bytes = Self.payload(of: unit, headerBytes: headerBytes, limit: limit) }

    /// The bytes that `init(unit:headerBytes:limit:)` reads.
    static func payload(of unit: Span<UInt8>, headerBytes: Int, limit: Int = .max) -> [UInt8] {
        var payload: [UInt8] = []
        payload.reserveCapacity(min(unit.count, limit))
        var zeros = 0
        var index = headerBytes
        while index < unit.count, payload.count < limit {
            let byte = unit[index]
            index += 1
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            payload.append(byte)
        }
        return payload
    }

    var bitsLeft: Int { bytes.count * 8 - position }

    mutating func bit() -> Bool {
        guard position < bytes.count * 8 else {
            isExhausted = true
            return false
        }
        defer { position += 1 }
        return bytes[position >> 3] >> (7 - UInt8(position & 7)) & 1 == 1
    }

    /// `u(n)`, at most 32 bits.
    mutating func bits(_ count: Int) -> UInt32 {
        precondition(count >= 0 && count <= 32)
        guard count <= bitsLeft else {
            isExhausted = true
            position = bytes.count * 8
            return 0
        }
        var value: UInt32 = 0
        var left = count
        while left > 0 {
            let free = 8 - position & 7
            let taken = min(free, left)
            let mask: UInt32 = (1 << taken) - 1
            let byte = UInt32(bytes[position >> 3])
            value = value << taken | byte >> (free - taken) & mask
            position += taken
            left -= taken
        }
        return value
    }

    mutating func skip(_ count: Int) {
        if count < 0 || count > bitsLeft {
            isExhausted = true
            position = bytes.count * 8
        } else {
            position += count
        }
    }

    /// `ue(v)`: Exp-Golomb, up to 2³² − 2; what is longer counts as exhausted.
    mutating func unsigned() -> UInt32 {
        var zeros = 0
        while !bit() {
            zeros += 1
            if isExhausted || zeros > 31 {
                isExhausted = true
                return 0
            }
        }
        return zeros == 0 ? 0 : (1 << UInt32(zeros)) - 1 + bits(zeros)
    }

    /// `ue(v)` that must not exceed `limit`; more counts as exhausted.
    mutating func unsigned(atMost limit: Int) -> Int {
        let value = Int(unsigned())
        if value > limit {
            isExhausted = true
            return 0
        }
        return value
    }

    /// `se(v)`.
    mutating func signed() -> Int32 {
        let code = unsigned()
        let magnitude = Int32(bitPattern: code / 2 + (code & 1))
        return code & 1 == 1 ? magnitude : 0 &- magnitude
    }
}
