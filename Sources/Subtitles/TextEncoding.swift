/// The character set of a text file, by a fixed rule: UTF-8 or UTF-16 where a byte order mark says so; else UTF-8 where all of it is valid; else
/// Windows-1252, of which Latin-1 is a part.
package enum TextEncoding {
    /// The file's text as UTF-8, without a byte order mark.
    package static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { return Array(String(decoding: bytes.dropFirst(3), as: UTF8.self).utf8) }
        if bytes.starts(with: [0xff, 0xfe]) { return utf16(bytes.dropFirst(2)) { UInt16($1) << 8 | UInt16($0) } }
        if bytes.starts(with: [0xfe, 0xff]) { return utf16(bytes.dropFirst(2)) { UInt16($0) << 8 | UInt16($1) } }
        if isUTF8(bytes) { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 8)
        for byte in bytes {
            if byte < 0x80 { result.append(byte) } else { result.append(contentsOf: String(scalar(byte)).utf8) }
        }
        return result
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, _ unit: (UInt8, UInt8) -> UInt16) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var index = bytes.startIndex
        while index + 1 < bytes.endIndex {
            units.append(unit(bytes[index], bytes[index + 1]))
            index += 2
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    /// What Windows-1252 has at a byte above 0x7f. The five bytes that it leaves free are control characters, as in Latin-1.
    private static func scalar(_ byte: UInt8) -> Unicode.Scalar {
        guard byte < 0xa0 else { return Unicode.Scalar(byte) }
        return Unicode.Scalar(table[Int(byte - 0x80)]) ?? Unicode.Scalar(byte)
    }

    private static let table: [UInt32] = [
        0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d, 0x017d, 0x8f,
        0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
    ]
}
