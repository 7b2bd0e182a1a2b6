import Bitstream
import Media
import SampleQueue
import TestSupport
import Testing

@testable import Demuxing

@Suite struct ElementaryStreamReaderTests {
    private func samples(_ name: String, _ codec: NALCodec, packaging: NALPackaging = .startCodes, seed: UInt64? = nil) throws -> [SampleBuffer] {
        let bytes = try #require(TextFile.bytes(of: TestAssets.path(name)))
        let reader = ElementaryStreamReader(codec: codec, packaging: packaging)
        return Self.samples(bytes, reader, seed: seed)
    }

    static func samples(_ bytes: [UInt8], _ reader: ElementaryStreamReader, seed: UInt64? = nil) -> [SampleBuffer] {
        samples(bytes, reader, cutting: seed.map { Dice(seed: $0) })
    }

    /// - Parameter dice: cuts the bytes into pieces, some of single bytes, some of thousands; nil: all in one.
    static func samples(_ bytes: [UInt8], _ reader: ElementaryStreamReader, cutting dice: Dice?) -> [SampleBuffer] {
        var dice = dice
        var samples: [SampleBuffer] = []
        var position = 0
        while position < bytes.count {
            var end = bytes.count
            if dice != nil { end = min(end, position + Int.random(in: 1...[3, 500, 20_000].randomElement(using: &dice!)!, using: &dice!)) }
            unsafe bytes.withUnsafeBytes { unsafe reader.append(UnsafeRawBufferPointer(rebasing: $0[position..<end])) }
            position = end
            while let sample = reader.nextSample() { samples.append(sample) }
        }
        reader.finish()
        while let sample = reader.nextSample() { samples.append(sample) }
        return samples
    }

    private func format(_ sample: SampleBuffer) -> VideoFormat? {
        if case .compressed(_, .video(let format)) = sample.content { format } else { nil }
    }

    private func bytes(_ sample: SampleBuffer) -> [UInt8] {
        if case .compressed(let block, _) = sample.content { unsafe block.withUnsafeBytes { unsafe Array($0) } } else { [] }
    }

    @Test(arguments: [("annexb.h264", NALCodec.h264), ("annexb.h265", .hevc), ("size-change.h264", .h264)])
    func `access units, times and sync samples are the demuxer's, in whatever pieces the bytes come`(name: String, codec: NALCodec) throws {
        let reader = try AssetReader(url: TestAssets.path(name))
        var expected: [SampleBuffer] = []
        while let sample = try reader.nextSample() { expected.append(sample) }
        for seed in [nil, 1, 2, 3] as [UInt64?] {
            let samples = try samples(name, codec, seed: seed)
            #expect(samples.count == expected.count)
            #expect(samples.map { $0.flags.contains(.sync) } == expected.map { $0.flags.contains(.sync) })
            #expect(samples.map(\.duration) == expected.map(\.duration))
            let packaging = NALPackaging.startCodes
            for (ours, theirs) in zip(samples, expected) { #expect(packaging.units(in: bytes(ours)) == packaging.units(in: bytes(theirs))) }
        }
    }

    @Test func `a new format comes with the first frame that has it`() throws {
        let sizes = try samples("size-change.h264", .h264, seed: 9).map { format($0)?.visible.size }
        let wide = PixelSize(width: 320, height: 180), narrow = PixelSize(width: 240, height: 136)
        let expected: [PixelSize?] = (0..<45).map { 15..<30 ~= $0 ? narrow : wide }
        #expect(sizes == expected)
    }

    @Test func `formats carry the parameter sets, as a record with length prefixes`() throws {
        let plain = try samples("annexb.h265", .hevc), packed = try samples("annexb.h265", .hevc, packaging: .lengthPrefixes(byteCount: 4))
        #expect(
            packed.map { NALPackaging.lengthPrefixes(byteCount: 4).units(in: bytes($0)) }
                == plain.map { NALPackaging.startCodes.units(in: bytes($0)) })
        let first = try #require(plain.first.flatMap { self.format($0) }), format = try #require(packed.first.flatMap { self.format($0) })
        #expect(format.configuration.first == 1 && ParameterSets(format)?.video.count == 1)
        #expect(first.configuration.first == 0 && ParameterSets(first) == ParameterSets(format))
    }

    @Test func `decode times begin early enough for what is held back`() throws {
        let all = try samples("annexb.h264", .h264)
        let first = try #require(all.first), depth = try #require(format(first)?.reorderDepth)
        #expect(first.decodeTime == .zero - first.duration.multiplied(by: Int64(depth)))
        #expect(zip(all, all.dropFirst()).allSatisfy { $1.decodeTime - $0.decodeTime == $0.duration })
        #expect(all.allSatisfy { $0.presentationTime == .invalid })
    }

    @Test(arguments: [("annexb.h264", NALCodec.h264), ("annexb.h265", .hevc)])
    func `damaged streams give what they give, never a crash`(name: String, codec: NALCodec) throws {
        let bytes = Array(try #require(TextFile.bytes(of: TestAssets.path(name))).prefix(20_000))
        for seed in 1...40 as ClosedRange<UInt64> {
            var dice = Dice(seed: seed)
            var damaged = bytes
            for _ in 0..<20 { ParameterSetTests.damage(&damaged, &dice) }
            damaged += dice.bytes(500, among: 0...2)
            for packaging in [NALPackaging.startCodes, .lengthPrefixes(byteCount: 2)] {
                let samples = Self.samples(damaged, ElementaryStreamReader(codec: codec, packaging: packaging), seed: seed)
                #expect(samples.allSatisfy { $0.decodeTime.isNumeric && $0.byteCount > 0 }, "seed \(seed)")
            }
        }
    }

    @Test func `neither noise nor silence makes a sample`() {
        for bytes in [[], [0, 0, 1], [UInt8](repeating: 0, count: 5000), [UInt8](repeating: 0xff, count: 5000)] {
            #expect(Self.samples(bytes, ElementaryStreamReader(codec: .h264)).isEmpty)
            #expect(Self.samples(bytes, ElementaryStreamReader(codec: .hevc)).isEmpty)
        }
    }
}
