import Media

@testable import Bitstream
@testable import KMSSink

// What is read bit by bit: the heads of coded films, and what a monitor says about itself.

extension FuzzedReader {
    static let bitstreams: [FuzzedReader] = [
        FuzzedReader("bits", [[0x05, 0xa6, 0x00, 0x00, 0x03, 0x01, 0x80, 0x17, 0x22, 0x31, 0x04]], readBits),
        FuzzedReader("parameter-sets", records(.h264) + records(.hevc), readRecord),
        FuzzedReader("h264-stream", [startCodes(h264 + h264Slices)]) { readStream($0, .h264) },
        FuzzedReader("hevc-stream", [startCodes(hevc + hevcSlices)]) { readStream($0, .hevc) },
        FuzzedReader("captions", captionSeeds, readCaptions),
        FuzzedReader("edid", edids) { bytes in
            let name = EDID.monitorName(bytes), colors = EDID.colorSupport(bytes)
            if let name { precondition(!name.isEmpty && name.utf8.count <= 13 && name.utf8.allSatisfy { (32..<127).contains($0) }) }
            return name != nil || !colors.isEmpty
        },
    ]

    // MARK: Reading

    /// The first bytes are what is asked of the rest.
    private static func readBits(_ bytes: [UInt8]) -> Bool {
        let half = bytes.count / 2
        let unit = Array(bytes[half...])
        var bits = BitReader(unit: unit.span, headerBytes: min(1, unit.count))
        for order in bytes[..<half] {
            let before = bits.position
            switch order & 7 {
            case 0: _ = bits.bit()
            case 1: bits.skip(Int(order >> 3) - 4)
            case 2, 3: _ = bits.unsigned()
            case 4: _ = bits.signed()
            default: precondition(UInt64(bits.bits(Int(order >> 3))) < 1 << (order >> 3))
            }
            precondition(bits.position >= before && bits.bitsLeft >= 0)
        }
        return !bits.isExhausted
    }

    /// The first byte says which codec; a record follows, or start codes.
    private static func readRecord(_ bytes: [UInt8]) -> Bool {
        let codec: NALCodec = bytes.first == 0 ? .h264 : .hevc
        guard let sets = ParameterSets(codec: codec, configuration: Array(bytes.dropFirst())) else { return false }
        // Between start codes a set that has one inside would be two.
        _ = sets.configuration(for: .startCodes)
        if let record = sets.configuration(for: .lengthPrefixes(byteCount: 4)) {
            let again = ParameterSets(codec: codec, configuration: record)
            precondition(again?.sequence.first == sets.sequence.first, "a record names other sets than it was made of")
        }
        guard let format = VideoFormat(sets) else { return false }
        precondition(format.visible.x + format.visible.width <= format.codedSize.width, "\(format.visible) of \(format.codedSize)")
        precondition(format.visible.y + format.visible.height <= format.codedSize.height, "\(format.visible) of \(format.codedSize)")
        return true
    }

    /// In pieces, whose length the first byte says.
    private static func readStream(_ bytes: [UInt8], _ codec: NALCodec) -> Bool {
        guard let first = bytes.first else { return false }
        var stream = ElementaryStream(codec: codec, frameRate: Ratio(25, 1), packaging: .startCodes), byteCount = 0
        var rest = bytes.dropFirst()
        while !rest.isEmpty {
            unsafe Array(rest.prefix(Int(first) + 1)).withUnsafeBytes { unsafe stream.append($0) { byteCount += $0.bytes.count } }
            rest = rest.dropFirst(Int(first) + 1)
        }
        stream.end { byteCount += $0.bytes.count }
        // A start code of three bytes becomes one of four.
        precondition(byteCount <= 2 * bytes.count)
        return byteCount > 0
    }

    /// The first byte says which codec, and how units are packed.
    private static func readCaptions(_ bytes: [UInt8]) -> Bool {
        let codecs: [VideoCodec] = [.h264, .hevc, .mpeg2], choice = Int(bytes.first ?? 0), codec = codecs[choice % 3]
        let record = [1] + [UInt8](repeating: UInt8(choice / 3 % 4), count: 22)
        let format = VideoFormat(codec: codec, codedSize: PixelSize(width: 64, height: 64), configuration: choice / 12 % 2 == 0 ? [] : record)
        guard let found = unsafe bytes.dropFirst().withUnsafeBytes({ unsafe CaptionReader(format)?.captions(in: $0) }) else { return false }
        precondition(found.first.count + found.second.count + found.packets.count < bytes.count)
        for (part, kinds) in [(found.first, [4]), (found.second, [5]), (found.packets, [6, 7])] as [([UInt8], [UInt8])] {
            precondition(part.count.isMultiple(of: 3))
            for place in stride(from: 0, to: part.count, by: 3) { precondition(kinds.contains(part[place] & 7), "of another part") }
        }
        return true
    }

    // MARK: Seeds

    /// One of each codec, two triplets each; H.264 also behind a length of four bytes.
    private static var captionSeeds: [[UInt8]] {
        let data: [UInt8] = [0x47, 0x41, 0x39, 0x34, 0x03, 0x42, 0xff, 0xfc, 0x94, 0x2c, 0xfc, 0xc8, 0xe5, 0xff]
        let message: [UInt8] = [4, UInt8(data.count + 3), 0xb5, 0x00, 0x31] + data + [0x80]
        let h264 = [[6] + message, [0x65, 0x88]], hevc = [[78, 1] + message, [2, 1, 0x80]]
        let prefixed = NALPackaging.lengthPrefixes(byteCount: 4)
        return [
            [0] + (NALPackaging.startCodes.pack(h264) ?? []), [21] + (prefixed.pack(h264) ?? []),
            [1] + (NALPackaging.startCodes.pack(hevc) ?? []), [2, 0, 0, 1, 0xb2] + data + [0, 0, 1, 1],
        ]
    }

    /// 640x360, High at level 3.
    private static let h264: [[UInt8]] = [
        [
            0x67, 0x64, 0x00, 0x1e, 0xac, 0xd9, 0x40, 0xa0, 0x2f, 0xf9, 0x70, 0x11, 0x00, 0x00, 0x03, 0x00, 0x01, 0x00, 0x00, 0x03, 0x00, 0x32,
            0x0f, 0x16, 0x2d, 0x96,
        ],
        [0x68, 0xeb, 0xe3, 0xcb, 0x22, 0xc0],
    ]
    private static let h264Slices: [[UInt8]] = [[0x09, 0xf0], [0x65, 0x88, 0x84, 0x00, 0x33, 0xff], [0x41, 0x9a, 0x24, 0x6c, 0x42]]

    /// 1280x720, Main at level 3.1.
    private static let hevc: [[UInt8]] = [
        [
            0x40, 0x01, 0x0c, 0x01, 0xff, 0xff, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x5d, 0x95,
            0x98, 0x09,
        ],
        [
            0x42, 0x01, 0x01, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x5d, 0xa0, 0x02, 0x80, 0x80,
            0x2d, 0x16, 0x59, 0x59, 0xa4, 0x93, 0x2b, 0xc0, 0x5a, 0x70, 0x80, 0x00, 0x01, 0xf4, 0x80, 0x00, 0x3a, 0x98, 0x04,
        ],
        [0x44, 0x01, 0xc1, 0x72, 0xb4, 0x62, 0x40],
    ]
    private static let hevcSlices: [[UInt8]] = [[0x46, 0x01, 0x50], [0x28, 0x01, 0xaf, 0x1d, 0x80], [0x02, 0x01, 0xd0, 0x09, 0x7e]]

    private static func startCodes(_ units: [[UInt8]]) -> [UInt8] { [16] + (NALPackaging.startCodes.pack(units) ?? []) }

    private static func records(_ codec: NALCodec) -> [[UInt8]] {
        let sets = ParameterSets(codec: codec, units: codec == .h264 ? h264 : hevc)
        let records = [sets.configuration(for: .startCodes), sets.configuration(for: .lengthPrefixes(byteCount: 4))]
        return records.compactMap { $0 }.map { [codec == .h264 ? 0 : 1] + $0 }
    }

    private static var edids: [[UInt8]] {
        var first = [UInt8](repeating: 0, count: 128), second = first
        first.replaceSubrange(54..<72, with: [0, 0, 0, 0xfc, 0] + Array("DELL U2720Q\n ".utf8))
        second.replaceSubrange(0..<12, with: [2, 3, 12, 0, 0xe3, 5, 0x80, 0, 0xe3, 6, 0x0d, 1])
        return [first, first + second]
    }
}
