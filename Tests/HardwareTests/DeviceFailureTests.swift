import Decoding
import Encoding
import Foundation
import Media
import SurfacePool
import TestSupport
import Testing

/// What a compression session makes of a device that lacks something, or fails.
@Suite("a device that does not encode", .serialized, .enabled(if: !TestExtent.isSanitized, "a sanitized driver cannot be preloaded"))
struct DeviceFailureTests {
    private static let format = VideoFormat(codec: .h264, codedSize: DeviceSource.size, frameRate: Ratio(25, 1))

    private static func error(_ options: EncoderOptions, _ format: VideoFormat = format) -> EncodingError? {
        do throws(EncodingError) {
            _ = try CompressionSession(format: format, options: options)
            return nil
        } catch { return error }
    }

    @Test func `a frame that fails costs the frames that the device held, and the next one begins anew`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_FAIL_ENCODES": "7"])
            let source = try DeviceSource()
            try source.encode(count: 30)
            #expect((1...3).contains(source.failed) && source.errors.allSatisfy { $0.code == .encoder }, "\(source.errors)")
            #expect(source.errors.first?.description.hasPrefix("the device failed while it encoded by h264_vaapi: ") == true)
            #expect(source.answered.count == 30 && source.answered.values.allSatisfy { $0 == 1 } && source.pool.statistics.inUse == 0)
        }
    }

    @Test func `a device that is taken away fails every frame from then on, each once`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_GONE": "10"])
            let source = try DeviceSource()
            try source.encode(count: 30)
            #expect(source.failed >= 20 && source.failed <= 24, "\(source.failed)")
            #expect(source.answered.count == 30 && source.answered.values.allSatisfy { $0 == 1 } && source.pool.statistics.inUse == 0)
            #expect(Set(source.errors.map(\.code)) == [.encoder, .cannotOpen], "\(source.errors)")
        }
    }

    @Test func `as many sessions as the driver has, then an error, or software with the reason`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_ENCODERS": "1"])
            let first = try DeviceSource()
            #expect(Self.error(.device())?.code == .cannotOpen)
            #expect(Self.error(.device())?.description.hasPrefix("the device /dev/null does not encode by h264_vaapi: ") == true)
            let preferred = try CompressionSession(format: Self.format, options: .device(.prefer))
            #expect(!preferred.isHardware && preferred.reason?.hasPrefix("the device /dev/null does not encode") == true, "\(preferred.reason ?? "")")
            #expect(first.session.isHardware)
        }
    }

    @Test func `a driver that only decodes, and sizes and profiles that it lacks, are named`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_NO_ENCODING": "1"])
            let names = "H264ConstrainedBaseline or H264High or H264Main"
            let none = Self.error(.device())
            #expect(none?.code == .noEncoder)
            #expect(none?.description.hasPrefix("no hardware encoder for h264: /dev/null: the driver does not encode \(names); software") == true)
            let preferred = try CompressionSession(format: Self.format, options: .device(.prefer))
            #expect(preferred.reason?.contains(names) == true)
        }
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt()
            var large = Self.format
            large.codedSize = PixelSize(width: 9000, height: 96)
            large.visible = PixelRect(large.codedSize)
            #expect(Self.error(.device(), large)?.description.contains("9000x96 is larger than the driver encodes") == true)
            let high = Self.error(.device { $0.profile = "high" })
            #expect(high?.description.contains("does not encode the profile high, but constrained_baseline") == true, "\(high as Any)")
            let hevc = VideoFormat(codec: .hevc, codedSize: DeviceSource.size, frameRate: Ratio(25, 1))
            #expect(Self.error(.device(), hevc)?.description.contains("the driver does not encode HEVCMain or HEVCMain10") == true)
        }
    }

    @Test func `properties are those that the driver has, and a device that is preferred must have them`() async {
        await #expect(processExitsWith: .success) {
            // VA_RC_CQP alone.
            SoftwareVADriver.adopt(["PLAYER_VA_RATES": "16"])
            let session = try CompressionSession(format: Self.format, options: .device { $0.quality = 0.5 })
            let properties = session.supportedProperties.map(\.property)
            #expect(properties.contains(.quality) && properties.contains(.keyFrameInterval) && properties.contains(.maximumDelay))
            #expect(!properties.contains(.averageBitRate) && !properties.contains(.rateLimit) && !properties.contains(.allowsReordering))
            #expect(!properties.contains(.threads))
            #expect(session.supportedProperties.first { $0.property == .profile }?.kind == .choice(["constrained_baseline"]))
            #expect(Self.error(.device { $0.averageBitRate = 1_000_000 })?.code == .unsupportedProperty)
            let preferred = try CompressionSession(format: Self.format, options: .device(.prefer) { $0.averageBitRate = 1_000_000 })
            #expect(!preferred.isHardware && preferred.reason?.contains("has no property averageBitRate") == true, "\(preferred.reason ?? "")")
        }
        await #expect(processExitsWith: .success) {
            // CBR and VBR.
            SoftwareVADriver.adopt(["PLAYER_VA_RATES": "6", "PLAYER_VA_MAIN": "1"])
            let properties = try CompressionSession(format: Self.format, options: .device()).supportedProperties.map(\.property)
            #expect(!properties.contains(.quality) && properties.contains(.rateLimit) && properties.contains(.allowsReordering))
            for limit in [1_000_000, 2_000_000] {
                var options = EncoderOptions.device { $0.averageBitRate = 1_000_000 }
                options.properties.rateLimit = .init(bits: limit, seconds: 1)
                #expect(Self.error(options) == nil)
            }
        }
    }

    @Test func `frames of more bits than the driver encodes are software's where a device is only preferred`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt()
            var options = EncoderOptions.device(.prefer)
            options.pixelFormat = .yuv420p10le
            let session = try CompressionSession(format: Self.format, options: options)
            #expect(session.reason?.hasSuffix("the driver encodes 8 bits, the frames have 10") == true, "\(session.reason ?? "")")
            options.specification.hardware = .require
            var passes = options
            (passes.passes, passes.properties.averageBitRate) = (MultiPassOptions(), 1_000_000)
            #expect(Self.error(passes)?.code == .pass)
            #expect(try CompressionSession(format: Self.format, options: options).pixelFormat == .nv12)
        }
    }

    @Test func `a delay of no frame has each frame answered at once`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt(["PLAYER_VA_MAIN": "1"])
            for change: @Sendable (inout EncodingProperties) -> Void in [{ $0.maximumDelay = 0 }, { $0.isRealTime = true }] {
                var options = EncoderOptions.deviceReordering
                change(&options.properties)
                let source = try DeviceSource(options)
                for number in 1...5 {
                    try source.encode(count: 1, completing: false)
                    #expect(source.answered.count == number)
                }
            }
        }
    }

    @Test func `sessions, a thousand with --full, leave descriptors and memory as they were`() async {
        await #expect(processExitsWith: .success) {
            SoftwareVADriver.adopt()
            func live(_ number: Int) throws {
                let source = try DeviceSource()
                try source.encode(count: 3, completing: number % 3 != 2)
                if number % 3 == 1 { source.session.invalidate() }
            }
            // The device stays open, as another session keeps it.
            let keeper = try DeviceSource()
            for number in 0..<20 { try live(number) }
            let descriptors = Self.descriptorCount, memory = Self.residentKiB
            for number in 0..<TestExtent.rounds(60, full: 1000) { try live(number) }
            #expect(Self.descriptorCount == descriptors)
            // 8 MiB: a surface of each session would be more.
            #expect(Self.residentKiB - memory < 8192, "\(Self.residentKiB - memory) KiB")
            #expect(keeper.session.isHardware)
        }
    }

    private static var descriptorCount: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }

    private static var residentKiB: Int {
        let line = (TextFile.contents(of: "/proc/self/status") ?? "").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
