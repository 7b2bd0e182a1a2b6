import Media
import PixelConversion
import SurfacePool
import TestSupport
import Testing

/// Turned frames against what the words say.
@Suite struct PixelRotationTests {
    /// A frame in `gray` or `rgb24` whose pixels are numbered from 1, with a border that must not be seen.
    private func frame(_ rows: [[UInt8]], _ format: PixelFormat, _ orientation: FrameOrientation) throws -> VideoFrame {
        let size = PixelSize(width: rows[0].count + 2, height: rows.count + 2), layout = SurfaceLayout(format: format, covering: size)
        let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1)
        guard let writer = try pool.acquire() else { throw PixelConversionError(.outOfSurfaces, "there is no surface") }
        let plane = layout.plane(0), bytes = format == .gray ? 1 : 3
        unsafe writer.withUnsafeMutableBytes { memory in
            for (y, row) in rows.enumerated() {
                for (x, value) in row.enumerated() {
                    let place = plane.offset + (y + 1) * plane.pitch + (x + 1) * bytes
                    for byte in 0..<bytes { unsafe memory[place + byte] = value &+ UInt8(100 * byte) }
                }
            }
        }
        var attributes = FrameAttributes()
        attributes.orientation = orientation
        attributes.pixelAspect = Ratio(4, 3)
        return VideoFrame(
            use: writer.finish(), visible: PixelRect(x: 1, y: 1, width: rows[0].count, height: rows.count), attributes: attributes,
            presentationTime: MediaTime(value: 5, timescale: 1), sequence: 3)
    }

    @Test(
        arguments: [
            (FrameOrientation.Rotation.none, false, [[1, 2, 3], [4, 5, 6]]), (.clockwise90, false, [[4, 1], [5, 2], [6, 3]]),
            (.clockwise180, false, [[6, 5, 4], [3, 2, 1]]), (.clockwise270, false, [[3, 6], [2, 5], [1, 4]]),
            (.none, true, [[3, 2, 1], [6, 5, 4]]), (.clockwise90, true, [[1, 4], [2, 5], [3, 6]]),
        ] as [(FrameOrientation.Rotation, Bool, [[UInt8]])])
    func turns(_ rotation: FrameOrientation.Rotation, _ isMirrored: Bool, _ expected: [[UInt8]]) throws {
        for format in [PixelFormat.gray, .rgb24] {
            let source = try frame([[1, 2, 3], [4, 5, 6]], format, FrameOrientation(rotation: rotation, isMirrored: isMirrored))
            let turned = try PixelRotationSession().rotate(source)
            let values = expected.flatMap { $0 }
            let bytes = format == .gray ? values : values.flatMap { [$0, $0 &+ 100, $0 &+ 200] }
            #expect(FrameBytes(turned).bytes == bytes)
            #expect(turned.visible.size == PixelSize(width: expected[0].count, height: expected.count))
            #expect(turned.attributes.orientation == .upright && turned.presentationTime == MediaTime(value: 5, timescale: 1))
            let isSideways = expected.count == 3
            #expect(turned.attributes.pixelAspect == (isSideways ? Ratio(3, 4) : Ratio(4, 3)))
        }
    }

    @Test func `formats with several planes are turned plane by plane, where chroma has whole samples`() throws {
        #expect(!PixelRotationSession.canRotate(.yuv420p) && !PixelRotationSession.canRotate(.nv12) && !PixelRotationSession.canRotate(.pal8))
        #expect(!PixelRotationSession.canRotate(.yuyv422) && !PixelRotationSession.canRotate(.monowhite))
        #expect(PixelRotationSession.canRotate(.bgra) && PixelRotationSession.canRotate(.gray16le))
        let even = PixelRect(x: 2, y: 4, width: 6, height: 8)
        for format in [PixelFormat.yuv420p, .nv12, .p010le, .yuv444p, .yuv420p10le, .bgra] { #expect(PixelRotationSession.canRotate(format, even)) }
        #expect(!PixelRotationSession.canRotate(.yuv422p, even) && !PixelRotationSession.canRotate(.pal8, even))
        for odd in [PixelRect(x: 1, y: 4, width: 6, height: 8), PixelRect(x: 2, y: 4, width: 6, height: 7)] {
            #expect(!PixelRotationSession.canRotate(.nv12, odd) && PixelRotationSession.canRotate(.yuv444p, odd))
        }
        let layout = SurfaceLayout(format: .nv12, covering: PixelSize(width: 4, height: 2))
        guard let writer = try SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1).acquire() else {
            throw PixelConversionError(.outOfSurfaces, "there is no surface")
        }
        let chroma = layout.plane(1)
        unsafe writer.withUnsafeMutableBytes { memory in
            for y in 0..<2 { for x in 0..<4 { unsafe memory[y * layout.plane(0).pitch + x] = UInt8(1 + 4 * y + x) } }
            for x in 0..<4 { unsafe memory[chroma.offset + x] = UInt8(100 + x) }
        }
        let attributes = FrameAttributes(orientation: FrameOrientation(rotation: .clockwise90))
        let frame = VideoFrame(
            use: writer.finish(), visible: PixelRect(PixelSize(width: 4, height: 2)), attributes: attributes, presentationTime: .zero, sequence: 0)
        let turned = try PixelRotationSession().rotate(frame)
        #expect(FrameBytes(turned).bytes == [5, 1, 6, 2, 7, 3, 8, 4, 100, 101, 102, 103])
    }
}
