import CLinux
import Glibc
import Media
import PixelConversion
import SurfacePool
import TestSupport
import Testing

/// Layouts that another process states may end where their memory ends. What reads whole vectors must not fault there.
@Suite(.unsanitized) struct LayoutEndTests {
    /// Every plane without a spare byte, and the last pixel of the last plane before the end of a page.
    private static func tight(_ format: PixelFormat, _ size: PixelSize) -> SurfaceLayout {
        var planes = format.description.planes.map { ($0.rowBytes(width: size.width), $0.rows(height: size.height)) }
        if format == .pal8 { planes.append((SurfaceLayout.paletteByteCount, 1)) }
        let sum = planes.reduce(0) { $0 + $1.0 * $1.1 }, page = sysconf(Int32(_SC_PAGESIZE))
        let byteCount = (sum + page - 1) / page * page
        var place = byteCount - sum
        let places = planes.map { pitch, rows in
            defer { place += pitch * rows }
            return SurfaceLayout.Plane(offset: place, pitch: pitch)
        }
        return SurfaceLayout(format: format, size: size, modifier: .linear, planes: places, byteCount: byteCount)
    }

    private static func frame(_ layout: SurfaceLayout) throws -> VideoFrame {
        let memory = OwnedFD(adopting: unsafe clinux_memfd("tight"))
        guard ftruncate(memory.rawValue, layout.byteCount) == 0 else { throw SystemError(errno, "size a memfd") }
        let use = try SurfaceUse(SurfaceMemory(memfd: memory), layout)
        // Whatever can be reached behind the padding faults.
        let page = sysconf(Int32(_SC_PAGESIZE)), noReplace: Int32 = 0x10_0000
        let end = unsafe use.surface.base + layout.byteCount
        for index in 0..<2 { _ = unsafe mmap(end + index * page, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | noReplace, -1, 0) }
        return VideoFrame(use: use, visible: PixelRect(layout.size), presentationTime: .zero, sequence: 0)
    }

    /// Odd widths end in the middle of a vector.
    private static let widths = [2, 34, 66, 130, 198, 322]

    @Test func `every format is converted without a fault, by both libraries`() async {
        await #expect(processExitsWith: .success) {
            var conversions = 0
            for format in PixelFormat.allCases {
                for width in Self.widths {
                    let frame = try Self.frame(Self.tight(format, PixelSize(width: width, height: 18)))
                    for target in [PixelFormat.bgr0, .yuv420p] {
                        for engine in [PixelTransferSession.Engine.fast, .exact] {
                            let session = PixelTransferSession(to: ConversionTarget(format: target), engine: engine, threads: 1)
                            guard session.canConvert(format) else { continue }
                            _ = try session.convert(frame)
                            conversions += 1
                        }
                    }
                }
            }
            try #require(conversions > 1000)
        }
    }
}
