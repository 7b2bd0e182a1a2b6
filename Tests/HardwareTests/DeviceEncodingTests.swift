import Bitstream
import Decoding
import Encoding
import Media
import PixelConversion
import SampleQueue
import Sandbox
import SurfacePool
import TestSupport
import Testing

/// Encoding through libva by the software driver, whose streams hold the source bit by bit: what is decoded again says whether it got the right
/// surface, with the right rows, in the right order, and untouched until it was read.
@Suite("encoding by a device", .serialized, .enabled(if: !TestExtent.isSanitized, "a sanitized driver cannot be preloaded"))
struct DeviceEncodingTests {
    private static let hasBuffers = SurfaceAllocators.findings().contains { $0.name == "udmabuf" && $0.allocator != nil }

    /// Bytes of frames in 4:2:0 of 8 bits.
    private static func byteCount(_ film: TranscodedFilm, frames: Int) -> Int {
        let size = film.format.visible.size
        return frames * PixelFormat.nv12.byteCount(width: size.width, height: size.height)
    }

    @Test("surfaces of the device's decoder are encoded in place, linear and tiled ones", arguments: ["0", "1"])
    func transcoding(isTiled: String) async {
        ExitTestWords.give(isTiled)
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_CHECK": "1", "PLAYER_VA_TILED": ExitTestWords.given[0]])
            for name in ["plain.mp4", "vp9.webm"] {
                let film = try TranscodedFilm(name, from: .device), frames = try film.decoded()
                #expect(film.failures == [] && film.samples.count == 24 && film.kinds == [.va], "\(film.failures)")
                #expect(film.bytesCopied == 0 && film.conversion == nil, "\(film.bytesCopied) \(film.conversion as Any)")
                #expect(try frames == TranscodedFilm.reference(name))
                #expect(film.mostHeld <= film.heldFrameCount)
                #expect(film.label.hasPrefix("h264_vaapi (VA-API: Player software driver") && film.label.hasSuffix(", /dev/null)"), "\(film.label)")
            }
        }
    }

    @Test func `B-frames come in decode order, with the times that were given`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_CHECK": "1", "PLAYER_VA_MAIN": "1"])
            let film = try TranscodedFilm("plain.mp4", from: .device, .deviceReordering), samples = film.samples
            #expect(film.failures == [] && film.bytesCopied == 0)
            #expect(try film.decoded() == TranscodedFilm.reference("plain.mp4"))
            #expect(samples.map(\.presentationTime) != samples.map(\.presentationTime).sorted())
            #expect(samples.allSatisfy { $0.decodeTime <= $0.presentationTime })
            #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.decodeTime <= $1.decodeTime })
            #expect(film.format.reorderDepth == 1 && film.mostHeld <= film.heldFrameCount)
            // Without reordering the same profile keeps the order.
            var straight = EncoderOptions.deviceReordering
            straight.properties.allowsReordering = false
            let plain = try TranscodedFilm("plain.mp4", from: .device, straight).samples.map(\.presentationTime)
            #expect(plain == plain.sorted())
        }
    }

    @Test func `frames that another process has decoded are imported once each, and encoded in place`() async {
        await #expect(processExitsWith: .success) {
            // More imports than surfaces of the pool would exceed the limit.
            let sandbox = SandboxOptions(policy: .decoder, decoderPath: try SoftwareVADriver.decoder())
            SoftwareVADriver.adopt(["PLAYER_VA_CHECK": "1", "PLAYER_VA_SURFACES": "60"])
            let film = try TranscodedFilm("demo.mp4", from: .process(sandbox), count: 100)
            #expect(film.failures == [] && film.kinds == [.va] && film.bytesCopied == 0 && film.conversion == nil, "\(film.failures)")
            #expect(try film.decoded() == TranscodedFilm.reference("demo.mp4", count: 100))
        }
    }

    @Test func `frames in memory of the system are copied once, which is counted and said`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_CHECK": "1"])
            for name in ["plain.mp4", "crop.mp4"] {
                let film = try TranscodedFilm(name, from: .software), count = film.samples.count
                #expect(film.failures == [] && count > 10 && film.bytesCopied == Self.byteCount(film, frames: count))
                #expect(film.conversion?.frames == count)
                #expect(film.conversion?.why == "the frame is yuv420p, the device encodes nv12", "\(film.conversion as Any)")
                #expect(try film.decoded() == TranscodedFilm.reference(name))
            }
        }
    }

    @Test func `memory that the driver does not import is copied once, with the reason`() async {
        await #expect(processExitsWith: .success) {
            let sandbox = SandboxOptions(policy: .decoder, decoderPath: try SoftwareVADriver.decoder())
            SoftwareVADriver.adopt(["PLAYER_VA_NO_IMPORT": "1"])
            let film = try TranscodedFilm("plain.mp4", from: .process(sandbox))
            #expect(film.failures == [] && film.bytesCopied == Self.byteCount(film, frames: 24))
            #expect(film.conversion?.why.hasPrefix("the driver does not import va memory: ") == true, "\(film.conversion as Any)")
            #expect(try film.decoded() == TranscodedFilm.reference("plain.mp4"))
        }
    }

    @Test("DMA-BUFs of others are encoded in place", .enabled(if: Self.hasBuffers, "this machine has no udmabuf"))
    func buffers() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_CHECK": "1"])
            let source = try DeviceSource()
            try source.encode(count: 40)
            #expect(source.pool.statistics.inUse == 0 && source.counters.bytesCopied == 0 && source.session.conversion == nil)
            #expect(try source.differences() == [])
        }
    }

    @Test func `frames of a program's own are what comes out, wherever they lie`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_CHECK": "1", "PLAYER_VA_NO_IMPORT": "1"])
            let source = try DeviceSource()
            try source.encode(count: 40)
            #expect(source.pool.statistics.inUse == 0 && source.counters.bytesCopied > 0)
            #expect(try source.differences() == [])
        }
    }

    @Test func `forced key frames stand where they were asked for, and nowhere else`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt()
            let forced = try TranscodedFilm("plain.mp4", from: .device, forced: [5, 11])
            #expect(forced.keys == [0, 5, 11])
            #expect(try TranscodedFilm("plain.mp4", from: .device, .device { $0.keyFrameInterval = 10 }).keys == [0, 10, 20])
            #expect(try TranscodedFilm("plain.mp4", from: .device, .device { $0.keyFrameInterval = 1 }).keys == Array(0..<24))
        }
    }

    @Test func `colours, aspect, profile and level stand in the stream`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt()
            let color = ColorDescription(primaries: 9, transfer: 16, matrix: 9, range: .limited, chromaSiting: .left)
            let attributes = FrameAttributes(pixelAspect: Ratio(4, 3), color: color)
            let film = try TranscodedFilm("plain.mp4", from: .software, .device { $0.level = "4.1" }, count: 3, attributes: attributes)
            let sets = try #require(ParameterSets(film.format)), stated = try #require(VideoFormat(sets))
            #expect(stated.attributes.color == color && stated.attributes.pixelAspect == Ratio(4, 3), "\(stated.attributes)")
            #expect(stated.level == 41 && stated.profile & 0xff == 66, "\(stated.profile) \(stated.level)")
        }
    }

    @Test func `one frame in is one answer out under flushes and completions, and no surface stays in use`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_CHECK": "1", "PLAYER_VA_MAIN": "1"])
            let source = try DeviceSource(.deviceReordering)
            var dice = Dice(seed: 17)
            for _ in 0..<TestExtent.rounds(150, full: 1000) {
                try source.encode(count: 1, forcing: dice.next() % 8 == 0, completing: false)
                switch dice.next() % 10 {
                case 0: try source.flush()
                case 1: try source.complete()
                default: break
                }
            }
            try source.complete()
            #expect(source.answered.count == source.given && source.answered.values.allSatisfy { $0 == 1 })
            #expect(source.flushed > 0 && source.failed == 0 && source.pool.statistics.inUse == 0)
        }
    }
}
