import Bitstream
import Decoding
import Media
import SampleQueue
import TestSupport
import Testing

/// A stream in which only a picture parameter set changes, between frames that depend on each other.
@Suite struct ParameterSetChangeTests {
    /// The first picture parameter set of `sets` under the number 7 (ITU-T H.264, 7.3.2.2), which no slice refers to.
    private func renumbered(_ sets: ParameterSets) throws -> [UInt8] {
        let unit = try #require(sets.picture.first)
        var bits: [UInt8] = []
        for byte in unit.dropFirst() {
            for place: UInt8 in 0..<8 { bits.append(byte >> (7 - place) & 1) }
        }
        #expect(bits.first == 1, "the set has number 0, which is written as one bit")
        while bits.last == 0 { bits.removeLast() }
        bits.replaceSubrange(0..<1, with: [0, 0, 0, 1, 0, 0, 0])
        while bits.count % 8 != 0 { bits.append(0) }
        var renumbered: [UInt8] = [unit[0]]
        for start in stride(from: 0, to: bits.count, by: 8) {
            var byte: UInt8 = 0
            for bit in bits[start..<start + 8] { byte = byte << 1 | bit }
            renumbered.append(byte)
        }
        return renumbered
    }

    private func samples(_ bytes: [UInt8], _ packaging: NALPackaging) -> [SampleBuffer] {
        let reader = ElementaryStreamReader(codec: .h264, packaging: packaging)
        reader.append(bytes)
        reader.finish()
        var samples: [SampleBuffer] = []
        while let sample = reader.nextSample() { samples.append(sample) }
        return samples
    }

    private func format(_ sample: SampleBuffer) throws -> VideoFormat {
        guard case .compressed(_, .video(let format)) = sample.content else { throw NotCompressed() }
        return format
    }

    private struct NotCompressed: Error {}

    @Test(arguments: [NALPackaging.startCodes, .lengthPrefixes(byteCount: 4)])
    func `gives another format, and the decoder goes on without losing a reference`(packaging: NALPackaging) throws {
        let bytes = try #require(TextFile.bytes(of: TestAssets.path("annexb.h264")))
        let expected = samples(bytes, packaging)
        // In the middle of a group of pictures, before a sample that needs others.
        let place = try #require(expected.indices.dropFirst(3).first { !expected[$0].flags.contains(.sync) })
        let sets = try #require(ParameterSets(format(expected[0])))
        var units = NALPackaging.startCodes.units(in: bytes)
        let payload = try #require(content(expected[place], packaging).first)
        let position = try #require(units.firstIndex(of: payload))
        units.insert(try renumbered(sets), at: position)
        let changed = samples(try #require(NALPackaging.startCodes.pack(units)), packaging)
        #expect(changed.count == expected.count)
        let formats = try changed.map { try format($0) }, after = formats[place]
        #expect(Set(formats[..<place]).count == 1 && Set(formats[place...]).count == 1 && formats[0] != after)
        #expect(ParameterSets(after)?.picture.count == sets.picture.count + 1 && ParameterSets(after)?.sequence == sets.sequence)

        var one = FilmDecoder(), other = FilmDecoder()
        for sample in expected { try one.decode(sample) }
        for sample in changed { try other.decode(sample) }
        one.finish()
        other.finish()
        #expect(one.frames.count == expected.count && one.frames.map(\.hash) == other.frames.map(\.hash))
    }

    private func content(_ sample: SampleBuffer, _ packaging: NALPackaging) -> [[UInt8]] {
        guard case .compressed(let block, _) = sample.content else { return [] }
        return unsafe block.withUnsafeBytes { unsafe packaging.units(in: $0) }
    }
}
