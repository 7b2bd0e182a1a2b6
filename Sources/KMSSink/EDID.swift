/// Reads what a monitor says about itself (VESA E-EDID, CTA-861).
package enum EDID {
    /// The name in the first block's display descriptors; nil when there is none.
    package static func monitorName(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 128 else { return nil }
        for start in stride(from: 54, through: 108, by: 18) where bytes[start..<start + 5].elementsEqual([0, 0, 0, 0xfc, 0]) {
            let text = bytes[start + 5..<start + 18].prefix { $0 != 10 && $0 != 0 }.map { (32..<127).contains($0) ? $0 : 63 }
            var name = String(decoding: text, as: UTF8.self)
            while name.hasSuffix(" ") { name.removeLast() }
            return name.isEmpty ? nil : name
        }
        return nil
    }

    /// Transfer functions and primaries that a monitor supports beyond standard dynamic range.
    package struct ColorSupport: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// SMPTE ST 2084.
        package static let pq = ColorSupport(rawValue: 1)
        /// BT.2100 hybrid log-gamma.
        package static let hlg = ColorSupport(rawValue: 2)
        /// BT.2020 primaries, sent as RGB.
        package static let bt2020 = ColorSupport(rawValue: 4)
    }

    /// What the CTA-861 extension's data blocks announce (7.5.5 Colorimetry, 7.5.13 HDR Static Metadata).
    package static func colorSupport(_ bytes: [UInt8]) -> ColorSupport {
        var colorSupport = ColorSupport()
        for start in stride(from: 128, through: bytes.count - 128, by: 128) where bytes[start] == 2 {
            // Detailed timings follow the data blocks; the last byte is a checksum.
            let end = start + min(max(Int(bytes[start + 2]), 4), 127)
            var place = start + 4
            while place < end {
                let tag = bytes[place] >> 5, next = place + 1 + Int(bytes[place] & 31)
                guard next <= end else { break }
                if tag == 7, next - place >= 3 {
                    let kind = bytes[place + 1], facts = bytes[place + 2]
                    if kind == 5, facts & 0x80 != 0 { colorSupport.insert(.bt2020) }
                    if kind == 6, facts & 0x04 != 0 { colorSupport.insert(.pq) }
                    if kind == 6, facts & 0x08 != 0 { colorSupport.insert(.hlg) }
                }
                place = next
            }
        }
        return colorSupport
    }
}
