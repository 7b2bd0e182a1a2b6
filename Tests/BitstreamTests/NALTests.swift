import Bitstream
import Media
import SampleQueue
import TestSupport
import Testing

@testable import Demuxing

/// Bytes that no start code can stand in: as an encoder's emulation prevention leaves them, and without zeros at the end.
private func unit(_ dice: inout Dice) -> [UInt8] {
    var bytes = dice.bytes(Int.random(in: 1...40, using: &dice), among: 0...(Bool.random(using: &dice) ? 3 : 255))
    for index in bytes.indices.dropFirst(2) where bytes[index - 2] == 0 && bytes[index - 1] == 0 && bytes[index] < 4 { bytes[index] = 4 }
    if bytes.last == 0 { bytes[bytes.count - 1] = 0x80 }
    return bytes
}

@Suite struct NALPackagingTests {
    @Test(
        arguments: [
            ([0, 0, 1, 0x65, 1, 2], [[0x65, 1, 2]]), ([0, 0, 0, 0, 1, 0x65], [[0x65]]), ([0x65, 1, 2], []), ([], []), ([0, 0, 1], []),
            ([9, 0, 0, 1, 0x41, 0, 0, 0, 0, 1, 0x42, 0, 0], [[0x41], [0x42]]), ([0, 0, 1, 1, 0, 0, 2, 0, 0, 1, 5], [[1, 0, 0, 2], [5]]),
            ([0, 0, 1, 0, 0, 1, 7], [[7]]), ([0, 0, 1, 1, 0, 1, 0, 0, 1, 1], [[1, 0, 1], [1]]),
        ] as [([UInt8], [[UInt8]])])
    func `start codes part units`(bytes: [UInt8], units: [[UInt8]]) {
        #expect(NALPackaging.startCodes.units(in: bytes) == units)
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `units survive every packaging and every cutting`(seed: UInt64) {
        var dice = Dice(seed: seed)
        let units = (0..<Int.random(in: 1...12, using: &dice)).map { _ in unit(&dice) }
        let sizes: [NALPackaging] = [.startCodes, .lengthPrefixes(byteCount: 1), .lengthPrefixes(byteCount: 2), .lengthPrefixes(byteCount: 4)]
        var bytes = NALPackaging.startCodes.pack(units)!
        for packaging in sizes {
            let packed = NALPackaging.startCodes.convert(bytes, to: packaging)
            #expect(packed.map { packaging.units(in: $0) } == units, "seed \(seed)")
            #expect(packed.flatMap { packaging.convert($0, to: .startCodes) } == bytes, "seed \(seed)")
        }
        bytes = units.flatMap { [UInt8](repeating: 0, count: Int.random(in: 2...5, using: &dice)) + [1] + $0 }
        var scanner = NALUnitScanner()
        var found: [[UInt8]] = []
        var position = 0
        while position < bytes.count {
            let end = min(bytes.count, position + Int.random(in: 0...7, using: &dice))
            unsafe Array(bytes[position..<end]).withUnsafeBytes { unsafe scanner.append($0) { found.append($0) } }
            position = end
        }
        scanner.finish { found.append($0) }
        #expect(found == units, "seed \(seed)")
    }

    @Test func `a length that reaches past the end ends the sample, and one too long for its prefix is refused`() {
        #expect(NALPackaging.lengthPrefixes(byteCount: 2).units(in: [0, 1, 9, 0, 5, 1]) == [[9]])
        #expect(NALPackaging.lengthPrefixes(byteCount: 4).units(in: [0xff, 0xff, 0xff, 0xff, 1]) == [])
        #expect(NALPackaging.lengthPrefixes(byteCount: 1).pack([[UInt8](repeating: 1, count: 256)]) == nil)
    }
}

/// Films of ours whose container carries a configuration record.
private let recorded = [
    "demo.mp4", "plain.mp4", "hevc-10bit.mp4", "hdr10.mp4", "crop.mp4", "odd-size-444.mp4", "pixel-aspect-2.mp4", "rate-23.976.mp4",
]

@Suite struct ParameterSetTests {
    private func format(_ name: String) throws -> VideoFormat {
        guard
            case .video(let format) = try AssetReader(url: TestAssets.path(name), options: AssetReaderOptions(isThorough: true)).tracks.first(where: {
                $0.kind == .video
            })?.format
        else {
            throw AssetError(.noPlayableTrack, name)
        }
        return format
    }

    @Test(arguments: recorded)
    func `say what libavformat found out by decoding`(name: String) throws {
        let theirs = try format(name)
        let sets = try #require(ParameterSets(theirs))
        let ours = try #require(VideoFormat(sets, packaging: .lengthPrefixes(byteCount: 4)))
        #expect(ours.codec == theirs.codec && ours.profile == theirs.profile && ours.level == theirs.level)
        #expect(ours.visible.size == theirs.visible.size)
        #expect(
            ours.attributes.color.primaries == theirs.attributes.color.primaries && ours.attributes.color.matrix == theirs.attributes.color.matrix)
        #expect(ours.attributes.color.transfer == theirs.attributes.color.transfer)
        // libavformat leaves square pixels unsaid.
        #expect(
            ours.attributes.pixelAspect == theirs.attributes.pixelAspect
                || ours.attributes.pixelAspect == .one && !theirs.attributes.pixelAspect.isKnown)
        #expect(ours.reorderDepth == theirs.reorderDepth)
        #expect(ours.frameRate.isKnown == false || ours.frameRate.doubleValue == theirs.frameRate.doubleValue)
    }

    @Test(arguments: recorded)
    func `go through a configuration record and start codes unchanged`(name: String) throws {
        let sets = try #require(ParameterSets(try format(name)))
        let record = try #require(sets.configurationRecord)
        #expect(ParameterSets(codec: sets.codec, configuration: record) == sets)
        #expect(ParameterSets(codec: sets.codec, configuration: sets.startCodeBytes) == sets)
        #expect(NALPackaging(configuration: record, codec: sets.codec) == .lengthPrefixes(byteCount: 4))
        #expect(NALPackaging(configuration: sets.startCodeBytes, codec: sets.codec) == .startCodes)
        if sets.codec == .h264 { #expect(try format(name).configuration == record) }
    }

    @Test func `coded size and crop are told apart`() throws {
        let sets = try #require(ParameterSets(try format("crop.mp4")))
        let format = try #require(VideoFormat(sets))
        #expect(format.codedSize == PixelSize(width: 320, height: 192) && format.visible == PixelRect(x: 0, y: 0, width: 318, height: 178))
    }

    @Test(arguments: recorded)
    func `damaged sets are refused or understood, never a crash`(name: String) throws {
        let sets = try #require(ParameterSets(try format(name)))
        var dice = Dice(seed: UInt64(name.utf8.count))
        for _ in 0..<3000 {
            var damaged = sets
            Self.damage(&damaged.sequence[0], &dice)
            Self.damage(&damaged.picture[0], &dice)
            if let format = VideoFormat(damaged, packaging: .lengthPrefixes(byteCount: 4)) {
                #expect(format.visible.width > 0 && format.visible.x + format.visible.width <= format.codedSize.width)
                #expect(format.visible.height > 0 && format.visible.y + format.visible.height <= format.codedSize.height)
            }
            var record = try #require(sets.configurationRecord)
            Self.damage(&record, &dice)
            _ = ParameterSets(codec: sets.codec, configuration: record)
        }
    }

    static func damage(_ bytes: inout [UInt8], _ dice: inout Dice) {
        for _ in 0..<Int.random(in: 1...4, using: &dice) where bytes.count > 1 {
            switch Int.random(in: 0..<4, using: &dice) {
            case 0: bytes[Int.random(in: 0..<bytes.count, using: &dice)] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
            case 1: bytes[Int.random(in: 0..<bytes.count, using: &dice)] = [0, 0xff, 0x7f, 0x80].randomElement(using: &dice)!
            case 2: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &dice))
            default: bytes.insert(UInt8.random(in: 0...255, using: &dice), at: Int.random(in: 0...bytes.count, using: &dice))
            }
        }
    }
}
