import Capture
import Media
import SurfacePool
import Testing

@Suite("How a camera's pixels come into surfaces") struct BufferPathTests {
    @Test(
        "the first way that works is taken",
        arguments: [
            (true, true as Bool?, [BufferPath.imported, .exported, .copied]), (true, nil, [.imported, .exported, .copied]),
            (true, false, [.exported, .copied]), (false, true, [.exported, .copied]), (false, nil, [.exported, .copied]),
        ])
    func candidates(hasDMABufs: Bool, imports: Bool?, expected: [BufferPath]) {
        #expect(BufferPath.candidates(hasDMABufs: hasDMABufs, importsDMABufs: imports) == expected)
        for only in BufferPath.allCases {
            let paths = BufferPath.candidates(hasDMABufs: hasDMABufs, importsDMABufs: imports, only: only)
            #expect(paths == expected.filter { $0 == only })
        }
        #expect(BufferPath.candidates(hasDMABufs: hasDMABufs, importsDMABufs: imports, isCompressed: true) == [.decoded])
        #expect(BufferPath.candidates(hasDMABufs: hasDMABufs, importsDMABufs: imports, isCompressed: true, only: .copied) == [])
        #expect(BufferPath.candidates(hasDMABufs: hasDMABufs, importsDMABufs: imports, isInPieces: true) == [.copied], "a surface is one piece")
    }

    /// The layout, the size, the pitch of the first plane; offsets and pitches of the planes.
    @Test(
        "the planes lie where the driver writes them",
        arguments: [
            (PixelFormat.nv12, 64, [(0, 64), (2304, 64)]), (.nv16, 128, [(0, 128), (4608, 128)]), (.nv24, 64, [(0, 64), (2304, 128)]),
            (.yuv420p, 64, [(0, 64), (2304, 32), (2880, 32)]), (.yuyv422, 128, [(0, 128)]), (.p010le, 128, [(0, 128), (4608, 128)]),
            (.rgb24, 192, [(0, 192)]), (.gray, 64, [(0, 64)]),
        ])
    func layout(format: PixelFormat, pitch: Int, planes: [(Int, Int)]) throws {
        let size = PixelSize(width: 64, height: 36)
        let layout = try ActiveFormat.layout(format, size, pitch: pitch, byteCount: 100, "camera")
        #expect((0..<layout.planeCount).map { layout.plane($0) } == planes.map { SurfaceLayout.Plane(offset: $0.0, pitch: $0.1) })
        #expect(layout.byteCount % 4096 == 0 && layout.size == size)
    }

    @Test("planes in pieces of their own are put one behind the other, with the driver's pitches")
    func pieces() throws {
        let size = PixelSize(width: 66, height: 36)
        let layout = try ActiveFormat.layout(.yuv420p, size, pitches: [72, 40, 48], "camera")
        let planes = (0..<3).map { layout.plane($0) }
        #expect(planes == [.init(offset: 0, pitch: 72), .init(offset: 2624, pitch: 40), .init(offset: 3392, pitch: 48)])
        let error = #expect(throws: CaptureError.self) { try ActiveFormat.layout(.yuv420p, size, pitches: [72, 40], "camera") }
        #expect(error?.description == "camera: the camera writes yuv420p to 2 pieces of memory, which is not read.")
    }

    @Test("a driver's nonsense is refused")
    func nonsense() {
        let size = PixelSize(width: 64, height: 36)
        for pitch in [0, 63] {
            let error = #expect(throws: CaptureError.self) { try ActiveFormat.layout(.nv12, size, pitch: pitch, byteCount: 100, "/dev/video0") }
            #expect(error?.code == .failed)
        }
    }
}
