import Media
import SampleQueue
import Sandbox
import SurfacePool
import TestSupport
import Testing

@testable import Decoding

/// Hardware does not cross the wire: the decoder process has no right to it.
private let software = DecoderSpecification(hardware: .disable)

/// What is written is read back, and nothing else is ever taken for a message.
@Suite struct WireFormatTests {
    private static let hdr = HDRStaticMetadata(
        red: .init(x: 34000, y: 16000), green: .init(x: 13250, y: 34500), blue: .init(x: 7500, y: 3000), white: .init(x: 15635, y: 16450),
        maximumLuminance: 10_000_000, minimumLuminance: 50, maximumContentLightLevel: 1000, maximumFrameAverageLightLevel: 400)
    private static let attributes = FrameAttributes(
        pixelAspect: Ratio(16, 11), orientation: FrameOrientation(rotation: .clockwise270, isMirrored: true), color: .bt709, hdr: hdr)
    private static let format = VideoFormat(
        codec: .hevc, codedSize: PixelSize(width: 1920, height: 1088), visible: PixelRect(x: 0, y: 4, width: 1920, height: 1080),
        attributes: attributes, frameRate: Ratio(30000, 1001), profile: 2, level: 153, codecTag: 0x3163_7668, bitsPerCodedSample: 24, reorderDepth: 2)
    /// As much as there can be.
    private static let metadata: DynamicMetadata = {
        var metadata = DynamicMetadata()
        metadata.hdr10Plus = [UInt8](repeating: 0xB5, count: DynamicMetadata.longestHDR10Plus)
        metadata.dolbyVisionRPU = (0..<DynamicMetadata.longestRPU).map { UInt8(truncatingIfNeeded: $0) }
        return metadata
    }()
    private static let error = DecodingError(.invalidData, "the hevc decoder failed: Ungültige Daten", status: -1_094_995_529)
    private static let layouts = [
        SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 1920, height: 1088)),
        SurfaceLayout(format: .pal8, covering: PixelSize(width: 33, height: 7)),
        SurfaceLayout(format: .monowhite, covering: PixelSize(width: 1, height: 1), pitchAlignment: 32),
        SurfaceLayout(format: .gbrap16le, covering: PixelSize(width: 4096, height: 2304)),
    ]

    private static let surfaces = [
        SurfaceLayout(format: .nv12, covering: PixelSize(width: 640, height: 360)),
        SurfaceLayout(
            format: .p010le, size: PixelSize(width: 64, height: 64), modifier: FormatModifier(rawValue: 0x0100_0000_0000_0002),
            planes: [.init(offset: 0, pitch: 256), .init(offset: 256 * 64, pitch: 256)], byteCount: 256 * 96),
    ]

    private static let aligned: DecoderOptions = {
        var options = DecoderOptions(specification: software)
        options.rowAlignment = 4096
        return options
    }()
    private static let requests: [DecoderRequest] = [
        .configure(
            format: format, options: DecoderOptions(threads: 7, lowDelay: true, holdCount: 9, maximumSurfaceBytes: 1 << 33, specification: software),
            configurationByteCount: 77),
        .configure(
            format: VideoFormat(codec: .vp8, codedSize: PixelSize(width: 0, height: 0)), options: DecoderOptions(specification: software),
            configurationByteCount: 0),
        .configure(format: format, options: aligned, configurationByteCount: 0),
        .change(format: VideoFormat(codec: .vp9, codedSize: PixelSize(width: 320, height: 180)), configurationByteCount: 77),
        .sample(
            SampleDescriptor(
                number: .max, sampleNumber: 1 << 40, offset: 1 << 40, byteCount: 12345, sideByteCount: 1032, isInRing: true,
                presentationTime: MediaTime(value: -1001, timescale: 30000), decodeTime: .invalid, duration: MediaTime(seconds: 0.1, timescale: 7),
                sourcePresentationTimestamp: -5, sourceDecodeTimestamp: nil, sourceTimeBase: Ratio(1, 90000), flags: [.sync, .doNotDisplay],
                packetFlags: 5,
                instructions: DecodeInstructions(skipsNonReference: true, deadline: HostTime(nanoseconds: -1)))),
        .drain(number: 3), .flush(number: 0, interruptions: 70_000),
    ]
    private static let answers: [DecoderAnswer] = [
        .confined(SandboxReport(measures: [.landlock, .limits], landlockVersion: 7, troubles: ["no", "not that", ""])), .confined(SandboxReport()),
        .ready(decoderName: "libdav1d", driver: nil), .ready(decoderName: "h264", driver: ""), .ready(decoderName: "vp9", driver: "iHD 24"),
        .refused(error), .refused(DecodingError(.noHardware, "the driver does not decode H264High", status: 12)),
        .confined(SandboxReport(measures: [.systemCallFilter], keepsDevice: true)),
        .frame(
            FrameDescriptor(
                slot: 12, visible: PixelRect(x: 8, y: 2, width: 640, height: 360), attributes: attributes, presentationTime: .zero,
                duration: .invalid, sourceTimestamp: Int64.min, sourceTimeBase: Ratio(1, 12800), flags: [.sync, .corrupt],
                sampleNumber: 4, metadata: metadata)),
        .frame(
            FrameDescriptor(
                slot: 0, visible: PixelRect(x: 0, y: 0, width: 1, height: 1), attributes: FrameAttributes(), presentationTime: .indefinite,
                duration: .positiveInfinity, sourceTimestamp: nil, sourceTimeBase: .unknown, flags: [])),
        .dropped(sampleNumber: .max, .doNotDisplay), .failed(sampleNumber: 0, error),
        .done(number: 9, bytesWritten: .max, bytesCopied: 0, freed: Array(0..<UInt32(DecoderAnswer.mostFreed))),
        .done(number: 0, bytesWritten: 0, bytesCopied: 1, freed: []),
    ]
    private static let grants: [MemoryGrant] =
        SurfaceMemory.Kind.allCases.map { .granted(slot: 5, kind: $0) } + [.denied("no room"), .released(slot: 77), .interrupt, .ping]
    private static let wishes: [MemoryWish] =
        layouts.map { .want($0) } + surfaces.map { .offer(slot: 9, $0) } + [.gone(slot: 4), .pong(isExhausted: true), .pong(isExhausted: false)]

    private static func bytes(_ body: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        body(&writer)
        return writer.bytes
    }

    /// Every kind of message as bytes, with the reader that is to take it.
    private static var messages: [(bytes: [UInt8], read: @Sendable (ArraySlice<UInt8>) throws -> Void)] {
        requests.map { request in (bytes { $0.put(request) }, { _ = try DecoderRequest($0) }) }
            + answers.map { answer in (bytes { $0.put(answer) }, { _ = try DecoderAnswer($0) }) }
            + grants.map { grant in (bytes { $0.put(grant) }, { _ = try MemoryGrant($0) }) }
            + wishes.map { wish in (bytes { $0.put(wish) }, { _ = try MemoryWish($0) }) }
    }

    @Test func `every message is read as it was written`() throws {
        for request in Self.requests { #expect(try DecoderRequest(Self.bytes { $0.put(request) }[...]) == request) }
        for answer in Self.answers { #expect(try DecoderAnswer(Self.bytes { $0.put(answer) }[...]) == answer) }
        for grant in Self.grants { #expect(try MemoryGrant(Self.bytes { $0.put(grant) }[...]) == grant) }
        for wish in Self.wishes { #expect(try MemoryWish(Self.bytes { $0.put(wish) }[...]) == wish) }
    }

    @Test func `every message fits a packet`() {
        for message in Self.messages { #expect(message.bytes.count <= WireWriter.capacity) }
    }

    @Test func `a message cut short or prolonged is none`() {
        for message in Self.messages {
            for length in 0..<message.bytes.count {
                #expect(throws: WireError.self) { try message.read(message.bytes[..<length]) }
            }
            #expect(throws: WireError.self) { try message.read((message.bytes + [0])[...]) }
        }
    }

    @Test func `changed bytes give a message or an error`() {
        let seed: UInt64 = 0x5eed_50c2
        var dice = Dice(seed: seed)
        var refused = 0
        let messages = Self.messages
        for _ in 0..<30_000 {
            var (bytes, read) = messages.randomElement(using: &dice)!
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
            }
            do { try read(bytes[...]) } catch { refused += 1 }
        }
        #expect(refused > 0, "seed \(seed)")
    }

    @Test func `a layout larger than displays can count is refused`() throws {
        func read(_ byteCount: Int) throws {
            let size = PixelSize(width: 64, height: 64), plane = SurfaceLayout.Plane(offset: 0, pitch: 256)
            let layout = SurfaceLayout(format: .bgr0, size: size, modifier: .linear, planes: [plane], byteCount: byteCount)
            _ = try MemoryWish(Self.bytes { $0.put(.want(layout)) }[...])
        }
        try read(1 << 31 - 4096)
        for byteCount in [1 << 31 - 4095, 1 << 31, 12_600_000_000, 1 << 40] { #expect(throws: WireError.self) { try read(byteCount) } }
    }

    @Test func `a layout that reaches beyond its memory is refused`() throws {
        let size = PixelSize(width: 64, height: 64)
        func read(_ planes: [SurfaceLayout.Plane], _ byteCount: Int, format: PixelFormat = .yuv420p) throws {
            let layout = SurfaceLayout(format: format, size: size, modifier: .linear, planes: planes, byteCount: byteCount)
            _ = try MemoryWish(Self.bytes { $0.put(.want(layout)) }[...])
        }
        let luma = SurfaceLayout.Plane(offset: 0, pitch: 64), blue = SurfaceLayout.Plane(offset: 4096, pitch: 32)
        try read([luma, blue, .init(offset: 5120, pitch: 32)], 6144)
        #expect(throws: WireError.self) { try read([luma, blue, .init(offset: 5121, pitch: 32)], 6144) }
        #expect(throws: WireError.self) { try read([luma, blue, .init(offset: 5120, pitch: 33)], 6144) }
        #expect(throws: WireError.self) { try read([luma, .init(offset: 4096, pitch: 31), .init(offset: 5120, pitch: 32)], 6144) }
        #expect(throws: WireError.self) { try read([luma, blue], 6144) }
        #expect(throws: WireError.self) { try read([luma], 4096, format: .nv12) }
    }

    @Test func `a driver's surface has a format that hardware decodes into, and lies inside its memory`() throws {
        func read(_ layout: SurfaceLayout) throws -> MemoryWish { try MemoryWish(Self.bytes { $0.put(.offer(slot: 0, layout)) }[...]) }
        for layout in Self.layouts { #expect(throws: WireError.self) { try read(layout) } }
        for layout in Self.surfaces {
            #expect(try read(layout) == .offer(slot: 0, layout))
            let planes = [layout.plane(0), SurfaceLayout.Plane(offset: layout.plane(1).offset, pitch: 2 * layout.plane(1).pitch)]
            let beyond = SurfaceLayout(
                format: layout.format, size: layout.size, modifier: layout.modifier, planes: planes,
                byteCount: layout.plane(1).offset + layout.plane(1).pitch)
            #expect(throws: WireError.self) { try read(beyond) }
        }
    }

    @Test(
        arguments: [
            // What the process says, the sample's presentation and decode time, and what comes of it; in seconds.
            (5, 5, 4, 5), (14, 5, 4, 14), (16, 5, 4, 5), (-1_000_000, 5, 4, 5), (6, nil, 4, 6), (86_400, nil, 4, 4), (7, nil, nil, 7),
        ] as [(Int64?, Int64?, Int64?, Int64)])
    func `a frame far from its sample's time has the sample's`(said: Int64?, presentation: Int64?, decode: Int64?, expected: Int64) {
        func time(_ seconds: Int64?) -> MediaTime { seconds.map { MediaTime(value: $0, timescale: 1) } ?? .invalid }
        let frame = FrameDescriptor(
            slot: 0, visible: PixelRect(x: 0, y: 0, width: 1, height: 1), attributes: FrameAttributes(), presentationTime: time(said),
            duration: .invalid, sourceTimestamp: nil, sourceTimeBase: .unknown, flags: [])
        let receipt = SampleReceipt(number: 1, presentationTime: time(presentation), decodeTime: time(decode))
        #expect(frame.credibleTimes(of: receipt).time == time(expected))
    }

    @Test(
        arguments: [(1, 1, 1), (3600, 1, 1), (3600, 3595, 3600), (-60, 1, 1), (8, nil, 8), (3600, nil, nil), (nil, 2, nil)]
            as [(Int64?, Int64?, Int64?)])
    func `a frame that is said to last much longer than its sample lasts as long as that`(said: Int64?, sample: Int64?, expected: Int64?) {
        func time(_ seconds: Int64?) -> MediaTime { seconds.map { MediaTime(value: $0, timescale: 1) } ?? .invalid }
        let frame = FrameDescriptor(
            slot: 0, visible: PixelRect(x: 0, y: 0, width: 1, height: 1), attributes: FrameAttributes(), presentationTime: .zero,
            duration: time(said), sourceTimestamp: nil, sourceTimeBase: .unknown, flags: [])
        let receipt = SampleReceipt(number: 1, presentationTime: .zero, duration: time(sample))
        #expect(frame.credibleTimes(of: receipt).duration == time(expected))
    }

    @Test(arguments: [(1024, 2048, true), (1025, 0, false), (0, 2049, false)])
    func `HDR metadata has a length that it may have`(hdr10Plus: Int, rpu: Int, isTaken: Bool) {
        var frame = FrameDescriptor(
            slot: 0, visible: PixelRect(x: 0, y: 0, width: 1, height: 1), attributes: FrameAttributes(), presentationTime: .zero,
            duration: .invalid, sourceTimestamp: nil, sourceTimeBase: .unknown, flags: [])
        frame.metadata.hdr10Plus = [UInt8](repeating: 1, count: hdr10Plus)
        frame.metadata.dolbyVisionRPU = [UInt8](repeating: 2, count: rpu)
        var reader = WireReader(Self.bytes { $0.put(.frame(frame)) }[...])
        #expect(((try? DecoderAnswer(&reader)) == .frame(frame)) == isTaken)
    }

    @Test(arguments: [0, 3, 96, 8192] as [UInt16]) func `rows cannot lie any distance apart`(_ alignment: UInt16) {
        var options = DecoderOptions(specification: software)
        options.rowAlignment = Int(alignment)
        let bytes = Self.bytes { $0.put(.configure(format: Self.format, options: options, configurationByteCount: 0)) }
        #expect(throws: WireError.self) { try DecoderRequest(bytes[...]) }
    }

    @Test func `a stranger's text cannot steer a terminal`() {
        #expect(throws: WireError.self) { try DecoderAnswer(Self.bytes { $0.put(.ready(decoderName: "\u{1b}[2J", driver: nil)) }[...]) }
        #expect(throws: WireError.self) { try MemoryGrant(Self.bytes { $0.put(.denied("two\nlines")) }[...]) }
    }

    @Test func `a long text is cut between characters`() throws {
        let long = String(repeating: "ü", count: 2000)
        guard case .denied(let kept) = try MemoryGrant(Self.bytes { $0.put(.denied(long)) }[...]) else { Issue.record("another message"); return }
        #expect(kept == String(repeating: "ü", count: 500))
    }
}

extension DecoderAnswer {
    /// The only answer of a message.
    fileprivate init(_ bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        self = try DecoderAnswer(&reader)
        try reader.finish()
    }
}
