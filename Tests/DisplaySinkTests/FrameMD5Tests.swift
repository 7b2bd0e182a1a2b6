import DisplaySink
import Foundation
import Media
import SinkConformance
import SurfacePool
import Testing

/// Writes frames to a file through the sink, and reads it back.
private func text(of path: String, software: String? = nil, _ body: (PresentationQueue) throws -> Void) throws -> [String] {
    let sink = try FrameMD5Sink(path: path, software: software)
    let queue = PresentationQueue(capacity: 2, timebase: Timebase(), pacing: sink.pacing)
    try sink.start(queue) { _ in }
    try body(queue)
    queue.markEndOfStream()
    sink.stop()
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
}

private struct NoSurface: Error {}

/// A frame whose sample at (x, y) of plane p is 16·p + 5·x + 3·y, and whose padding is 0xff.
private func makeFrame(
    _ format: PixelFormat, allocated: PixelSize, visible: PixelRect, time: Int64? = 0, timeBase: Ratio = Ratio(1, 25),
    duration: MediaTime = .invalid, aspect: Ratio = .one, sequence: UInt64 = 0
) throws -> VideoFrame {
    let layout = SurfaceLayout(format: format, covering: allocated)
    let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1)
    guard let writer = try pool.acquire() else { throw NoSurface() }
    unsafe writer.withUnsafeMutableBytes { bytes in
        for index in bytes.indices { unsafe bytes[index] = 0xff }
        for (index, plane) in format.description.planes.enumerated() {
            let place = layout.plane(index)
            for y in 0..<plane.rows(height: allocated.height) {
                for x in 0..<plane.rowBytes(width: allocated.width) {
                    unsafe bytes[place.offset + y * place.pitch + x] = UInt8(truncatingIfNeeded: 16 * index + 5 * x + 3 * y)
                }
            }
        }
    }
    return VideoFrame(
        use: writer.finish(), visible: visible, attributes: FrameAttributes(pixelAspect: aspect),
        presentationTime: time.map { MediaTime(value: $0 * Int64(timeBase.numerator), timescale: timeBase.denominator) } ?? .invalid,
        duration: duration, sourceTimestamp: time, sourceTimeBase: timeBase, sequence: sequence)
}

@Suite("FrameMD5Sink")
struct FrameMD5Tests {
    private let path = NSTemporaryDirectory() + "frames-\(UUID().uuidString).framemd5"

    @Test("the text is FFmpeg's, in header and lines")
    func format() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let whole = PixelRect(PixelSize(width: 16, height: 8))
        let lines = try text(of: path, software: "Lavf59.27.100") { queue in
            for (index, time) in ([0, 3600, 7200, 7200, 5000] as [Int64]).enumerated() {
                queue.enqueue(
                    try makeFrame(
                        .yuv420p, allocated: whole.size, visible: whole, time: time, timeBase: Ratio(1, 90000),
                        duration: MediaTime(value: 1, timescale: 25), aspect: index == 0 ? Ratio(12, 11) : .one, sequence: UInt64(index)))
            }
        }
        let expected: [String] = [
            "#format: frame checksums",
            "#version: 2",
            "#hash: MD5",
            "#software: Lavf59.27.100",
            "#tb 0: 1/90000",
            "#media_type 0: video",
            "#codec_id 0: rawvideo",
            "#dimensions 0: 16x8",
            "#sar 0: 12/11",
            "#stream#, dts,        pts, duration,     size, hash",
            "0,          0,          0,     3600,      192, f4fdf6e7f958a25560b33307ee5654c4",
            "0,       3600,       3600,     3600,      192, f4fdf6e7f958a25560b33307ee5654c4",
            "0,       7200,       7200,     3600,      192, f4fdf6e7f958a25560b33307ee5654c4",
            "0,       7200,       7200,     3600,      192, f4fdf6e7f958a25560b33307ee5654c4",
            // A time that goes back is held, as FFmpeg's muxing holds it.
            "0,       7200,       7200,     3600,      192, f4fdf6e7f958a25560b33307ee5654c4",
        ]
        #expect(lines == expected)
    }

    struct Crop: Sendable {
        var format: PixelFormat
        var visible: PixelRect
        var byteCount: Int
        var digest: String
    }

    @Test(
        "exactly the visible pixels are covered, in every plane",
        arguments: [
            Crop(format: .yuv420p, visible: PixelRect(x: 0, y: 0, width: 20, height: 14), byteCount: 420, digest: "869abf56a59d25f174ac6d1d06c02297"),
            Crop(format: .yuv420p, visible: PixelRect(x: 2, y: 4, width: 13, height: 7), byteCount: 147, digest: "f13aad0cf5029568dc06cb5a982535a8"),
            Crop(format: .nv12, visible: PixelRect(x: 2, y: 2, width: 16, height: 10), byteCount: 240, digest: "7fc995520a1afbe6092deae8608db3c7"),
            Crop(format: .nv12, visible: PixelRect(x: 0, y: 0, width: 19, height: 13), byteCount: 387, digest: "0973cb7e6492c9c716965d644b804f7e"),
            Crop(
                format: .yuv422p10le, visible: PixelRect(x: 4, y: 1, width: 12, height: 9), byteCount: 432, digest: "42462e2972c2ba95f396138452977698"
            ),
            Crop(format: .rgb24, visible: PixelRect(x: 3, y: 5, width: 7, height: 3), byteCount: 63, digest: "41bf67def2dbf9fe2080eaaeec55fc44"),
            Crop(format: .gray, visible: PixelRect(x: 1, y: 1, width: 5, height: 5), byteCount: 25, digest: "25c1d733780a28caa36a02d4167ad2c6"),
            Crop(format: .yuv410p, visible: PixelRect(x: 4, y: 4, width: 13, height: 9), byteCount: 141, digest: "e54e36a981011206b39b5b4f9dcdaf60"),
        ])
    func crops(_ row: Crop) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lines = try text(of: path) { queue in
            queue.enqueue(try makeFrame(row.format, allocated: PixelSize(width: 20, height: 14), visible: row.visible))
        }
        let fields = try #require(lines.last).split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(fields[4] == "\(row.byteCount)")
        #expect(fields[5] == row.digest)
    }

    @Test("sizes may change in mid-file, and times may be missing")
    func changes() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lines = try text(of: path) { queue in
            let small = PixelRect(PixelSize(width: 8, height: 8)), large = PixelRect(PixelSize(width: 32, height: 16))
            queue.enqueue(try makeFrame(.gray, allocated: small.size, visible: small, time: 4, aspect: .unknown, sequence: 0))
            queue.enqueue(try makeFrame(.gray, allocated: large.size, visible: large, time: nil, sequence: 1))
        }
        #expect(lines.contains("#dimensions 0: 8x8") && lines.contains("#sar 0: 0/1"))
        #expect(!lines.contains { $0.hasPrefix("#software") }, "nobody is named who did not ask for it")
        let expected: [String] = ["0,          4,          4,        0,       64, ", "0,          4,          4,        0,      512, "]
        let begins: [String] = lines.suffix(2).map { String($0.prefix(47)) }
        #expect(begins == expected)
    }

    @Test("a place that cannot be written to is one sentence")
    func refused() throws {
        #expect(throws: SinkError(.cannotCreate, "/no/such/folder/x: cannot write checksums: No such file or directory.")) {
            _ = try FrameMD5Sink(path: "/no/such/folder/x")
        }
        let sink = try FrameMD5Sink(path: "/dev/full")
        let queue = PresentationQueue(capacity: 2, timebase: Timebase(), pacing: .untimed)
        let events = Monitor([SinkEvent]())
        try sink.start(queue) { event in events.withLock { $0.append(event) } }
        let frames = TestFrames()
        for number in 0..<2000 { queue.enqueue(try frames.frame(number)) }
        sink.stop()
        let failure = SinkError(.cannotWrite, "/dev/full: cannot write checksums: No space left on device.")
        #expect(events.withLock { $0.filter { $0 == .failed(failure) } }.count == 1, "said once")
        #expect(sink.failure == failure, "and kept")
        #expect(queue.statistics.framesPresented == 2000, "the decoder is not held up")
    }
}
