import Media
import Sandbox
import SurfacePool
import TestSupport
import Testing

@testable import FrameExport

/// Bytes as GStreamer writes and reads them.
@Suite struct WireTests {
    @Test func `messages are what GStreamer's structures hold`() throws {
        var buffer = UnixFDBuffer(id: 0x1122_3344_5566_7788, isDMABuf: true, memories: [.init(size: 4096, offset: 16)])
        buffer.pts = 7
        buffer.duration = 9
        let bytes = buffer.message
        #expect(bytes.count == 8 + 56 + 16)
        #expect(Array(bytes[..<8]) == [0, 0, 0, 0, 72, 0, 0, 0])
        #expect(Array(bytes[8..<16]) == [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11])
        #expect(bytes[60] == 1 && bytes[61] == 1 && bytes[62] == 0)
        #expect(UnixFDCommand.release(5) == [1, 0, 0, 0, 8, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0])
        #expect(UnixFDCommand.caps("a") == [2, 0, 0, 0, 2, 0, 0, 0, 97, 0])
        #expect(UnixFDCommand.message(.endOfStream) == [3, 0, 0, 0, 0, 0, 0, 0])
        #expect(try UnixFDBuffer(payload: Array(bytes[8...])) == buffer)
    }

    @Test func `metadata goes and comes, and what is unknown is passed over`() throws {
        var buffer = UnixFDBuffer(id: 1, isDMABuf: false, memories: [.init(size: 10, offset: 0)])
        buffer.videoMeta = GStreamerVideoMeta(format: 2, width: 64, height: 16, offsets: [0, 1024, 1280], strides: [64, 32, 32])
        buffer.mediaTime = 40_000_000
        buffer.mediaDuration = 40_000_000
        let byteCount: Int = 36 + 3 * 16
        #expect(buffer.videoMeta?.bytes.count == byteCount)
        let message = [UInt8](buffer.message.dropFirst(8))
        let read = try UnixFDBuffer(payload: message)
        #expect(read == buffer)
        let plain = UnixFDBuffer(id: 1, isDMABuf: false, memories: [])
        var payload = [UInt8](plain.message.dropFirst(8))
        payload[54] = 1
        var meta = WireWriter()
        meta.put(meta: "GstSomethingMeta", [1, 2, 3])
        payload += meta.bytes
        let other = try UnixFDBuffer(payload: payload)
        #expect(other.videoMeta == nil)
    }

    @Test(
        arguments: [
            ("video/x-raw, format=(string)I420, width=(int)320, height=(int)240, framerate=(fraction)30/1", PixelFormat.yuv420p, UInt64?.none),
            ("video/x-raw, format=I420_10LE, width=1, height=1, colorimetry=(string)bt709", .yuv420p10le, nil),
            ("video/x-raw(memory:DMABuf), format=(string)DMA_DRM, drm-format=(string)NV12, width=(int)64, height=(int)64", .nv12, 0),
            ("video/x-raw(memory:DMABuf), width=8, height=8, format=DMA_DRM, drm-format=\"P010:0x0100000000000002\"", .p010le, 0x0100_0000_0000_0002),
            ("video/x-raw(memory:DMABuf), width=8, height=8, format=DMA_DRM, drm-format=R8", .gray, 0),
        ] as [(String, PixelFormat, UInt64?)])
    func `caps are understood`(_ text: String, _ format: PixelFormat, _ modifier: UInt64?) throws {
        let caps = try VideoCaps(text: text)
        #expect(caps.format == format && caps.modifier?.rawValue == modifier)
        #expect(try VideoCaps(text: caps.text).text == caps.text)
    }

    @Test(arguments: ["", "audio/x-raw", "video/x-raw", "video/x-raw, format=I420, width=0, height=5", "video/x-raw, format=XYZ, width=1, height=1"])
    func `other caps are refused with a sentence`(_ text: String) {
        #expect(throws: ExportError.self) { try VideoCaps(text: text) }
    }

    @Test func `every format's caps come back as they went`() throws {
        for format in PixelFormat.allCases {
            for isDMABuf in [false, true] {
                let frame = FrameDescription(
                    layout: SurfaceLayout(format: format, covering: PixelSize(width: 33, height: 17)),
                    visible: PixelRect(PixelSize(width: 33, height: 17)), attributes: FrameAttributes(pixelAspect: Ratio(4, 3), color: .bt709),
                    identity: SurfaceIdentity(pool: 1, generation: 0, slot: 0), sequence: 0, isDMABuf: isDMABuf)
                guard let caps = VideoCaps(frame) else { continue }
                let read = try VideoCaps(text: caps.text)
                #expect(read.text == caps.text)
                #expect(read.format.description.planes == format.description.planes, "\(format)")
                let layout = try UnixFDBuffer(frame, id: 1, at: HostTime(nanoseconds: 1)).layout(read)
                #expect(layout.plane(0) == frame.layout.plane(0))
            }
        }
    }

    @Test(arguments: [false, true])
    func `a format without a kernel's code is named by GStreamer's name, in whatever memory`(_ isDMABuf: Bool) throws {
        let size = PixelSize(width: 32, height: 16)
        let frame = FrameDescription(
            layout: SurfaceLayout(format: .yuva420p, covering: size), visible: PixelRect(size),
            identity: SurfaceIdentity(pool: 1, generation: 0, slot: 0), sequence: 0, isDMABuf: isDMABuf)
        #expect(VideoCaps(frame)?.text.hasPrefix("video/x-raw, format=(string)A420, width=(int)32") == true)
    }

    @Test func `planes beyond the memory are refused`() throws {
        let caps = try VideoCaps(text: "video/x-raw, format=I420, width=64, height=16")
        let size: UInt64 = 64 * 16 * 3 / 2
        var buffer = UnixFDBuffer(id: 1, isDMABuf: false, memories: [UnixFDBuffer.Memory(size: size, offset: 0)])
        #expect(try buffer.layout(caps).plane(2).offset == 64 * 16 * 5 / 4)
        buffer.memories[0].size -= 1
        #expect(throws: ExportError.self) { try buffer.layout(caps) }
        buffer.memories[0].size = .max
        #expect(throws: ExportError.self) { try buffer.layout(caps) }
        buffer.memories[0].size = size
        for (offset, stride) in [(UInt64.max, Int32(64)), (0, 0), (0, -64), (0, 63), (600, 64)] {
            buffer.videoMeta = GStreamerVideoMeta(format: 2, width: 64, height: 16, offsets: [offset, 1024, 1280], strides: [stride, 32, 32])
            #expect(throws: ExportError.self) { try buffer.layout(caps) }
        }
    }

    @Test func `no bytes bring the readers down`() {
        var dice = Dice(seed: 5)
        var valid = UnixFDBuffer(id: 3, isDMABuf: false, memories: [.init(size: 4096, offset: 0)])
        valid.videoMeta = GStreamerVideoMeta(format: 2, width: 64, height: 16, offsets: [0, 1024, 1280], strides: [64, 32, 32])
        valid.mediaTime = 1
        let message = valid.message
        let caps = try! VideoCaps(text: "video/x-raw, format=I420, width=64, height=16")
        for _ in 0..<20_000 {
            var bytes = message
            for _ in 0..<Int.random(in: 1...6, using: &dice) {
                bytes[Int.random(in: 0...bytes.count - 1, using: &dice)] = UInt8(Int.random(in: 0...255, using: &dice))
            }
            bytes.removeLast(Int.random(in: 0...20, using: &dice))
            var parser = UnixFDParser(payloadLimit: 4096)
            parser.append(bytes)
            guard let parsed = try? parser.next(), let buffer = try? UnixFDBuffer(payload: parsed.payload) else { continue }
            _ = try? buffer.layout(caps)
        }
        for _ in 0..<5_000 {
            var text = Array(caps.text.utf8)
            for _ in 0..<Int.random(in: 1...8, using: &dice) {
                text[Int.random(in: 0...text.count - 1, using: &dice)] = UInt8(Int.random(in: 0...255, using: &dice))
            }
            _ = try? VideoCaps(text: String(decoding: text, as: UTF8.self))
        }
    }

    @Test func `what clients say, and what follows`() {
        let release = UnixFDCommand.release
        let table: [(bytes: [UInt8], released: [Int], isEnded: Bool)] = [
            (release(1), [10], false), (release(2) + release(1), [20, 10], false), (release(3), [], true), (release(1) + release(1), [10], true),
            (UnixFDCommand.caps("x"), [], true), (UnixFDCommand.message(.newBuffer), [], true), (UnixFDCommand.message(.endOfStream), [], false),
            ([9, 9, 0, 0, 2, 0, 0, 0, 1, 2], [], false), ([1, 0, 0, 0, 7, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7], [], true),
            ([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], [], true), (Array(release(1)[..<15]), [], false),
        ]
        for row in table {
            for step in [1, 3, row.bytes.count] {
                var client = FrameServerClientState<Int>(budget: 2)
                client.sent(1, 10, at: MonotonicClock.shared.now())
                client.sent(2, 20, at: MonotonicClock.shared.now())
                #expect(!client.hasRoom)
                var released: [Int] = [], isEnded = false, rest = row.bytes[...]
                while !rest.isEmpty, !isEnded {
                    for event in client.receive(rest.prefix(step)) {
                        switch event {
                        case .released(let token): released.append(token)
                        case .end: isEnded = true
                        case .wants, .asks: Issue.record("it asked for nothing")
                        }
                    }
                    rest = rest.dropFirst(step)
                }
                #expect(released == row.released && isEnded == row.isEnded, "\(row.bytes)")
                #expect(client.heldCount == 2 - row.released.count)
            }
        }
    }

    @Test func `times never go back`() {
        var stamps = FrameStamps()
        func frame(_ number: Int64, host: HostTime? = nil) -> FrameDescription {
            FrameDescription(
                layout: ExportStage.layout, visible: PixelRect(PixelSize(width: 64, height: 16)),
                presentationTime: MediaTime(value: number, timescale: 25), duration: MediaTime(value: 1, timescale: 25), hostTime: host,
                identity: SurfaceIdentity(pool: 1, generation: 1, slot: 1), sequence: 0, isDMABuf: false)
        }
        func at(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: 1_000_000 * milliseconds) }
        // Without a clock: the film's distances, on after it begins again.
        let untimed = [(10, 0, 0), (0, 1, 40), (5, 3, 120), (9000, 4, 160), (9001, 0, 200), (9002, 1, 240)] as [(Int64, Int64, Int64)]
        for (now, number, span) in untimed { #expect(stamps.next(frame(number), isPaced: false, now: at(now)) == at(10 + span)) }
        // With a clock: what it says; now while it stands.
        #expect(stamps.next(frame(9, host: at(9500)), isPaced: true, now: at(9400)) == at(9500))
        #expect(stamps.next(frame(10), isPaced: true, now: at(9450)) == at(9500))
        #expect(stamps.next(frame(11), isPaced: true, now: at(9700)) == at(9700))
    }
}
