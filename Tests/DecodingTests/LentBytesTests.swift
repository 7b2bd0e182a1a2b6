import Decoding
import Demuxing
import Media
import SampleQueue
import TestSupport
import Testing

/// Samples whose bytes stay the caller's.
@Suite struct LentBytesTests {
    /// The sample's bytes in memory of the test's, with their padding; `released` counts what has been given back.
    private func lent(_ sample: SampleBuffer, _ released: Monitor<Int>) -> SampleBuffer {
        guard case .compressed(let block, let format) = sample.content else { return sample }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: block.count + BlockBuffer.paddingByteCount, alignment: 1)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
        unsafe block.withUnsafeBytes { unsafe memory.copyMemory(from: $0) }
        let address = UInt(bitPattern: memory.baseAddress!)
        let mine = unsafe BlockBuffer(lending: UnsafeRawBufferPointer(memory)) {
            unsafe UnsafeMutableRawPointer(bitPattern: address)!.deallocate()
            released.change { $0 += 1 }
        }
        var copy = sample
        copy.content = .compressed(mine, format)
        return copy
    }

    @Test func `a decoder with threads of its own reads them in place and gives each back once`() throws {
        let reader = try AssetReader(url: TestAssets.path("plain.mp4"))
        guard let track = reader.tracks.first(where: { $0.kind == .video }), case .video(let format) = track.format else { return }
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        func hashes(_ samples: [SampleBuffer]) throws -> [String] {
            var hashes: [String] = []
            let session = try DecompressionSession(format: format, options: DecoderOptions(threads: 4))
            func take(_ output: consuming DecodeOutput) { if case .frame(let frame) = consume output { hashes.append(FrameBytes(frame).md5) } }
            for sample in samples { try session.decode(sample) { take($0) } }
            session.finishDelayedFrames { take($0) }
            return hashes
        }
        let released = Monitor(0)
        var mine = samples.map { lent($0, released) }
        let expected = try hashes(samples), found = try hashes(mine)
        #expect(!expected.isEmpty && found == expected)
        #expect(released.withLock { $0 } == 0, "the samples hold them")
        mine = []
        #expect(released.withLock { $0 } == samples.count)
    }

    @Test func `the bytes are neither copied nor padded into the sample`() {
        let released = Monitor(0)
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 5 + BlockBuffer.paddingByteCount, alignment: 1)
        defer { unsafe bytes.deallocate() }
        unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
        unsafe bytes[4] = 4
        do {
            let block = unsafe BlockBuffer(lending: UnsafeRawBufferPointer(bytes)) { released.change { $0 += 1 } }
            let isSame = unsafe block.withUnsafeBytes { unsafe $0.baseAddress == UnsafeRawPointer(bytes.baseAddress!) && $0[4] == 4 }
            #expect(block.count == 5 && isSame && released.withLock { $0 } == 0)
        }
        #expect(released.withLock { $0 } == 1)
    }
}
