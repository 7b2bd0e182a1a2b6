/// The names of codecs with profile and level, as playlists of web servers have them (RFC 6381): `avc1.64001f`, `mp4a.40.2`. Read from the index of
/// a film, where each codec has them in a box of its own.
struct CodecText: Sendable, Hashable {
    /// The kind of a track.
    enum Kind: Sendable, Hashable {
        case video, audio
    }

    let kind: Kind
    let text: String
}

extension MovieBox {
    /// The codecs of all tracks of video and sound, in their order.
    var codecTexts: [CodecText] {
        boxes("trak", in: 8..<bytes.count).compactMap { track in
            guard let media = first("mdia", in: inside(track)), let handler = first("hdlr", in: inside(media)), handler.count >= 20,
                let information = first("minf", in: inside(media)), let table = first("stbl", in: inside(information)),
                let descriptions = first("stsd", in: inside(table)), descriptions.count >= 16
            else { return nil }
            // Behind version, flags and the number of entries.
            let entries = descriptions.lowerBound + 16..<descriptions.upperBound
            guard let entry = boxes(nil, in: entries).first else { return nil }
            switch name(at: handler.lowerBound + 16) {
            case "vide": return CodecText(kind: .video, text: codecText(entry, headByteCount: Self.videoHead))
            case "soun": return CodecText(kind: .audio, text: codecText(entry, headByteCount: Self.audioHead))
            default: return nil
            }
        }
    }

    /// Bytes of a sample entry before the boxes in it (ISO/IEC 14496-12, 12.1.3 and 12.2.3).
    private static let videoHead = 86, audioHead = 36

    private func inside(_ box: Range<Int>) -> Range<Int> { box.lowerBound + 8..<box.upperBound }

    private func codecText(_ entry: Range<Int>, headByteCount: Int) -> String {
        let type = name(at: entry.lowerBound + 4)
        guard entry.count > headByteCount else { return type }
        let parts = entry.lowerBound + headByteCount..<entry.upperBound
        func content(_ name: String, atLeast count: Int) -> [UInt8]? {
            guard let box = first(name, in: parts), box.count >= count + 8 else { return nil }
            return Array(bytes[inside(box)])
        }
        let text: String? =
            switch type {
            case "avc1", "avc3": content("avcC", atLeast: 4).map { Self.hex($0[1]) + Self.hex($0[2]) + Self.hex($0[3]) }
            case "hvc1", "hev1": content("hvcC", atLeast: 13).map(Self.hevc)
            case "av01": content("av1C", atLeast: 3).map(Self.av1)
            case "vp09", "vp08": content("vpcC", atLeast: 7).map { [$0[4], $0[5], $0[6] >> 4].map { Self.digits($0) }.joined(separator: ".") }
            case "mp4a": content("esds", atLeast: 5).flatMap(Self.mpeg4)
            default: nil
            }
        return text.map { "\(type).\($0)" } ?? type
    }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private static func digits(_ number: UInt8) -> String { (number < 10 ? "0" : "") + String(number) }

    /// ISO/IEC 14496-15, annex E.3.
    private static func hevc(_ box: [UInt8]) -> String {
        let space = ["", "A", "B", "C"][Int(box[1] >> 6)]
        let flags = box[2..<6].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        var reversed: UInt32 = 0
        for bit in 0..<32 where flags >> UInt32(bit) & 1 == 1 { reversed |= 1 << UInt32(31 - bit) }
        var parts = ["\(space)\(box[1] & 31)", String(reversed, radix: 16), (box[1] & 32 == 0 ? "L" : "H") + String(box[12])]
        let constraints = Array(box[6..<12]), used = constraints.lastIndex { $0 != 0 }
        if let used { parts += constraints[...used].map { String($0, radix: 16) } }
        return parts.joined(separator: ".")
    }

    /// AV1 Codec ISO Media File Format Binding, section 5.
    private static func av1(_ box: [UInt8]) -> String {
        let depth: UInt8 = box[2] & 0x40 == 0 ? 8 : box[2] & 0x20 == 0 ? 10 : 12
        return "\(box[1] >> 5).\(digits(box[1] & 31))\(box[2] & 0x80 == 0 ? "M" : "H").\(digits(depth))"
    }

    /// The kind of object in an elementary stream descriptor, and of MPEG-4 audio its object type (ISO/IEC 14496-1, 7.2.6.5; 14496-3, 1.6.2.1).
    private static func mpeg4(_ box: [UInt8]) -> String? {
        var place = 4
        /// Skips the head of a descriptor; nil when it is another.
        func enter(_ tag: UInt8) -> Bool {
            guard place < box.count, box[place] == tag else { return false }
            place += 1
            while place < box.count, box[place] & 0x80 != 0 { place += 1 }
            place += 1
            return true
        }
        guard enter(3), place + 3 < box.count else { return nil }
        let flags = box[place + 2]
        place += 3
        if flags & 0x80 != 0 { place += 2 }
        if flags & 0x40 != 0, place < box.count { place += 1 + Int(box[place]) }
        if flags & 0x20 != 0 { place += 2 }
        guard enter(4), place < box.count else { return nil }
        let kind = box[place]
        place += 13
        guard kind == 0x40, enter(5), place + 1 < box.count else { return hex(kind) }
        let type = box[place] >> 3
        guard type == 31 else { return "\(hex(kind)).\(type)" }
        let more = (box[place] & 7) << 3 | box[place + 1] >> 5
        return "\(hex(kind)).\(32 + more)"
    }
}
