import Encoding
import Glibc
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

@Suite("encoders and their properties")
struct EncoderPropertyTests {
    private func format(_ codec: VideoCodec = .h264) -> VideoFormat {
        VideoFormat(codec: codec, codedSize: PixelSize(width: 160, height: 96), frameRate: Ratio(25, 1))
    }

    private func error(_ codec: VideoCodec = .h264, _ options: EncoderOptions) -> EncodingError? {
        do throws(EncodingError) {
            _ = try CompressionSession(format: format(codec), options: options)
            return nil
        } catch {
            return error
        }
    }

    @Test("what is missing is said in one sentence that lists what there is")
    func missing() {
        let nowhere = EncoderSpecification(hardware: .require, device: "/nowhere/renderD128")
        let hardware = error(.h264, EncoderOptions(specification: nowhere))
        #expect(hardware?.code == .noEncoder)
        #expect(hardware?.description.hasPrefix("no hardware encoder for h264: cannot open /nowhere/renderD128: ") == true, "\(hardware as Any)")
        #expect(hardware?.description.contains("; software encoders are ") == true)
        let software = error(.h264, EncoderOptions(specification: EncoderSpecification(hardware: .require, name: "libx264")))
        #expect(software?.description.hasPrefix("a device is to encode, and the encoder libx264 uses none; ") == true)
        let name = error(.h264, EncoderOptions(specification: EncoderSpecification(name: "libx265")))
        #expect(name?.code == .noEncoder)
        let first = Encoders.names(for: .h264).first ?? "none"
        #expect(name?.description.contains("no software encoder libx265 for h264; software encoders are \(first)") == true)
        let codec = error(VideoCodec(name: "h2064"), EncoderOptions())
        #expect(codec?.description.hasPrefix("this FFmpeg has no software encoder for h2064; it encodes ") == true)
        #expect(Encoders.names(for: .h264).isEmpty || codec?.description.contains(" h264,") == true)
    }

    @Test("preferred hardware falls back, with the reason")
    func preferred() throws {
        let options = EncoderOptions(specification: EncoderSpecification(hardware: .prefer, device: "/nowhere/renderD128"))
        let session = try CompressionSession(format: format(), options: options)
        #expect(session.reason?.hasPrefix("no hardware encoder for h264: cannot open /nowhere/renderD128: ") == true, "\(session.reason ?? "")")
        #expect(!session.isHardware && session.encoderLabel == session.encoderName)
        #expect(try CompressionSession(format: format()).reason == nil)
    }

    @Test(
        "an encoder chooses its threads unless it is told how many", .enabled(if: sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1, "one processor"),
        .enabled(if: Encoders.names(for: .h264).contains("libx264"), "no libx264"))
    func threads() throws {
        // x264 writes its settings into the stream: "… threads=3 …".
        func stated(_ threads: Int?) throws -> String {
            let film = try EncodedFilm(to: .h264, .fast("libx264") { $0.threads = threads }, count: 2)
            guard case .compressed(let block, _) = try #require(film.samples.first).content else { return "" }
            let text = String(decoding: unsafe block.withUnsafeBytes { unsafe Array($0) }, as: UTF8.self)
            return text.split(separator: " ").first { $0.hasPrefix("threads=") }.map(String.init) ?? ""
        }
        #expect(try stated(1) == "threads=1" && stated(2) == "threads=2")
        let own = try stated(nil)
        #expect(try own.hasPrefix("threads=") && own != "threads=1" && own == stated(0))
        // Encoders with a thread for each frame hold as many frames.
        func held(_ threads: Int?) throws -> Int {
            var options = EncoderOptions(pixelFormat: .yuvj420p)
            options.properties.threads = threads
            // With a rate, which depends on the frame before, there is one thread.
            options.properties.quality = 0.9
            return try CompressionSession(format: format(VideoCodec(name: "mjpeg")), options: options).heldFrameCount
        }
        #expect(try held(nil) > held(1) && held(nil) == held(0))
    }

    @Test("an encoder says which properties it has, and takes no others")
    func supported() throws {
        let lossless = try CompressionSession(format: format(VideoCodec(name: "ffv1")))
        #expect(!lossless.supportedProperties.map(\.property).contains(.averageBitRate))
        let refused = error(VideoCodec(name: "ffv1"), .fast("ffv1") { $0.averageBitRate = 1_000_000 })
        #expect(refused?.code == .unsupportedProperty)
        #expect(refused?.description.hasPrefix("the encoder ffv1 has no property averageBitRate; it has ") == true)
    }

    @Test(
        "a value out of range is refused with the range",
        arguments: [
            (EncodingProperty.quality, "quality of the encoder libx264 is from 0.0 to 1.0, not 1.5"),
            (.maximumDelay, "maximumDelay of the encoder libx264 is from 0.0 to 60.0, not 61.0"),
            (.keyFrameInterval, "keyFrameInterval of the encoder libx264 is from 1.0 to 100000.0, not 0.0"),
            (.profile, "the encoder libx264 has no profile main10; it has baseline, main, high, high10, high422, high444"),
            (.averageBitRate, "an encoder keeps either a rate or a quality, not both"),
        ])
    func range(property: EncodingProperty, sentence: String) {
        guard Encoders.names(for: .h264).contains("libx264") else { return }
        let options = EncoderOptions.fast("libx264") { properties in
            switch property {
            case .quality: properties.quality = 1.5
            case .maximumDelay: properties.maximumDelay = 61
            case .keyFrameInterval: properties.keyFrameInterval = 0
            case .profile: properties.profile = "main10"
            default:
                properties.averageBitRate = 100_000
                properties.quality = 0.5
            }
        }
        let error = error(.h264, options)
        #expect(error?.code == .unsupportedProperty && error?.description == sentence)
    }

    @Test("an option that the encoder lacks is refused")
    func unknownOption() {
        var options = EncoderOptions.fast("libx264")
        options.encoderOptions["no-such-option"] = "1"
        #expect(error(.h264, options)?.code == .unsupportedProperty)
    }

    @Test(
        "profile and level stand in the stream's parameter sets",
        arguments: [("libx264", VideoCodec.h264, "high", 100, 40), ("libx265", .hevc, "main", 1, 120)])
    func profile(name: String, codec: VideoCodec, profile: String, number: Int32, level: Int32) throws {
        guard Encoders.names(for: codec).contains(name) else { return }
        var options = EncoderOptions.fast(name) {
            $0.profile = profile
            $0.level = "4.0"
        }
        // ultrafast leaves out what makes H.264's high profile.
        options.encoderOptions["preset"] = "veryfast"
        let session = try CompressionSession(format: format(codec), options: options)
        #expect(session.format.profile == number && session.format.level == level)
    }

    @Test("every property of every encoder can be set within its range", arguments: EncoderCase.installed)
    func everything(encoder: EncoderCase) throws {
        let description = try CompressionSession(format: format(encoder.codec), options: encoder.options())
        for supported in description.supportedProperties {
            let options = encoder.options { properties in
                switch supported.property {
                case .averageBitRate:
                    properties.averageBitRate = 500_000
                    properties.quality = nil
                case .rateLimit:
                    properties.averageBitRate = 500_000
                    properties.quality = nil
                    properties.rateLimit = .init(bits: 800_000, seconds: 1)
                case .quality: properties.quality = 0.5
                case .keyFrameInterval: properties.keyFrameInterval = 10
                case .keyFrameIntervalDuration: properties.keyFrameIntervalDuration = MediaTime(value: 2, timescale: 1)
                case .allowsReordering: properties.allowsReordering = false
                case .profile: if properties.profile == nil, case .choice(let words) = supported.kind { properties.profile = words[1] }
                case .level: properties.level = "4.0"
                case .isRealTime: properties.isRealTime = true
                case .expectedFrameRate: properties.expectedFrameRate = Ratio(30_000, 1001)
                case .threads: properties.threads = 2
                case .maximumDelay: properties.maximumDelay = 4
                }
            }
            #expect(throws: Never.self, "\(supported.property)") { try CompressionSession(format: format(encoder.codec), options: options) }
        }
    }
}
