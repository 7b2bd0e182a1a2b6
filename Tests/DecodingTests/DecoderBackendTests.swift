import Decoding
import Media
import PixelConversion
import SampleQueue
import Sandbox
import SurfacePool
import TestSupport
import Testing

/// Decoders that a program adds to the list.
@Suite(.serialized) struct DecoderBackendTests {
    /// A codec of the test's own: each sample is the brightness of a frame, which the decoder of a common codec could not know.
    private struct Flat: DecoderBackend {
        var name = "flat"
        var summary: String { "frames of one brightness" }
        var obstacle: String?
        var codec = VideoCodec(name: "flat")

        func makeSession(
            for format: VideoFormat, _ options: DecoderOptions, allocator: any SurfaceAllocator, statistics: FrameStatistics
        ) throws(DecodingError) -> any DecodingSession {
            guard format.codec == codec else { throw DecodingError(.noDecoder, "\(name) does not decode \(format.codec)") }
            return FlatSession(format, options, allocator, name)
        }
    }

    private final class FlatSession: DecodingSession {
        let decoderName: String
        let options: DecoderOptions
        private let format: VideoFormat
        private let pool: SurfacePool
        private let count = Monitor<UInt64>(0)

        init(_ format: VideoFormat, _ options: DecoderOptions, _ allocator: any SurfaceAllocator, _ name: String) {
            decoderName = name
            self.options = options
            self.format = format
            pool = SurfacePool(
                layout: SurfaceLayout(format: .gray, covering: format.codedSize), allocator: allocator, maximumCount: 4 + options.holdCount)
        }

        var poolStatistics: SurfacePoolStatistics { pool.statistics }
        var conversion: ConversionReport? { nil }
        var backend: BackendInUse { BackendInUse(name: decoderName) }
        func canAccept(_ other: VideoFormat) -> Bool { other == format }

        func decode(_ sample: SampleBuffer, _ instructions: DecodeInstructions, output: (consuming DecodeOutput) -> Void) throws(DecodingError) {
            guard case .compressed(let block, .video) = sample.content else { return }
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            let receipt = SampleReceipt(number: number, presentationTime: sample.presentationTime)
            guard let slot = try? pool.acquire() else { return output(.failed(receipt, DecodingError(.outOfSurfaces, "no surface"))) }
            let value = unsafe block.withUnsafeBytes { unsafe $0[0] }
            unsafe slot.withUnsafeMutableBytes { bytes in for index in bytes.indices { unsafe bytes[index] = value } }
            output(
                .frame(
                    VideoFrame(
                        use: slot.finish(), visible: PixelRect(format.codedSize), presentationTime: sample.presentationTime, sequence: number,
                        sampleNumber: number)))
        }

        func drop(_ sample: SampleBuffer, _ reason: DropReason, output: (consuming DecodeOutput) -> Void) throws(DecodingError) {}
        func finishDelayedFrames(output: (consuming DecodeOutput) -> Void) {}
        func flush(output: (consuming DecodeOutput) -> Void) {}
        func interrupt() {}
        func invalidate() {}
    }

    private static let format = VideoFormat(codec: VideoCodec(name: "flat"), codedSize: PixelSize(width: 32, height: 16))

    private static func sample(_ value: UInt8) -> SampleBuffer {
        let block = unsafe [value].withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
        return SampleBuffer(content: .compressed(block, .video(format)), presentationTime: .zero, flags: [.sync])
    }

    private static func options(_ name: String?) -> DecoderOptions {
        DecoderOptions(threads: 1, specification: DecoderSpecification(hardware: .disable, backend: name))
    }

    @Test(arguments: [nil, "flat"] as [String?]) func `a codec of the program's own is decoded, chosen by the format or by name`(name: String?) throws
    {
        DecoderBackends.add(Flat())
        defer { DecoderBackends.remove("flat") }
        let session = try DecoderBackends.makeSession(for: Self.format, Self.options(name))
        #expect(session.backend.name == "flat" && !session.backend.isHardware)
        var values: [UInt8] = []
        for value in [7, 200] as [UInt8] {
            try session.decode(Self.sample(value)) { output in
                guard case .frame(let frame) = output else { return }
                unsafe frame.surface.withUnsafeBytes { bytes in unsafe values.append(bytes[0]) }
            }
        }
        #expect(values == [7, 200])
    }

    @Test func `what it does not take goes to the library's own decoders`() throws {
        DecoderBackends.add(Flat())
        defer { DecoderBackends.remove("flat") }
        let film = try SandboxedSessionTests.film(TestAssets.path("annexb.h264"))
        #expect(try DecoderBackends.makeSession(for: film.format, Self.options(nil)).backend.name == DecoderBackends.software)
        #expect(try DecoderBackends.makeSession(for: film.format, Self.options("software")).decoderName == "h264")
        #expect { _ = try DecoderBackends.makeSession(for: film.format, Self.options("flat")) } throws: {
            ($0 as? DecodingError)?.code == .noDecoder
        }
    }

    @Test func `the one added last is asked first, and takes the place of one with its name`() throws {
        DecoderBackends.add(Flat())
        DecoderBackends.add(Flat(name: "flat-2"))
        DecoderBackends.add(Flat(obstacle: "the device is missing"))
        defer { for name in ["flat", "flat-2"] { DecoderBackends.remove(name) } }
        #expect(DecoderBackends.added.map(\.name) == ["flat", "flat-2"])
        // The first has an obstacle.
        #expect(try DecoderBackends.makeSession(for: Self.format, Self.options(nil)).backend.name == "flat-2")
        #expect { _ = try DecoderBackends.makeSession(for: Self.format, Self.options("flat")) } throws: {
            "\($0)" == "the decoder flat cannot be used: the device is missing"
        }
    }

    @Test func `a name that nobody has is an error that lists the names`() throws {
        DecoderBackends.add(Flat())
        defer { DecoderBackends.remove("flat") }
        #expect { _ = try DecoderBackends.makeSession(for: Self.format, Self.options("nvdec")) } throws: {
            ($0 as? DecodingError) == DecodingError(.noDecoder, "no decoder is called nvdec; there are flat, va-api, software")
        }
    }

    @Test func `with a sandbox no code of the program's decodes`() throws {
        DecoderBackends.add(Flat())
        defer { DecoderBackends.remove("flat") }
        let sandbox = SandboxedSessionTests.options(.require)
        for name in [nil, "flat"] as [String?] {
            #expect { _ = try DecoderBackends.makeSession(for: Self.format, Self.options(name), sandbox: sandbox) } throws: {
                ($0 as? DecodingError)?.code == .noDecoder
            }
        }
        let film = try SandboxedSessionTests.film(TestAssets.path("annexb.h264"))
        #expect(try DecoderBackends.makeSession(for: film.format, Self.options(nil), sandbox: sandbox) is SandboxedSession)
    }

    @Test func `without a decoder program the library decodes by itself and says so, but not where a sandbox is required`() throws {
        let film = try SandboxedSessionTests.film(TestAssets.path("annexb.h264"))
        var notices: [String] = []
        let session = try DecoderBackends.makeSession(
            for: film.format, Self.options(nil), sandbox: SandboxOptions(policy: .full, decoderPath: "/nowhere/decoder")
        ) { notices.append($0) }
        #expect(session is DecompressionSession)
        #expect(notices == ["Decoding without a sandbox: /nowhere/decoder is not a program that can be started."])
        #expect {
            _ = try DecoderBackends.makeSession(
                for: film.format, Self.options(nil), sandbox: SandboxOptions(policy: .require, decoderPath: "/nowhere/decoder"))
        } throws: { ($0 as? DecodingError)?.code == .sandbox }
    }
}
