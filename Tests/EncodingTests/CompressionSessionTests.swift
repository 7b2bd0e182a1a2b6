import Decoding
import Encoding
import Media
import PixelConversion
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// An encoder that an installation of FFmpeg may have, and what is expected of it.
struct EncoderCase: Sendable, CustomTestStringConvertible {
    var codec: VideoCodec
    var name: String
    var profile: String?
    /// Of every frame, in decibel, beside the source.
    var leastPSNR: Double
    var quality: Double?
    /// Whether frames of yuv420p are read in place.
    var isInPlace = true

    var testDescription: String { "\(name) \(profile ?? "")" }

    static let all = [
        EncoderCase(codec: .h264, name: "libx264", leastPSNR: 34, quality: 0.6),
        EncoderCase(codec: .hevc, name: "libx265", leastPSNR: 34, quality: 0.6),
        EncoderCase(codec: .av1, name: "libsvtav1", leastPSNR: 30, quality: 0.6),
        EncoderCase(codec: .av1, name: "libaom-av1", leastPSNR: 32, quality: 0.6),
        EncoderCase(codec: .av1, name: "librav1e", leastPSNR: 30, quality: 0.6),
        EncoderCase(codec: .vp9, name: "libvpx-vp9", leastPSNR: 32, quality: 0.6),
        EncoderCase(codec: VideoCodec(name: "prores"), name: "prores_ks", profile: "hq", leastPSNR: 40, isInPlace: false),
        EncoderCase(codec: VideoCodec(name: "prores"), name: "prores_ks", profile: "4444", leastPSNR: 40, isInPlace: false),
        EncoderCase(codec: VideoCodec(name: "mjpeg"), name: "mjpeg", leastPSNR: 34, quality: 0.9, isInPlace: false),
        EncoderCase(codec: VideoCodec(name: "ffv1"), name: "ffv1", leastPSNR: .infinity),
    ]

    /// Those of this installation. A sanitizer sees nothing of what the AV1 encoders and x265 do on threads of their own, and has nothing to say
    /// about this project there that the others do not show it.
    static var installed: [EncoderCase] {
        let wanted = TestExtent.isSanitized ? all.filter { !["libx265", "libsvtav1", "libaom-av1", "librav1e"].contains($0.name) } : all
        return wanted.filter { Encoders.names(for: $0.codec).contains($0.name) }
    }

    func options(pixelFormat: PixelFormat = .yuv420p, _ change: (inout EncodingProperties) -> Void = { _ in }) -> EncoderOptions {
        .fast(name, pixelFormat: pixelFormat) { properties in
            properties.quality = quality
            properties.profile = profile
            change(&properties)
        }
    }
}

@Suite("compression session")
struct CompressionSessionTests {
    @Test("this installation has the encoders that the project promises", arguments: ["h264", "hevc", "av1", "vp9", "prores", "mjpeg", "ffv1"])
    func promised(codec: String) {
        #expect(!Encoders.names(for: VideoCodec(name: codec)).isEmpty)
    }

    @Test("what an encoder makes of our film, our decoder shows again", arguments: EncoderCase.installed)
    func roundTrip(encoder: EncoderCase) throws {
        let film = try EncodedFilm(to: encoder.codec, encoder.options())
        #expect(film.encoderName == encoder.name)
        #expect(film.samples.count == 12 && film.answers.count == 12, "one answer for each frame: \(film.answers.count)")
        #expect(Set(film.answers.map(\.receipt.number)) == Set(0..<12))
        #expect(Set(film.samples.map(\.presentationTime)) == Set(film.times))
        #expect(film.samples.first?.flags.contains(.sync) == true)
        for (one, next) in zip(film.samples, film.samples.dropFirst()) { #expect(one.decodeTime <= next.decodeTime) }
        for sample in film.samples { #expect(sample.decodeTime <= sample.presentationTime) }
        let decoded = try film.decoded(to: .yuv420p)
        #expect(decoded.failures == 0)
        #expect(decoded.times == film.times, "in the order of presentation")
        for (source, frame) in zip(film.sources, decoded.frames) {
            let psnr = EncodedFilm.psnr(source, frame)
            #expect(psnr >= encoder.leastPSNR, "\(psnr) dB")
        }
    }

    @Test("the encoder reads the decoder's surfaces and gives them back", arguments: EncoderCase.installed)
    func inPlace(encoder: EncoderCase) throws {
        let film = try EncodedFilm(to: encoder.codec, encoder.options())
        #expect((film.bytesCopied == 0) == encoder.isInPlace, "\(film.bytesCopied) bytes")
        #expect((film.conversion == nil) == encoder.isInPlace, "\(film.conversion?.sentence ?? "none")")
        #expect(film.surfacesInUse == 0)
    }

    @Test("a conversion that cannot be avoided is made once a frame and reported")
    func conversion() throws {
        let film = try EncodedFilm(
            "odd-size-444.mp4", to: VideoCodec(name: "prores"), .fast("prores_ks", pixelFormat: .yuv444p) { $0.profile = "4444" })
        let report = try #require(film.conversion)
        #expect(report.frames == 12)
        #expect(report.from == "yuv444p 321x181" && report.to.hasSuffix(" 321x181"))
        #expect(film.bytesCopied == 12 * report.bytesPerFrame)
    }

    @Test("FFV1 loses nothing", arguments: [("plain.mp4", PixelFormat.yuv420p), ("odd-size-444.mp4", .yuv444p), ("hdr10.mp4", .yuv420p10le)])
    func lossless(name: String, format: PixelFormat) throws {
        let film = try EncodedFilm(name, to: VideoCodec(name: "ffv1"), .fast("ffv1", pixelFormat: format), count: 10)
        #expect(film.bytesCopied == 0)
        #expect(try film.decoded().frames == film.sources)
    }

    @Test(
        "key frames stand where they are asked for", arguments: EncoderCase.installed.filter { !["prores", "mjpeg", "ffv1"].contains($0.codec.name) })
    func forcedKeyFrames(encoder: EncoderCase) throws {
        let film = try EncodedFilm(to: encoder.codec, encoder.options { $0.keyFrameInterval = 250 }, forced: [5, 9])
        let keys = film.samples.filter { $0.flags.contains(.sync) }.map(\.presentationTime)
        #expect(keys == [0, 5, 9].map { film.times[$0] })
        let decoded = try film.decoded()
        #expect(decoded.times == film.times)
    }

    @Test("a key frame comes at the latest after the interval, in frames and in seconds", arguments: [true, false])
    func interval(inSeconds: Bool) throws {
        let film = try EncodedFilm(
            to: .h264,
            .fast("libx264") {
                if inSeconds { $0.keyFrameIntervalDuration = MediaTime(value: 1, timescale: 6) } else { $0.keyFrameInterval = 5 }
            })
        let keys = film.samples.filter { $0.flags.contains(.sync) }.map(\.presentationTime)
        #expect(keys == [0, 5, 10].map { film.times[$0] })
    }

    @Test("reordering is a choice", arguments: ["libx264", "libx265"])
    func reordering(name: String) throws {
        guard let encoder = EncoderCase.installed.first(where: { $0.name == name }) else { return }
        func film(_ reorders: Bool) throws -> EncodedFilm {
            var options = encoder.options { $0.allowsReordering = reorders }
            options.encoderOptions["preset"] = "veryfast"
            return try EncodedFilm(to: encoder.codec, options, count: 20)
        }
        let with = try film(true), without = try film(false)
        #expect(with.samples.map(\.presentationTime) != with.times)
        #expect(with.format.reorderDepth > 0)
        #expect(without.samples.map(\.presentationTime) == without.times)
        #expect(try with.decoded().times == with.times)
    }

    @Test("no sample is later than the delay allows", arguments: ["libx264", "libx265", "libvpx-vp9", "libaom-av1"], [0, 1, 2, 3, 4, 8])
    func delay(name: String, most: Int) throws {
        guard let encoder = EncoderCase.installed.first(where: { $0.name == name }) else { return }
        for preset in name.hasPrefix("libx26") ? ["ultrafast", "medium"] : [nil] {
            var options = encoder.options { $0.maximumDelay = most }
            if let preset { options.encoderOptions["preset"] = preset }
            let film = try EncodedFilm(to: encoder.codec, options, count: 20)
            #expect(film.mostHeld <= most, "\(preset ?? "")")
            #expect(film.samples.count == 20)
        }
    }

    @Test("in real time nothing is held back", arguments: EncoderCase.installed.filter { ["libx264", "libx265", "libvpx-vp9"].contains($0.name) })
    func realTime(encoder: EncoderCase) throws {
        let film = try EncodedFilm(to: encoder.codec, encoder.options { $0.isRealTime = true })
        #expect(film.mostHeld == 0)
    }

    @Test("the rate is kept")
    func rate() throws {
        func film(_ rate: Int) throws -> EncodedFilm {
            try EncodedFilm("demo.mp4", to: .h264, .fast("libx264") { $0.averageBitRate = rate }, count: 60)
        }
        let small = try film(200_000), large = try film(1_000_000)
        // Two seconds of film.
        #expect(abs(small.byteCount * 8 - 400_000) < 120_000, "\(small.byteCount * 8) bits")
        #expect(large.byteCount > 2 * small.byteCount)
    }

    @Test("colours, aspect and HDR metadata survive", arguments: ["libx265", "libx264", "libsvtav1"])
    func attributes(name: String) throws {
        guard let encoder = EncoderCase.installed.first(where: { $0.name == name }) else { return }
        let hdr = HDRStaticMetadata(
            red: .init(x: 35_400, y: 14_600), green: .init(x: 8500, y: 39_850), blue: .init(x: 6550, y: 2300), white: .init(x: 15_635, y: 16_450),
            maximumLuminance: 10_000_000, minimumLuminance: 50, maximumContentLightLevel: 1000, maximumFrameAverageLightLevel: 400)
        let color = ColorDescription(primaries: 9, transfer: 16, matrix: 9, range: .limited, chromaSiting: .left)
        let film = try EncodedFilm(
            "hdr10.mp4", to: encoder.codec, encoder.options(pixelFormat: .yuv420p10le), count: 5, attributes: FrameAttributes(color: color, hdr: hdr))
        #expect(film.bytesCopied == 0)
        // The decoder is told nothing: what it says stands in the stream.
        var bare = film
        bare.format.attributes = FrameAttributes()
        let stated = try #require(try bare.decoded().attributes.first)
        #expect(stated.color.primaries == 9 && stated.color.transfer == 16 && stated.color.matrix == 9 && stated.color.range == .limited)
        #expect(stated.hdr == hdr && film.format.attributes.hdr == hdr)
    }

    @Test("pixels that are not square stay so")
    func aspect() throws {
        var film = try EncodedFilm("pixel-aspect-2.mp4", to: .h264, .fast("libx264"), count: 3)
        #expect(film.format.attributes.pixelAspect == Ratio(2, 1))
        film.format.attributes = FrameAttributes()
        #expect(try film.decoded().attributes.first?.pixelAspect == Ratio(2, 1))
    }

    @Test("only the visible part is encoded")
    func crop() throws {
        let film = try EncodedFilm("crop.mp4", to: .h264, .fast("libx264") { $0.quality = 0.8 }, count: 5)
        #expect(film.format.visible.size == PixelSize(width: 318, height: 178))
        #expect(film.bytesCopied == 0)
        for (source, frame) in zip(film.sources, try film.decoded().frames) { #expect(EncodedFilm.psnr(source, frame) > 38) }
    }

    @Test("completing answers everything, and the film goes on with a key frame", arguments: EncoderCase.installed)
    func completion(encoder: EncoderCase) throws {
        let film = try EncodedFilm(to: encoder.codec, encoder.options(), completesAt: 6)
        #expect(film.completed == 6)
        #expect(film.answers.count == 12 && film.samples.count == 12)
        for (one, next) in zip(film.samples, film.samples.dropFirst()) { #expect(one.decodeTime <= next.decodeTime) }
        #expect(try film.decoded().times == film.times)
    }
}
