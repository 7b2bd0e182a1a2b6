import Media
import SurfacePool
import Testing

@Suite("SurfaceLayout")
struct SurfaceLayoutTests {
    static let sizes = [
        PixelSize(width: 1, height: 1), PixelSize(width: 15, height: 7), PixelSize(width: 66, height: 18), PixelSize(width: 641, height: 361),
        PixelSize(width: 1920, height: 1080), PixelSize(width: 4097, height: 3),
    ]

    @Test(
        "every plane of every format has room for the frame, aligned rows, and slack that ends before the next plane",
        arguments: PixelFormat.allCases)
    func linear(format: PixelFormat) {
        for size in Self.sizes {
            let layout = SurfaceLayout(format: format, covering: size)
            #expect(layout.size.width >= size.width && layout.size.height >= size.height + 2)
            #expect(layout.byteCount % 4096 == 0)
            var end = 0
            for (index, plane) in format.description.planes.enumerated() {
                let place = layout.plane(index)
                #expect(place.offset == end, "planes follow each other without a gap")
                #expect(place.pitch % 64 == 0 && place.pitch >= plane.rowBytes(width: size.width))
                #expect(place.pitch == plane.rowBytes(width: layout.size.width), "the pitch is that of the allocated width")
                let visible = place.offset + place.pitch * plane.rows(height: size.height)
                end = place.offset + place.pitch * plane.rows(height: layout.size.height)
                #expect(end - visible >= 16, "what libavcodec may touch after a plane")
            }
            #expect(end <= layout.byteCount)
        }
    }

    @Test("chroma pitches keep the ratio of the subsampling, as wl_shm expects")
    func ratio() {
        for width in 1...300 {
            let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: width, height: 16))
            #expect(layout.plane(0).pitch == 2 * layout.plane(1).pitch && layout.plane(1).pitch == layout.plane(2).pitch)
        }
    }

    @Test("a palette is a plane of its own")
    func palette() {
        let layout = SurfaceLayout(format: .pal8, covering: PixelSize(width: 10, height: 10))
        #expect(layout.planeCount == 2)
        #expect(layout.plane(1).offset + 1024 <= layout.byteCount)
    }

    @Test("a reader who knows the first plane only finds the others", arguments: PixelFormat.allCases)
    func contiguous(_ format: PixelFormat) {
        for size in [PixelSize(width: 16, height: 16), PixelSize(width: 1919, height: 1081), PixelSize(width: 3, height: 3)] {
            let layout = SurfaceLayout(format: format, covering: size)
            // The palette is a plane that no reader of frames looks for.
            #expect(layout.isContiguous == (format != .pal8), "\(size)")
        }
    }

    @Test("planes that lie apart, or overlap, or have pitches of their own are not found")
    func notContiguous() {
        let size = PixelSize(width: 64, height: 32)
        func layout(_ planes: [(Int, Int)], modifier: FormatModifier = .linear) -> SurfaceLayout {
            SurfaceLayout(
                format: .yuv420p, size: size, modifier: modifier, planes: planes.map { SurfaceLayout.Plane(offset: $0.0, pitch: $0.1) },
                byteCount: 8192)
        }
        #expect(layout([(0, 64), (2048, 32), (2560, 32)]).isContiguous)
        #expect(layout([(128, 64), (2176, 32), (2688, 32)]).isContiguous)
        #expect(!layout([(0, 64), (4096, 32), (4608, 32)]).isContiguous)
        #expect(!layout([(0, 64), (2048, 64), (3072, 64)]).isContiguous)
        #expect(!layout([(0, 64), (2560, 32), (2048, 32)]).isContiguous)
        #expect(!layout([(0, 64), (2048, 32), (2560, 32)], modifier: FormatModifier(rawValue: 1)).isContiguous)
        #expect(!layout([(0, 64), (2048, 32), (8000, 32)]).isContiguous)
    }
}
