import Bitstream
import Media
import Testing

/// Where frames carry captions, as the standards lay them out.
@Suite struct CaptionReaderTests {
    /// `cc_data` of A/53: these triplets behind `GA94`, flags with their number, and a reserved byte.
    private static func captions(_ triplets: [UInt8], flags: UInt8 = 0x40, count: Int? = nil) -> [UInt8] {
        [0x47, 0x41, 0x39, 0x34, 0x03, flags | UInt8(count ?? triplets.count / 3), 0xff] + triplets + [0xff]
    }

    /// A message of the kind for registered user data, of the United States and ATSC.
    private static func message(_ bytes: [UInt8], provider: [UInt8] = [0xb5, 0x00, 0x31], type: UInt8 = 4) -> [UInt8] {
        let payload = provider + bytes
        return [type] + [UInt8](repeating: 255, count: payload.count / 255) + [UInt8(payload.count % 255)] + payload
    }

    /// With the bytes that keep start codes away.
    private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            if byte <= 3, result.suffix(2) == [0, 0] { result.append(3) }
            result.append(byte)
        }
        return result
    }

    private static func unit(_ messages: [[UInt8]], head: [UInt8] = [0x06]) -> [UInt8] { head + escaped(messages.flatMap(\.self)) + [0x80] }

    private static let h264 = VideoFormat(codec: .h264, codedSize: PixelSize(width: 64, height: 64))
    private static let slice: [UInt8] = [0x65, 0x88, 0x84, 0x06, 0x04]

    private static func captions(_ units: [[UInt8]], _ format: VideoFormat = h264, _ packaging: NALPackaging = .startCodes) -> FrameCaptions? {
        guard let bytes = packaging.pack(units) else { return nil }
        return unsafe bytes.withUnsafeBytes { unsafe CaptionReader(format)?.captions(in: $0) }
    }

    /// Those of the first field.
    private static func found(_ units: [[UInt8]], _ format: VideoFormat = h264, _ packaging: NALPackaging = .startCodes) -> [UInt8]? {
        captions(units, format, packaging)?.first
    }

    private static let hello: [UInt8] = [0xfc, 0xc8, 0xe5]

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let expected: [UInt8]?

        init(_ name: String, _ bytes: [UInt8], _ expected: [UInt8]?) { (testDescription, self.bytes, self.expected) = (name, bytes, expected) }
    }

    @Test(
        arguments: [
            Case("a triplet", captions(hello), hello),
            Case("two", captions(hello + [0xfc, 0x94, 0x2c]), hello + [0xfc, 0x94, 0x2c]),
            Case("none now", captions([]), []),
            Case("two empty characters", captions([0xfc, 0x80, 0x80]), []),
            Case("of the second field", captions([0xfd, 0xc8, 0xe5]), []),
            Case("of CEA-708", captions([0xff, 0xc8, 0xe5, 0xfe, 0x01, 0x02]), []),
            Case("not valid", captions([0xf8, 0xc8, 0xe5]), []),
            Case("with other reserved bits", captions([0x04, 0xc8, 0xe5]), [0x04, 0xc8, 0xe5]),
            Case("between others", captions([0xfd, 0x80, 0x80] + hello + [0xfa, 0, 0]), hello),
            Case("no captions in it", captions(hello, flags: 0), nil),
            Case("another name", [0x47, 0x41, 0x39, 0x35] + captions(hello).dropFirst(4), nil),
            Case("another type", Array(captions(hello).prefix(4)) + [0x06] + captions(hello).dropFirst(5), nil),
            Case("fewer than it says", Array(captions(hello, count: 31).dropLast()), hello),
            Case("half a triplet", Array(captions(hello + [0xfc, 0x41], count: 2).dropLast()), hello),
            Case("cut behind the flags", Array(captions(hello).prefix(6)), nil),
            Case("cut in the name", Array(captions(hello).prefix(3)), nil), Case("empty", [], nil),
        ])
    func `captions in a message`(_ example: Case) {
        #expect(Self.found([Self.unit([Self.message(example.bytes)]), Self.slice]) == example.expected)
    }

    struct Part: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let triplets: [UInt8]
        let expected: FrameCaptions

        init(_ name: String, _ triplets: [UInt8], _ expect: (inout FrameCaptions) -> Void) {
            (testDescription, self.triplets) = (name, triplets)
            var captions = FrameCaptions()
            expect(&captions)
            expected = captions
        }
    }

    @Test(
        arguments: [
            Part("the second field", [0xfd, 0xc8, 0xe5]) { ($0.second, $0.offersSecond) = ([0xfd, 0xc8, 0xe5], true) },
            Part("an empty second field", [0xfd, 0x80, 0x80]) { $0.offersSecond = true },
            Part("a second field that is not valid", [0xf9, 0xc8, 0xe5]) { _ in },
            Part("a packet", [0xff, 0x02, 0x21, 0xfe, 0x41, 0x00]) { ($0.packets, $0.offersPackets) = ([0xff, 0x02, 0x21, 0xfe, 0x41, 0x00], true) },
            Part("a packet of zeros", [0xff, 0x00, 0x00]) { ($0.packets, $0.offersPackets) = ([0xff, 0x00, 0x00], true) },
            Part("an empty place for a packet", [0xfa, 0x00, 0x00]) { $0.offersPackets = true },
            Part("all of them", hello + [0xfd, 0x94, 0x2c, 0xfe, 0x01, 0x02]) {
                ($0.first, $0.second, $0.packets) = (hello, [0xfd, 0x94, 0x2c], [0xfe, 0x01, 0x02])
                ($0.offersSecond, $0.offersPackets) = (true, true)
            },
        ])
    func `each triplet is of one part`(_ example: Part) {
        #expect(Self.captions([Self.unit([Self.message(Self.captions(example.triplets))]), Self.slice]) == example.expected)
    }

    @Test func `messages in every place are read, and nothing else is`() {
        let own = Self.message(Self.captions(Self.hello)), other = Self.message([1, 2, 3], type: 5)
        #expect(Self.found([Self.unit([other, own]), Self.slice]) == Self.hello)
        #expect(Self.found([Self.unit([own]), Self.unit([own]), Self.slice]) == Self.hello + Self.hello, "of two fields")
        let long = Self.message([UInt8](repeating: 7, count: 600), type: 5)
        #expect(Self.found([Self.unit([long, own])]) == Self.hello, "behind a length of several bytes")
        #expect(Self.found([Self.unit([Self.message(Self.captions(Self.hello), type: 5)])]) == nil)
        #expect(Self.found([Self.unit([Self.message(Self.captions(Self.hello), provider: [0xb5, 0x00, 0x3c])])]) == nil)
        #expect(Self.found([Self.unit([own], head: [0x67])]) == nil, "a parameter set")
        #expect(Self.found([Self.slice]) == nil && Self.found([]) == nil)
    }

    @Test func `a message that says it is longer than its unit is not read`() {
        var message = Self.message(Self.captions(Self.hello))
        message[1] += 40
        #expect(Self.found([Self.unit([message])]) == nil)
        #expect(Self.found([[0x06, 0xff, 0xff, 0xff]]) == nil && Self.found([[0x06, 4, 0xff, 0xff]]) == nil && Self.found([[0x06]]) == nil)
    }

    @Test func `zeros that start codes are kept away from are read as they were`() {
        let triplets: [UInt8] = [0x00, 0x00, 0x00] + Self.hello + [0x00, 0x00, 0x01] + Self.hello
        #expect(Self.escaped(triplets).count == triplets.count + 2)
        #expect(Self.found([Self.unit([Self.message(Self.captions(triplets))]), Self.slice]) == Self.hello + Self.hello)
    }

    @Test func `H.264 in MP4 and HEVC in both packagings`() {
        let message = Self.message(Self.captions(Self.hello))
        let avc = VideoFormat(codec: .h264, codedSize: PixelSize(width: 64, height: 64), configuration: [1, 0x64, 0, 0x1e, 0xff, 0xe0, 0])
        #expect(Self.found([Self.unit([message]), Self.slice], avc, .lengthPrefixes(byteCount: 4)) == Self.hello)
        let units = [Self.unit([message], head: [39 << 1, 1]), [1 << 1, 1, 0x80]]
        let record = [UInt8](arrayLiteral: 1) + [UInt8](repeating: 0, count: 20) + [0xff, 0]
        for (configuration, packaging) in [([], NALPackaging.startCodes), (record, .lengthPrefixes(byteCount: 4))] as [([UInt8], NALPackaging)] {
            let hevc = VideoFormat(codec: .hevc, codedSize: PixelSize(width: 64, height: 64), configuration: configuration)
            #expect(Self.found(units, hevc, packaging) == Self.hello)
            #expect(Self.found([Self.unit([message])], hevc, packaging) == nil, "H.264's number is a slice there")
        }
    }

    @Test(
        arguments: [
            Case("before a slice", [0, 0, 1, 0, 0x10, 0, 0, 1, 0xb2] + captions(hello) + [0, 0, 1, 1, 0x22], hello),
            Case("at the end", [0, 0, 1, 0xb2] + captions(hello), hello),
            Case("behind other user data", [0, 0, 1, 0xb2, 9, 9, 0, 0, 1, 0xb2] + captions(hello) + [0, 0, 1], hello),
            Case("in no user data", [0, 0, 1, 0xb5] + captions(hello), nil), Case("without a start code", captions(hello), nil),
            Case("a start code at the end", [9, 0, 0, 1], nil), Case("user data at the end", [0, 0, 1, 0xb2], nil), Case("empty", [], nil),
        ])
    func `captions in MPEG-2`(_ example: Case) {
        let reader = CaptionReader(VideoFormat(codec: .mpeg2, codedSize: PixelSize(width: 64, height: 64)))
        #expect(unsafe example.bytes.withUnsafeBytes { unsafe reader?.captions(in: $0)?.first } == example.expected)
    }

    @Test(arguments: [VideoCodec.av1, .vp8, .vp9]) func `other codecs carry none`(_ codec: VideoCodec) {
        #expect(CaptionReader(VideoFormat(codec: codec, codedSize: PixelSize(width: 64, height: 64))) == nil)
    }
}
