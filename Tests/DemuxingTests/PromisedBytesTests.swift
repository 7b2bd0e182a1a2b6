import Foundation
import Testing

@testable import Demuxing

/// How long a file says it is.
@Suite struct PromisedBytesTests {
    private static func promised(_ bytes: [UInt8], has count: Int? = nil) -> Int64? {
        PromisedBytes.count(has: Int64(count ?? bytes.count)) { offset, count in Array(bytes.dropFirst(Int(offset)).prefix(count)) }
    }

    private static func box(_ name: String, _ size: UInt32, bytes: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) } + Array(name.utf8) + [UInt8](repeating: 0, count: bytes - 8)
    }

    private static let start = box("ftyp", 24, bytes: 24)
    private static let ebml: [UInt8] = [0x1A, 0x45, 0xDF, 0xA3, 0x84, 1, 2, 3, 4, 0x18, 0x53, 0x80, 0x67]

    private static let cases: [(bytes: [UInt8], promised: Int64?)] = [
        ([], nil), ([0, 0, 0, 24], nil), (Array("anything at all".utf8), nil),
        (start, 24), (start + box("mdat", 100, bytes: 40), 124), (start + box("mdat", 40, bytes: 40), 64),
        // To the end of the file; a name that is none; a length that is none.
        (start + box("mdat", 0, bytes: 40), nil), (start + box("abcd", 100, bytes: 40), nil), (start + box("mdat", 7, bytes: 40), nil),
        // 64 bits, and as many as there are.
        (start + box("mdat", 1, bytes: 8) + [0, 0, 1, 0, 0, 0, 0, 0], (1 << 40) + 24),
        (start + box("mdat", 1, bytes: 8) + [0x7F] + [UInt8](repeating: 0xFF, count: 7), nil),
        (ebml + [0x84, 0, 0, 0, 0], 18), (ebml + [0x41, 0x00] + [0, 0], 15 + 256), (ebml + [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], nil),
        (ebml + [0xFF], nil), (ebml, nil), (Array(ebml.prefix(4)) + [0x7F, 0xFE], nil),
        (Array("RIFF".utf8) + [100, 1, 0, 0] + Array("AVI ".utf8), 364), (Array("RIFF".utf8) + [255, 255, 255, 255], nil),
        (Array("RIFF".utf8) + [0, 0, 0, 0], nil), (Array("RIFF".utf8), nil),
    ]

    @Test(arguments: cases.indices) func `it is what the outermost structure says, or unknown`(_ index: Int) {
        #expect(Self.promised(Self.cases[index].bytes) == Self.cases[index].promised)
    }

    @Test func `any bytes are looked at without harm`() {
        var dice = SystemRandomNumberGenerator()
        for head in [Self.start, Self.ebml, Array("RIFF".utf8), []] {
            for _ in 0..<500 {
                let bytes = head + (0..<Int.random(in: 0...60, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
                _ = Self.promised(bytes)
            }
        }
    }
}
