import Demuxing
import Encoding
import Glibc
import Media
import SampleQueue
import TestSupport
import Testing

@Suite struct FrameSiloTests {
    private static func sample(_ presentation: Int64, decode: Int64, byte: UInt8, count: Int = 100) -> SampleBuffer {
        let block = unsafe [UInt8](repeating: byte, count: count).withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
        let format = MediaFormat.video(VideoFormat(codec: .h264, codedSize: PixelSize(width: 16, height: 16)))
        return SampleBuffer(
            content: .compressed(block, format), trackID: 3, presentationTime: MediaTime(value: presentation, timescale: 10),
            decodeTime: MediaTime(value: decode, timescale: 10), duration: MediaTime(value: 1, timescale: 10),
            flags: presentation % 10 == 0 ? .sync : .dependsOnOthers)
    }

    /// A group of ten frames, of which two stand in another order.
    private static func group(at start: Int64, byte: UInt8) -> [SampleBuffer] {
        [0, 3, 1, 2, 4, 5, 6, 7, 8, 9].enumerated().map { sample(start + Int64($1), decode: start + Int64($0) - 2, byte: byte) }
    }

    private static func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(value: start, timescale: 10), end: MediaTime(value: end, timescale: 10))
    }

    private static func all(_ silo: FrameSilo) throws -> [SampleBuffer] {
        var all: [SampleBuffer] = []
        while let sample = try silo.nextSample() { all.append(sample) }
        return all
    }

    private static func byte(_ sample: SampleBuffer) -> UInt8 {
        guard case .compressed(let block, _) = sample.content else { return 0 }
        return unsafe block.withUnsafeBytes { bytes in unsafe Set(bytes).count == 1 ? bytes[0] : 0 }
    }

    @Test func `later passes replace ranges, and everything comes out once, in decode order`() throws {
        let silo = try FrameSilo()
        silo.beginPass()
        for start in [0, 10, 20, 30] as [Int64] { for sample in Self.group(at: start, byte: 1) { try silo.add(sample) } }
        silo.endPass()
        #expect(silo.sampleCount == 40 && silo.byteCount == 4000)
        silo.beginPass(replacing: [Self.range(10, 20), Self.range(30, 40)])
        #expect(!silo.passMatches)
        for sample in Self.group(at: 10, byte: 2) + Self.group(at: 30, byte: 2) { #expect(try silo.add(sample)) }
        #expect(try !silo.add(Self.sample(5, decode: 5, byte: 9)), "outside the pass")
        #expect(silo.passMatches && silo.progress == 0.95)
        silo.endPass()
        let all = try Self.all(silo)
        #expect(all.map(Self.byte) == [1, 2, 1, 2].flatMap { [UInt8](repeating: $0, count: 10) })
        let order = [0, 10, 20, 30].flatMap { start in Self.group(at: start, byte: 1).map(\.presentationTime) }
        #expect(all.map(\.presentationTime) == order)
        for (one, next) in zip(all, all.dropFirst()) { #expect(one.decodeTime <= next.decodeTime && one.decodeTime <= one.presentationTime) }
        #expect(all[10].flags == .sync && all[11].flags == .dependsOnOthers && all[0].trackID == 3)
        #expect(silo.progress == 1)
        let behind = try silo.nextSample()
        #expect(behind == nil)
    }

    @Test func `a pass that is abandoned changes nothing, nor does a range that got nothing`() throws {
        let silo = try FrameSilo()
        silo.beginPass()
        for sample in Self.group(at: 0, byte: 1) + Self.group(at: 10, byte: 1) { try silo.add(sample) }
        silo.endPass()
        silo.beginPass(replacing: [Self.range(0, 10)])
        try silo.add(Self.sample(0, decode: 0, byte: 2))
        silo.abandonPass()
        silo.beginPass(replacing: [Self.range(0, 10), Self.range(10, 20)])
        for sample in Self.group(at: 10, byte: 3) { try silo.add(sample) }
        silo.endPass()
        #expect(try Self.all(silo).map(Self.byte) == [UInt8](repeating: 1, count: 10) + [UInt8](repeating: 3, count: 10))
    }

    @Test func `decode times that a later pass begins earlier are moved, not put before others`() throws {
        let silo = try FrameSilo()
        silo.beginPass()
        for sample in Self.group(at: 0, byte: 1) + Self.group(at: 10, byte: 1) { try silo.add(sample) }
        silo.endPass()
        silo.beginPass(replacing: [Self.range(10, 20)])
        for (index, time) in ([10, 13, 11, 12, 14, 15, 16, 17, 18, 19] as [Int64]).enumerated() {
            try silo.add(Self.sample(time, decode: Int64(index) + 3, byte: 2))
        }
        silo.endPass()
        let all = try Self.all(silo)
        for (one, next) in zip(all, all.dropFirst()) { #expect(one.decodeTime <= next.decodeTime) }
        for sample in all { #expect(sample.decodeTime <= sample.presentationTime) }
    }

    @Test func `bytes that libavformat gave come back as they were, and nothing is left on the disk`() async throws {
        await #expect(processExitsWith: .success) {
            var template = Array("/tmp/silo-XXXXXX".utf8CString)
            unsafe mkdtemp(&template)
            let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let before = OpenDescriptors.count
            do {
                let reader = try AssetReader(url: TestAssets.demo), silo = try FrameSilo(in: folder)
                reader.select([0])
                silo.beginPass()
                var hashes: [String] = []
                while let sample = try reader.nextSample() {
                    hashes.append(FrameSiloTests.hash(sample))
                    try silo.add(sample)
                }
                silo.endPass()
                #expect(unsafe rmdir(folder) == 0, "the file has no name")
                #expect(try FrameSiloTests.all(silo).map(FrameSiloTests.hash) == hashes && hashes.count == 300)
            }
            #expect(OpenDescriptors.count == before)
        }
    }

    private static func hash(_ sample: SampleBuffer) -> String {
        guard case .compressed(let block, _) = sample.content else { return "" }
        let bytes = unsafe block.withUnsafeBytes { unsafe Array($0) }
        return "\(sample.presentationTime) \(Checksum.md5(bytes))"
    }

    @Test func `a full disk is one sentence, and the samples before it stay`() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let silo = try FrameSilo()
            silo.beginPass()
            for sample in FrameSiloTests.group(at: 0, byte: 1) { try silo.add(sample) }
            silo.endPass()
            var limit = rlimit(rlim_cur: 1500, rlim_max: 1500)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            silo.beginPass()
            let error = #expect(throws: EncodingError.self) {
                for sample in FrameSiloTests.group(at: 0, byte: 2) { try silo.add(sample) }
            }
            #expect(error?.code == .storage && error?.description.hasSuffix(": the samples of a pass cannot be written: File too large") == true)
            silo.abandonPass()
            #expect(try FrameSiloTests.all(silo).map(FrameSiloTests.byte) == [UInt8](repeating: 1, count: 10))
        }
    }

    @Test func `where no file can be made, a sentence says so`() {
        let error = #expect(throws: EncodingError.self) { _ = try FrameSilo(in: "/nowhere") }
        #expect(error?.description == "/nowhere: no file can be made for the samples of passes: No such file or directory")
        #expect(throws: EncodingError.self) { _ = try MultiPassStorage(in: "/nowhere") }
    }
}
