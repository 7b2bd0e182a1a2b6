import Media

/// What the USB camera of the tests says of itself: "USB Device Class Definition for Video Devices", revision 1.1, of a camera with two formats,
/// Motion-JPEG and H.264, and one bulk endpoint.
enum USBCameraDescriptors {
    static let size = PixelSize(width: 160, height: 96), rates: [UInt32] = [25, 10]
    /// Bytes of one payload, with its header.
    static let payloadBytes = 16_384
    static let mostFrameBytes: UInt32 = 65_536

    static let device: [UInt8] = [18, 1, 0x00, 0x02, 0xef, 2, 1, 64, 0x09, 0x12, 0x01, 0x00, 0x00, 0x01, 1, 2, 3, 1]
    static let strings = ["", "Player", "Test Camera", "0042"]

    static func string(_ number: Int) -> [UInt8]? {
        if number == 0 { return [4, 3, 0x09, 0x04] }
        guard strings.indices.contains(number) else { return nil }
        let text = strings[number].utf16.flatMap { word($0) }
        return [UInt8(2 + text.count), 3] + text
    }

    static func word(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xff), UInt8(value >> 8)] }
    static func long(_ value: UInt32) -> [UInt8] { word(UInt16(value & 0xffff)) + word(UInt16(value >> 16)) }
    /// In units of 100 ns.
    static func interval(_ rate: UInt32) -> UInt32 { 10_000_000 / rate }

    /// `bFormatIndex`.
    static let jpeg: UInt8 = 1, h264: UInt8 = 2

    /// One after the other: a sum of so many takes the compiler long.
    private static func joined(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined()) }

    private static var control: [UInt8] {
        let terminals = joined([18, 0x24, 2, 1, 0x01, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0], [9, 0x24, 3, 3, 0x01, 0x01, 0, 1, 0])
        let header = joined([13, 0x24, 1], word(0x0110), word(UInt16(13 + terminals.count)), long(48_000_000), [1, 1])
        return joined([9, 4, 0, 0, 0, 0x0e, 1, 0, 2], header, terminals)
    }

    private static var intervals: [UInt8] { rates.flatMap { long(interval($0)) } }

    private static var formats: [UInt8] {
        let sides = word(UInt16(size.width)) + word(UInt16(size.height))
        let bits = long(1_000_000) + long(10_000_000), usual = long(interval(rates[0]))
        let count = UInt8(rates.count), length = 26 + 4 * count
        let jpegFormat: [UInt8] = [11, 0x24, 6, jpeg, 1, 1, 1, 0, 0, 0, 0]
        let jpegFrame = joined([length, 0x24, 7, 1, 0], sides, bits, long(mostFrameBytes), usual, [count], intervals)
        let colors: [UInt8] = [6, 0x24, 13, 1, 1, 4]
        let identifier: [UInt8] = Array("H264".utf8) + [0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        let h264Format = joined([28, 0x24, 16, h264, 1], identifier, [16, 1, 0, 0, 0, 0, 1])
        let h264Frame = joined([length, 0x24, 17, 1, 0], sides, bits, usual, [count], long(0), intervals)
        return joined(jpegFormat, jpegFrame, colors, h264Format, h264Frame, colors)
    }

    private static var streaming: [UInt8] {
        let formats = formats
        let header = joined([15, 0x24, 1, 2], word(UInt16(15 + formats.count)), [0x81, 0, 3, 0, 0, 0, 1, 0, 0])
        return joined([9, 4, 1, 0, 1, 0x0e, 2, 0, 0], header, formats, [7, 5, 0x81, 2, 0x00, 0x02, 0])
    }

    static var configuration: [UInt8] {
        let association: [UInt8] = [8, 11, 0, 2, 0x0e, 3, 0, 2]
        let rest = association + control + streaming
        return joined([9, 2], word(UInt16(9 + rest.count)), [2, 1, 0, 0x80, 250], rest)
    }

    /// The answer to a question about the stream, and what a host sets: `bFormatIndex`, `dwFrameInterval`.
    static func probe(format: UInt8, interval: UInt32) -> [UInt8] {
        let head: [UInt8] = [1, 0, format, 1] + long(interval) + [UInt8](repeating: 0, count: 10)
        return joined(head, long(mostFrameBytes), long(UInt32(payloadBytes)), long(48_000_000), [0, 0, 0, 0])
    }
}
